// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite("Colour") struct ColorTests {
    /// Real images with an RGB profile other than sRGB, up to 1 MB.
    static var profiled: [URL] {
        SampleFiles.own("jpeg", "profiles")
            + SampleFiles.real("", extensions: ["jpg", "jpeg"]).filter { file in
                guard let bytes = try? EncodedBytes(mapping: file.path), bytes.count < 1_000_000,
                    let source = try? ImageSource(bytes, codecs: builtInCodecs),
                    case .icc(let profile) = source.header.colorProfile,
                    let described = ICCProfile(profile)
                else { return false }
                return described.colorSpace == "RGB " && !described.isSRGB
                    && source.header.colorModel == .rgb
            }
    }

    @Test(
        "is converted to sRGB by the image's profile, as Pillow does",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"), arguments: profiled)
    func conversion(file: URL) throws {
        let source = try ImageSource(
            try EncodedBytes(mapping: file.path), codecs: builtInCodecs)
        var options = DecodeOptions()
        options.appliesOrientation = false
        guard let expected = try PeerTool.image("srgb.py", [file.path]) else { return }
        let image = try source.image(options)
        #expect(image.colorProfile == .sRGB)
        let comparison = PixelComparison(image, expected)
        #expect(comparison.maximumDifference <= 3, "\(comparison)")
    }

    @Test(
        "of a profile with curves and a matrix are exactly those of lcms2, with and without alpha",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"))
    func exactBytes() throws {
        let profile = try #require(
            ColorProfile.coded(CICP(primaries: 12, transfer: 13)).iccBytes(isGray: false))
        func image(_ format: PixelFormat) -> PixelBuffer {
            var image = MutablePixelBuffer(
                TestImage.make(PixelSize(width: 256, height: 256), format) { x, y, channel in
                    channel == 3
                        ? 255 : [UInt8(x), UInt8(y), UInt8((x * 7 + y * 13) & 255)][channel]
                })
            image.colorProfile = .icc(profile)
            return image.finish()
        }
        let converter = try #require(builtInCodecs.colorConverter)
        let result = try converter.convertedToSRGB(image(.rgb8))
        let expected = try withTemporaryFolder { folder in
            let file = folder.appending(path: "colours.png").path
            try ImageDestination(format: "png", codecs: builtInCodecs)
                .write(image(.rgb8), to: file)
            return try PeerTool.image("srgb.py", [file])
        }
        #expect(result.packedBytes == expected?.packedBytes)
        let opaque = try converter.convertedToSRGB(image(.rgba8))
        #expect(opaque.converted(to: .rgb8).packedBytes == result.packedBytes)
    }

    @Test("a specified gamma is applied, and values close to sRGB are ignored")
    func gamma() throws {
        let image = TestImage.make(PixelSize(width: 256, height: 1), .gray8) { x, _, _ in
            UInt8(x)
        }
        let plain = try ImageDestination(format: "png", codecs: builtInCodecs).encode(image)
        for (stated, exponent) in [(45_455, nil), (100_000, 1.0), (70_000, 1 / 0.7)] {
            // IHDR ends at byte 33.
            let chunk = PNGFile.chunk(
                "gAMA", [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: stated >> $0) })
            let source = try ImageSource(
                EncodedBytes(plain[..<33] + chunk + plain[33...]), codecs: builtInCodecs)
            let row = try source.image().packedBytes
            for x in 0..<256 {
                var expected = Double(x)
                if let exponent {
                    let linear = pow(Double(x) / 255, exponent)
                    let encoded =
                        linear <= 0.0031308
                        ? linear * 12.92 : 1.055 * pow(linear, 1 / 2.4) - 0.055
                    expected = encoded * 255
                }
                #expect(abs(Double(row[x]) - expected) <= 1.01, "gamma \(stated), \(x)")
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

/// Colour spaces without an ICC profile of their own, written to files and read back.
@Suite("Kept profiles") struct KeptProfileTests {
    private static let adobe = ColorProfile.Chromaticities(
        white: .init(x: 0.3127, y: 0.3290), red: .init(x: 0.64, y: 0.33),
        green: .init(x: 0.21, y: 0.71), blue: .init(x: 0.15, y: 0.06))

    static let profiles: [ColorProfile] = [
        .coded(CICP(primaries: 12, transfer: 13)), .coded(CICP(primaries: 1, transfer: 8)),
        .coded(CICP(primaries: 9, transfer: 16)), .coded(CICP(primaries: 9, transfer: 18)),
        .coded(CICP(primaries: 5, transfer: 5)), .coded(CICP(primaries: 2, transfer: 4)),
        .coded(CICP(primaries: 11, transfer: 17)), .calibrated(gamma: 1, .sRGB),
        .calibrated(gamma: 100_000 / 45_455, adobe),
    ]

    static let formats = builtInCodecs.codecs.compactMap { codec in
        codec.encoder?.writesColorProfiles == true ? codec.format.name : nil
    }

    private func image(_ format: PixelFormat, _ profile: ColorProfile) -> PixelBuffer {
        let image = TestImage.make(PixelSize(width: 64, height: 48), format) { x, y, channel in
            channel == 3 ? 255 : UInt8((x * 4 + y * 3 * channel) % 256)
        }
        return image.labelled(profile)
    }

    private func file(_ image: PixelBuffer, as format: String) throws -> [UInt8] {
        var options = EncodeOptions()
        options.isLossless = true
        options.quality = 100
        options.chromaSubsampling = .full
        return try ImageDestination(format: format, codecs: builtInCodecs, options: options)
            .encode(image)
    }

    private func source(_ image: PixelBuffer, as format: String) throws -> ImageSource {
        try ImageSource(EncodedBytes(try file(image, as: format)), codecs: builtInCodecs)
    }

    @Test("describe the samples as before", arguments: formats, profiles)
    func roundTrip(format: String, profile: ColorProfile) throws {
        let converter = try #require(builtInCodecs.colorConverter)
        for pixels in [PixelFormat.gray8, .rgb8, .rgba8] {
            let source = try source(image(pixels, profile), as: format)
            // In JPEG XL, grey has no primaries.
            let isPlain = pixels == .gray8 && profile == Self.profiles[0] && format == "jxl"
            #expect(source.header.colorProfile.isSRGB == isPlain, "\(pixels)")
            var options = DecodeOptions()
            options.convertsToSRGB = false
            let stored = try source.image(options)
            let isCoded = if case .coded = source.header.colorProfile { true } else { false }
            let expected =
                isCoded
                ? try builtInCodecs.inSRGB(stored.labelled(profile))
                : try converter.convertedToSRGB(stored.labelled(profile))
            let comparison = PixelComparison(try source.image(), expected)
            #expect(comparison.maximumDifference <= 1, "\(pixels): \(comparison)")
        }
    }

    @Test(
        "of PNG are the same code points, gamma and primaries",
        .enabled(if: formats.contains("png")), arguments: profiles)
    func exact(profile: ColorProfile) throws {
        let source = try source(image(.rgb8, profile), as: "png")
        switch (source.header.colorProfile, profile) {
        case (.coded(let found), .coded(let points)):
            #expect(found == points.specified)
        case (.calibrated(let gamma, let found), .calibrated(let stated, let primaries)):
            #expect(abs(gamma - stated) < 0.000_1)
            #expect(found == primaries)
        default: Issue.record("\(source.header.colorProfile)")
        }
    }

    @Test(
        "of AVIF and JPEG XL are the same code points",
        arguments: formats.filter { ["avif", "jxl"].contains($0) }, profiles.prefix(4))
    func codePoints(format: String, profile: ColorProfile) throws {
        #expect(try source(image(.rgb8, profile), as: format).header.colorProfile == profile)
    }

    @Test("have the structure and the names of ICC profiles", arguments: profiles)
    func structure(profile: ColorProfile) throws {
        for isGray in [false, true] {
            let bytes = try #require(profile.iccBytes(isGray: isGray))
            let parsed = try #require(ICCProfile(bytes))
            #expect(parsed.colorSpace == (isGray ? "GRAY" : "RGB "))
            #expect(bytes.count == bytes[..<4].reduce(0) { $0 << 8 | Int($1) })
            #expect(bytes.count.isMultiple(of: 4))
            switch profile {
            case .coded(let points): #expect(parsed.description == points.specified.name)
            default: #expect(parsed.description?.hasPrefix("gamma ") == true)
            }
        }
        #expect(ColorProfile.sRGB.iccBytes(isGray: false) == nil)
        #expect(ColorProfile.coded(CICP(primaries: 1, transfer: 1)).iccBytes(isGray: true) == nil)
    }

    @Test("cannot contain primaries on a line or an enormous gamma")
    func invalid() {
        let point = ColorProfile.Chromaticities.Point(x: 0.3, y: 0.3)
        let line = ColorProfile.Chromaticities(
            white: point, red: point, green: point, blue: point)
        #expect(ColorProfile.calibrated(gamma: 1, line).iccBytes(isGray: false) == nil)
        #expect(ColorProfile.calibrated(gamma: 100_000, .sRGB).iccBytes(isGray: false) == nil)
    }

    @Test(
        "convert to sRGB as Pillow does, which ignores cICP",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: formats.filter { ["png", "webp", "tiff", "jpeg"].contains($0) },
        profiles.filter { if case .coded = $0 { true } else { false } })
    func peers(format: String, profile: ColorProfile) throws {
        // An ICC profile of curves and a matrix cannot render HLG by its luminance, as PNG's cICP requires.
        if format == "png", profile == Self.profiles[3] { return }
        try withTemporaryFolder { folder in
            let file = try file(self.image(.rgb8, profile), as: format)
            let path = folder.appending(path: "a.\(format)").path
            try ImageDestination.write(file, to: path)
            let image = try ImageSource(EncodedBytes(file), codecs: builtInCodecs).image()
            let expected = try #require(try PeerTool.image("srgb.py", [path]))
            let comparison = PixelComparison(image, expected)
            #expect(comparison.maximumDifference <= 2, "\(comparison)")
        }
    }

    @Test(
        "of cICP override those of other chunks, if they are RGB in full range",
        .enabled(if: formats.contains("png")))
    func priority() throws {
        let linear = ColorProfile.calibrated(gamma: 1, .sRGB)
        let plain = try file(image(.rgb8, linear), as: "png")
        let display = CICP(primaries: 12, transfer: 13)
        for (body, expected) in [
            ([12, 13, 0, 1], .coded(display)), ([1, 13, 0, 1], .sRGB), ([12, 13, 0, 0], linear),
            ([12, 13, 1, 1], linear), ([12, 13, 0], linear),
        ] as [([UInt8], ColorProfile)] {
            let file = plain[..<33] + PNGFile.chunk("cICP", body) + plain[33...]
            let source = try ImageSource(EncodedBytes(Array(file)), codecs: builtInCodecs)
            #expect(source.header.colorProfile == expected, "\(body)")
        }
    }
}

extension PixelBuffer {
    /// Returns the same samples in another colour space.
    fileprivate func labelled(_ profile: ColorProfile) -> PixelBuffer {
        var buffer = MutablePixelBuffer(self)
        buffer.colorProfile = profile
        return buffer.finish()
    }
}

// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite("PNG") struct PNGTests {
    static var files: [URL] {
        SampleFiles.own("png", "valid")
            + SampleFiles.real("deb-libpng/pngsuite", extensions: ["png"])
            // Files whose names begin with x are the broken ones of the suite.
            .filter { !$0.lastPathComponent.hasPrefix("x") }
    }

    private func open(_ file: URL) throws -> ImageSource {
        try ImageSource(try EncodedBytes(mapping: file.path), codecs: builtInCodecs)
    }

    @Test(
        "pixels are exactly those of an independent decoder",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"), arguments: files)
    func pypng(file: URL) throws {
        let expected = try #require(try PeerTool.image("png_pixels.py", [file.path]))
        var options = DecodeOptions()
        options.convertsToSRGB = false
        options.appliesOrientation = false
        let comparison = PixelComparison(try open(file).image(options).asRGBA, expected)
        #expect(comparison.maximumDifference == 0, "\(comparison)")
    }

    @Test(
        "the broken files of the suite are refused",
        arguments: SampleFiles.own("png", "invalid")
            + SampleFiles.real("deb-libpng/pngsuite", extensions: ["png"])
            .filter { $0.lastPathComponent.hasPrefix("x") })
    func broken(file: URL) {
        #expect(throws: CodecError.self) { _ = try open(file).image() }
    }

    @Test(
        "reduced interlaced files need less memory than their image",
        arguments: [(0, 8), (2, 8), (4, 8), (6, 16)])
    func interlaced(colorType: Int, bitDepth: Int) throws {
        var file = PNGFile(width: 403, height: 297, colorType: colorType, bitDepth: bitDepth)
        file.filters = [0, 4]
        let ordered = try ImageSource(EncodedBytes(file.bytes()), codecs: builtInCodecs)
        file.isInterlaced = true
        let byteCount = file.width * file.height * (colorType == 4 ? 4 : file.channelCount)
        var limits = DecodeLimits()
        limits.maximumMemoryByteCount = byteCount / 2
        let source = try ImageSource(
            EncodedBytes(file.bytes()), codecs: builtInCodecs, limits: limits)
        let options = [DecodeOptions(maximumSide: 40), DecodeOptions(maximumSide: 23)]
        let images = try source.decodedImages(options)
        for (options, decoded) in zip(options, images) {
            let result = try #require(decoded?.image)
            let alone = try source.image(options)
            #expect(try result.packedBytes == ordered.image(options).packedBytes)
            #expect(result.packedBytes == alone.packedBytes)
        }
        #expect(throws: CodecError.self) { _ = try source.image() }
    }

    @Test("highly compressed data is read completely")
    func flat() throws {
        for (format, value) in [
            (PixelFormat.gray8, [7]), (.rgb8, [1, 2, 3]), (.rgba8, [9, 9, 9, 255]),
        ] as [(PixelFormat, [UInt8])] {
            for size in [PixelSize(width: 85, height: 385), PixelSize(width: 1_500, height: 900)] {
                let image = TestImage.flat(size, format, value)
                let file = try ImageDestination(format: "png", codecs: builtInCodecs)
                    .encode(image)
                let again = try ImageSource(EncodedBytes(file), codecs: builtInCodecs).image()
                #expect(PixelComparison(again, image).maximumDifference == 0, "\(size)")
            }
        }
    }

    @Test("transparent colours are kept as far as premultiplied pixels can represent them")
    func alpha() throws {
        let image = TestImage.photograph(PixelSize(width: 64, height: 64), .rgba8)
        let file = try ImageDestination(format: "png", codecs: builtInCodecs).encode(image)
        let again = try ImageSource(EncodedBytes(file), codecs: builtInCodecs).image()
        #expect(PixelComparison(again, image).maximumDifference == 0)
    }

    @Test("a colour profile survives a round trip")
    func profile() throws {
        let files = SampleFiles.real("photos", extensions: ["jpg"])
        for file in files {
            let source = try open(file)
            guard case .icc = source.header.colorProfile else { continue }
            var options = DecodeOptions(maximumSide: 32)
            options.convertsToSRGB = false
            let image = try source.image(options)
            for format in ["png", "jpeg"] {
                let written = try ImageDestination(format: format, codecs: builtInCodecs)
                    .encode(image)
                let header = try ImageSource(EncodedBytes(written), codecs: builtInCodecs).header
                #expect(header.colorProfile == source.header.colorProfile, "\(format)")
            }
        }
    }

    @Test("an invalid or mismatched profile is omitted and the image written")
    func wrongProfile() throws {
        var cmyk = [UInt8](repeating: 0, count: 132)
        cmyk.replaceSubrange(0..<4, with: [0, 0, 0, 132])
        cmyk.replaceSubrange(12..<24, with: Array("prtrCMYKLab ".utf8))
        cmyk.replaceSubrange(36..<40, with: Array("acsp".utf8))
        for profile in [[7], [UInt8](repeating: 0, count: 128), cmyk] {
            let size = PixelSize(width: 3, height: 2)
            let image = MutablePixelBuffer(size: size, format: .rgb8, colorProfile: .icc(profile))
            let file = try ImageDestination(format: "png", codecs: builtInCodecs)
                .encode(image.finish())
            let again = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
            #expect(again.header.colorProfile == .sRGB)
            #expect(again.pixelSize == size)
        }
    }

    @Test("16-bit samples survive a round trip if requested", arguments: ["gray", "rgb", "rgba"])
    func depthKept(name: String) throws {
        for suffix in ["", "-interlaced"] {
            let path = SampleFiles.packageDirectory
                .appending(path: "Corpus/png/valid/\(name)-16\(suffix).png")
            let opened = try ImageSource(EncodedBytes(mapping: path.path), codecs: builtInCodecs)
            var options = DecodeOptions()
            options.keepsDepth = true
            options.convertsToSRGB = false
            let deep = try opened.image(options)
            #expect(deep.format.isDeep)
            #expect(deep.byteCount == opened.resultByteCount(options))
            options.keepsDepth = false
            let narrow = try opened.image(options)
            let comparison = PixelComparison(deep.converted(to: narrow.format), narrow)
            // Rounded before or after multiplication by alpha.
            #expect(comparison.maximumDifference <= (name == "rgba" ? 1 : 0), "\(comparison)")
            let file = try ImageDestination(format: "png", codecs: builtInCodecs).encode(deep)
            options.keepsDepth = true
            let again = try ImageSource(EncodedBytes(file), codecs: builtInCodecs).image(options)
            #expect(again.format == deep.format)
            #expect(again.packedBytes == deep.packedBytes)
        }
    }
}

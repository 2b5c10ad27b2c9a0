// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite("JPEG") struct JPEGTests {
    static var files: [URL] {
        SampleFiles.own("jpeg", "valid")
            + SampleFiles.real("jpeg-decoder/tests/reftest", extensions: ["jpg", "jpeg"])
            + SampleFiles.real("exif-orientation-examples", extensions: ["jpg"])
    }

    private func open(_ file: URL) throws -> ImageSource {
        try ImageSource(try EncodedBytes(mapping: file.path), codecs: builtInCodecs)
    }

    @Test(
        "pixels equal those of djpeg",
        .enabled(if: PeerTool.djpeg != nil, "djpeg is not installed"),
        arguments: files)
    func djpeg(file: URL) throws {
        let source = try open(file)
        guard source.header.colorModel != .cmyk else { return }
        let djpeg = try #require(PeerTool.djpeg)
        var options = DecodeOptions()
        options.appliesOrientation = false
        options.convertsToSRGB = false
        let output = try PeerTool.run(djpeg, ["-pnm", file.path])
        // Files that djpeg rejects cannot be compared.
        guard let expected = output.flatMap(PeerTool.image) else { return }
        let comparison = PixelComparison(try source.image(options), expected)
        #expect(comparison.maximumDifference <= 2, "\(comparison)")
    }

    @Test(
        "CMYK is converted to the same colours as by Pillow",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: (SampleFiles.own("jpeg", "valid")
            + SampleFiles.real("pillow", extensions: ["jpg"]))
            .filter { $0.lastPathComponent.contains("cmyk") })
    func cmyk(file: URL) throws {
        let source = try open(file)
        try #require(source.header.colorModel == .cmyk)
        let expected = try #require(try PeerTool.image("srgb.py", [file.path]))
        let comparison = PixelComparison(try source.image(), expected)
        #expect(comparison.maximumDifference <= 3, "\(comparison)")
    }

    @Test("a damaged header is rejected", arguments: SampleFiles.own("jpeg", "invalid"))
    func broken(file: URL) {
        #expect(throws: CodecError.self) { _ = try open(file).image() }
    }

    @Test("the header facts contain coding and sampling")
    func facts() throws {
        let image = TestImage.photograph(PixelSize(width: 40, height: 30))
        for (subsampling, name) in zip(
            EncodeOptions.ChromaSubsampling.allCases, ["4:4:4", "4:2:2", "4:2:0"])
        {
            for isProgressive in [false, true] {
                var options = EncodeOptions()
                options.chromaSubsampling = subsampling
                options.isProgressive = isProgressive
                let file = try ImageDestination(
                    format: "jpeg", codecs: builtInCodecs, options: options
                ).encode(image)
                let header = try ImageSource(EncodedBytes(file), codecs: builtInCodecs).header
                let coding = isProgressive ? "progressive" : "baseline"
                #expect(header.facts.contains(.init("coding", coding)))
                #expect(header.facts.contains(.init("sampling", name)))
            }
        }
    }

    @Test(
        "planes are encoded without conversion, up to the last column and row",
        arguments: [false, true])
    func planes(isProgressive: Bool) throws {
        var options = EncodeOptions()
        options.quality = 100
        options.isProgressive = isProgressive
        let destination = try ImageDestination(
            format: "jpeg", codecs: builtInCodecs, options: options)
        #expect(destination.prefersYCbCr)
        for (width, height) in [(1, 1), (2, 1), (8, 17), (9, 16), (33, 31), (128, 64), (641, 479)] {
            let size = PixelSize(width: width, height: height)
            let image = TestImage.make(size, .yCbCr420) { x, y, channel in
                channel == 0
                    ? UInt8(70 + (x * 3 + y * 5) % 100) : UInt8(108 + (x * channel + y) % 64 / 2)
            }
            let file = try destination.encode(image)
            let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
            #expect(source.pixelSize == size)
            #expect(source.header.facts.contains(.init("sampling", "4:2:0")))
            let expected = image.convertedFromYCbCr()
            let comparison = PixelComparison(try source.image(), expected)
            #expect(comparison.maximumDifference <= 5, "\(size): \(comparison)")
            try withTemporaryFolder { folder in
                guard let djpeg = PeerTool.djpeg else { return }
                let path = folder.appending(path: "planes.jpg").path
                try Data(file).write(to: URL(filePath: path))
                let output = try PeerTool.run(djpeg, ["-pnm", path])
                let decoded = try #require(output.flatMap(PeerTool.image))
                let comparison = PixelComparison(decoded, expected)
                #expect(comparison.maximumDifference <= 5, "djpeg, \(size): \(comparison)")
            }
        }
    }

    @Test("planes and their RGB equivalent are encoded alike, except for rounding")
    func planesAndRGB() throws {
        let size = PixelSize(width: 333, height: 222)
        let planes = TestImage.make(size, .yCbCr420) { x, y, channel in
            channel == 0 ? UInt8(60 + (x + y) % 128) : UInt8(112 + (x + 2 * y) / 16 % 32)
        }
        let destination = try ImageDestination(format: "jpeg", codecs: builtInCodecs)
        let decoded = try [planes, planes.convertedFromYCbCr()].map {
            try ImageSource(EncodedBytes(try destination.encode($0)), codecs: builtInCodecs).image()
        }
        let comparison = PixelComparison(decoded[0], decoded[1])
        #expect(comparison.meanDifference < 1, "\(comparison)")
    }

    @Test("decoding stops at the scan limit")
    func scans() throws {
        var options = EncodeOptions()
        options.isProgressive = true
        let image = TestImage.photograph(PixelSize(width: 64, height: 64))
        let file = try ImageDestination(format: "jpeg", codecs: builtInCodecs, options: options)
            .encode(image)
        var limits = DecodeLimits()
        limits.maximumScanCount = 5
        let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs, limits: limits)
        #expect(throws: CodecError.limitExceeded(.scanCount, needed: 6, allowed: 5)) {
            _ = try source.image()
        }
    }

    @Test("the coefficients of several scans count against the memory limit before allocation")
    func coefficients() throws {
        var options = EncodeOptions()
        options.isProgressive = true
        let image = TestImage.photograph(PixelSize(width: 160, height: 80))
        let file = try ImageDestination(format: "jpeg", codecs: builtInCodecs, options: options)
            .encode(image)
        // 20x10 blocks of luma and twice 10x5 of chroma. Decoded fully, each takes 128 bytes. At
        // 1/16, 2 bytes are kept of each luma block, 8 of each chroma block, and 8 for the mask of
        // nonzero coefficients.
        for (options, needed) in [
            (DecodeOptions(), 300 * 128),
            (DecodeOptions(maximumSide: 10), 200 * 2 + 100 * 8 + 300 * 8),
        ] {
            var limits = DecodeLimits()
            let result = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
                .resultByteCount(options)
            limits.maximumMemoryByteCount = result + needed - 1
            let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs, limits: limits)
            #expect(
                throws: CodecError.limitExceeded(
                    .memoryByteCount, needed: needed, allowed: needed - 1)
            ) { _ = try source.image(options) }
        }
    }

    @Test("a single-scan file above the memory limit is decoded row by row")
    func rowsWithinTheLimit() throws {
        let image = TestImage.photograph(PixelSize(width: 320, height: 240))
        let file = try ImageDestination(format: "jpeg", codecs: builtInCodecs).encode(image)
        for (limit, decoder) in [(file.count, "libjpeg-turbo"), (1 << 20, "shrinking")] {
            var limits = DecodeLimits()
            limits.maximumMemoryByteCount = limit
            let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs, limits: limits)
            let decoded = try source.decodedImage(DecodeOptions(maximumSide: 40))
            #expect(decoded.report.decoder == decoder)
        }
    }

    @Test(
        "the embedded thumbnail replaces the image if it is large enough",
        arguments: SampleFiles.real("photos", extensions: ["jpg"]))
    func thumbnail(file: URL) throws {
        let source = try open(file)
        guard let thumbnail = source.embeddedThumbnail else { return }
        var options = DecodeOptions(maximumSide: 100)
        let image = try source.image(options)
        options.embeddedThumbnail = .ifLargeEnough
        let standIn = try source.image(options)
        #expect(standIn.size == image.size)
        // The camera's reduction differs, but the image is the same.
        let comparison = PixelComparison(standIn, image)
        #expect(comparison.meanDifference < 12, "\(thumbnail.pixelSize): \(comparison)")
    }

    @Test("orientation is applied", arguments: 1...8)
    func orientation(value: Int) throws {
        let orientation = try #require(Orientation(rawValue: UInt8(value)))
        let stored = TestImage.photograph(PixelSize(width: 48, height: 32))
        var encoding = EncodeOptions()
        encoding.quality = 100
        let plain = try ImageDestination(format: "jpeg", codecs: builtInCodecs, options: encoding)
            .encode(stored)
        let exif =
            [0xFF, 0xE1, 0, 34] + Array("Exif\0\0MM\0*".utf8) + [0, 0, 0, 8]
            + [0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(value), 0, 0, 0, 0, 0, 0]
        let source = try ImageSource(
            EncodedBytes(plain[..<2] + exif + plain[2...]), codecs: builtInCodecs)
        #expect(source.header.orientation == orientation)
        #expect(source.pixelSize == orientation.oriented(stored.size))
        var options = DecodeOptions()
        let upright = try source.image(options)
        options.appliesOrientation = false
        let asStored = try source.image(options)
        #expect(
            PixelComparison(
                upright, asStored.resampled(to: asStored.size, orientation: orientation)
            ).maximumDifference == 0)
        options = DecodeOptions(box: PixelSize(width: 10, height: 100))
        #expect(try source.image(options).size.width == 10)
    }
}

// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite("TIFF") struct TIFFTests {
    static let extensions: Set<String> = ["tif", "tiff"]

    /// Real files that are damaged or ask for what is not there: their answer is an error.
    static let refused: Set<String> = [
        "tiff_dims_max.tif", "tiff_strips_4g.tif", "bug784903-overflow-dimensions.tiff",
        "colormap-shl-overflow.tiff", "libtiff_segfault.tif", "seek_too_large.tif",
        "m2-3562055aecf63b573f8a18c4034a4a23.tif", "m3-76c43508fc007bcf5902b6a28e8055a5.tif",
        "m3-b0d36ed02fc2624ac79d3144e8b1bda2.tif", "m7-f0d7bcb90496c323c880a9773dfe93ff.tif",
        "m8-76c43508fc007bcf5902b6a28e8055a5.tif", "m9-42c19f8e79e582bef107f372f18a074b.tif",
        "crash-0c7e0e8e11ce787078f00b5b0ca409a167f070e0.tif",
        "crash-1152ec2d1a1a71395b6f2ce6721c38924d025bf3.tif",
        "crash-4f085cc12ece8cde18758d42608bed6a2a2cfb1c.tif",
        // 65,537 rows are over the limit for a side.
        "big_g4.tif",
        // A ThunderScan of which libtiff, and Pillow with it, lacks a row.
        "text.tif",
    ]

    private func open(_ file: [UInt8]) throws(CodecError) -> ImageSource {
        try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
    }

    private func open(_ file: URL) throws -> ImageSource {
        try open(Array(try Data(contentsOf: file)))
    }

    private func encode(_ image: PixelBuffer, _ options: EncodeOptions) throws -> [UInt8] {
        try ImageDestination(format: "tiff", codecs: builtInCodecs, options: options)
            .encode(image)
    }

    @Test(
        "pixels match an independent decoder",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: (SampleFiles.own("tiff", "valid") + SampleFiles.real(extensions: extensions))
            .filter { !refused.contains($0.lastPathComponent) })
    func pillow(file: URL) throws {
        let source = try open(file)
        if !TestBuild.isOptimized, source.header.storedSize.area > 300_000 { return }
        var options = DecodeOptions()
        options.convertsToSRGB = false
        let decoded = try source.image(options)
        guard let expected = try PeerTool.image("decode.py", [file.path]) else {
            return try compareWithImageMagick(decoded, file)
        }
        let comparison = PixelComparison(decoded.asRGBA, expected.asRGBA)
        // Pillow cuts off the lower half of 16 bits, and divides colours by alpha between.
        let isWide = source.header.bitsPerComponent > 8
        let allowed = isWide ? source.header.hasAlpha ? 2 : 1 : 0
        #expect(comparison.maximumDifference <= allowed, "\(comparison)")
    }

    /// ImageMagick, which unpacks samples itself, does otherwise with these.
    static let otherwiseRead: Set<String> = [
        // It leaves numbers of 8 bits with a sign as they are; those of 16 it shifts as we do.
        "geo-5b.tif", "int8_rgb.tif", "seq-3c-i8-d7550ce4.tiff",
        // It does not invert samples of odd widths where 0 is white.
        "seq-1c-10b-miniswhite-6d739fa2.tiff", "seq-1c-3b-miniswhite-ef237c07.tiff",
        // It takes the least significant bits of 24.
        "seq-1c-24b-hpredict-072a9dc9.tiff", "seq-1c-24b-miniswhite-072a9dc9.tiff",
        // It takes light as it is where libtiff makes grey of it.
        "off_l16.tif",
        // Its weights of luma are all 0; we take the usual ones.
        "ycbcr_lzw_broken.tif",
    ]

    /// For samples that Pillow knows nothing of.
    private func compareWithImageMagick(_ decoded: PixelBuffer, _ file: URL) throws {
        guard let convert = PeerTool.convert,
            !Self.otherwiseRead.contains(file.lastPathComponent)
        else { return }
        let arguments = ["\(file.path)[0]", "-auto-orient", "-depth", "8", "ppm:-"]
        // No other reader opens some of them.
        guard let expected = try PeerTool.run(convert, arguments).flatMap(PeerTool.image) else {
            return
        }
        let comparison = PixelComparison(decoded.asRGBA, expected.asRGBA)
        // It rounds every step down, and inks are light there by floating-point numbers.
        #expect(comparison.maximumDifference <= 2, "\(comparison)")
    }

    @Test(
        "damaged files are rejected",
        arguments: SampleFiles.real(extensions: extensions)
            .filter { refused.contains($0.lastPathComponent) })
    func refusal(file: URL) {
        #expect(throws: CodecError.self) { _ = try open(file).image(.strict) }
    }

    @Test(
        "files that crashed other decoders result in an error or an image",
        arguments: SampleFiles.real("image-tiff/tests/fuzz_images", extensions: ["", "tiff"]))
    func fuzzed(file: URL) {
        let image = try? open(file).image(DecodeOptions(maximumSide: 100))
        #expect(image.map { $0.size.largestSide <= 100 } ?? true)
    }

    @Test(
        "pages match those of an independent decoder",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"))
    func pages() throws {
        let files = SampleFiles.own("tiff", "valid")
        let file = try #require(files.first { $0.lastPathComponent == "pages.tif" })
        let source = try open(file)
        #expect(source.header.pageCount == 3)
        for page in 0..<3 {
            let expected = try #require(
                try PeerTool.picture("decode.py", [file.path, "\(page)"]))
            let image = try source.page(page).image()
            #expect(PixelComparison(image.asRGBA, expected).maximumDifference == 0, "\(page)")
        }
        #expect(throws: CodecError.self) { _ = try source.page(3) }
    }

    @Test(
        "reduced versions of a pyramid are decoded if they are large enough",
        arguments: [PixelFormat.gray8, .rgb8, .rgba8], [false, true])
    func pyramid(format: PixelFormat, isLossless: Bool) throws {
        let image = TestImage.photograph(PixelSize(width: 700, height: 523), format)
        var encoding = EncodeOptions()
        encoding.isPyramid = true
        encoding.isLossless = isLossless
        encoding.quality = 95
        encoding.chromaSubsampling = .full
        let source = try open(try encode(image, encoding))
        #expect(source.header.pageCount == 1)
        for (side, factor) in [(700, 1), (300, 1), (150, 2), (80, 4)] {
            let small = try source.decodedImage(DecodeOptions(maximumSide: side))
            #expect(small.report.shrinkFactors == [factor])
            let expected = image.resampled(to: small.image.size)
            let comparison = PixelComparison(small.image, expected)
            #expect(comparison.meanDifference < (isLossless ? 1 : 4), "\(side): \(comparison)")
        }
    }

    @Test("16 bits and alpha survive a round trip", arguments: [false, true])
    func wide(hasAlpha: Bool) throws {
        let size = PixelSize(width: 40, height: 30)
        var buffer = MutablePixelBuffer(size: size, format: hasAlpha ? .rgba16 : .rgb16)
        let narrow = TestImage.photograph(size, hasAlpha ? .rgba8 : .rgb8)
        for y in 0..<size.height {
            let source = narrow.row(y)
            buffer.withMutableRow(y) { row in
                for index in source.indices {
                    row[index * 2] = source[index]
                    row[index * 2 + 1] = source[index]
                }
            }
        }
        let source = try open(try encode(buffer.finish(), EncodeOptions()))
        #expect(source.header.bitsPerComponent == 16)
        #expect(source.header.hasAlpha == hasAlpha)
        let comparison = PixelComparison(try source.image(), narrow)
        #expect(comparison.maximumDifference <= (hasAlpha ? 1 : 0), "\(comparison)")
    }

    @Test(
        "uncompressed YCbCr is complete, also in one strip of more than 8 KB",
        arguments: [1, 2], [8, 80, 81, 0xFFFF_FFFF])
    func uncompressedYCbCr(subsampling: Int, rowsPerStrip: Int) throws {
        let luma = TestImage.noise(PixelSize(width: 601, height: 81), .gray8)
        // Units of luma samples, each followed by neutral chroma.
        var strips: [[UInt8]] = []
        for top in stride(from: 0, to: 81, by: subsampling) {
            if top % rowsPerStrip == 0 { strips.append([]) }
            for left in stride(from: 0, to: 601, by: subsampling) {
                for y in top..<top + subsampling {
                    let row = luma.row(min(y, 80))
                    for x in left..<left + subsampling {
                        strips[strips.count - 1].append(row[min(x, 600)])
                    }
                }
                strips[strips.count - 1] += [128, 128]
            }
        }
        let data = Array(strips.joined())
        let make = { (start: Int) in
            let offsets = strips.indices.map { start + strips[..<$0].joined().count }
            return EXIFBlock.make([
                (256, .longs([601])), (257, .longs([81])), (258, .shorts([8, 8, 8])),
                (259, .shorts([1])), (262, .shorts([6])), (273, .longs(offsets)),
                (277, .shorts([3])), (278, .longs([rowsPerStrip])),
                (279, .longs(strips.map(\.count))), (284, .shorts([1])),
                (530, .shorts([subsampling, subsampling])),
            ])
        }
        let image = try open(make(make(0).count) + data).image()
        #expect(PixelComparison(image.asRGBA, luma.asRGBA).maximumDifference == 0)
    }

    @Test("metadata survives a round trip, the EXIF directory in a block of its own")
    func metadata() throws {
        var options = EncodeOptions()
        options.metadata.xmp = Array("<x:xmpmeta/>".utf8)
        options.metadata.iptc = [0x1C, 2, 0, 0, 2, 0, 4]
        // Big-endian: a maker, and a camera's directory with an exposure time of 1/125 s.
        let exif: [UInt8] =
            [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 2]
            + [0x01, 0x0F, 0, 2, 0, 0, 0, 6, 0, 0, 0, 38]
            + [0x87, 0x69, 0, 4, 0, 0, 0, 1, 0, 0, 0, 44, 0, 0, 0, 0]
            + Array("Maker\0".utf8) + [0, 1]
            + [0x82, 0x9A, 0, 5, 0, 0, 0, 1, 0, 0, 0, 62, 0, 0, 0, 0]
            + [0, 0, 0, 1, 0, 0, 0, 125]
        options.metadata.exif = exif
        let image = TestImage.photograph(PixelSize(width: 30, height: 20))
        let source = try open(try encode(image, options))
        #expect(PixelComparison(try source.image(), image).maximumDifference == 0)
        let metadata = try source.metadata()
        #expect(metadata.xmp == options.metadata.xmp)
        #expect(metadata.iptc == options.metadata.iptc)
        let block = try #require(metadata.exif)
        #expect(block.starts(with: Array("II*\0".utf8)))
        #expect(block.firstRange(of: Array("Maker\0".utf8)) != nil)
        // The fraction, now the other way round.
        #expect(block.firstRange(of: [1, 0, 0, 0, 125, 0, 0, 0]) != nil)
    }

    @Test("truncated and damaged files do not trap")
    func damage() throws {
        var random = SeededRandom(seed: 5)
        var limits = DecodeLimits()
        limits.maximumPixelCount = 1_000_000
        limits.maximumMemoryByteCount = 100 << 20
        for file in SampleFiles.own("tiff", "valid") {
            let whole = Array(try Data(contentsOf: file))
            let decode = { (bytes: [UInt8], options: DecodeOptions) in
                let source = try? ImageSource(
                    EncodedBytes(bytes), codecs: builtInCodecs, limits: limits)
                _ = try? source?.image(options)
                _ = try? source?.metadata()
            }
            let options = DecodeOptions(maximumSide: 16)
            for length in stride(from: 0, to: whole.count, by: max(1, whole.count / 100)) {
                decode(Array(whole[..<length]), options)
            }
            // Damage to directories does more than damage to pixels: they stand at the ends.
            for round in 0..<200 {
                var damaged = whole
                let range =
                    round % 2 == 0 ? 0..<whole.count : max(0, whole.count - 250)..<whole.count
                for _ in 0..<Int.random(in: 1...8, using: &random) {
                    damaged[Int.random(in: range, using: &random)] = UInt8.random(
                        in: 0...255, using: &random)
                }
                decode(damaged, DecodeOptions())
            }
        }
    }
}

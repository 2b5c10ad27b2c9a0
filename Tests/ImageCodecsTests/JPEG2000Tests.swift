// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite("JPEG 2000") struct JPEG2000Tests {
    static let extensions: Set<String> = ["jp2", "j2k"]

    /// Real files that are damaged and must be rejected.
    static let damaged: Set<String> = [
        "unbound_variable.jp2", "zero_height.j2k", "jp2_dims.j2k", "jp2_tiles_1x1.j2k",
    ]

    static var files: [URL] {
        SampleFiles.own("jpeg2000", "valid")
            + SampleFiles.real(extensions: extensions)
            .filter { !damaged.union(otherwiseRead).contains($0.lastPathComponent) }
    }

    /// Files that Pillow decodes incorrectly.
    static let otherwiseRead: Set<String> = [
        // Pillow mixes up the palette.
        "issue412.jp2",
        // Pillow rejects a codestream whose box ends after the file.
        "00r0_gray_l.jp2",
        // Pillow rejects 64 rows of the grid of which only the first has samples.
        "crash-d2c93af851d3ab9a19e34503626368b2ecde9c03.j2k",
    ]

    @Test(
        "images that the independent decoder misreads have the size in their header",
        arguments: SampleFiles.real(extensions: extensions)
            .filter { otherwiseRead.contains($0.lastPathComponent) })
    func misread(file: URL) throws {
        let source = try open(file)
        #expect(try source.image().size == source.pixelSize)
    }

    private func open(_ file: [UInt8]) throws(CodecError) -> ImageSource {
        try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
    }

    private func open(_ file: URL) throws -> ImageSource {
        try open(Array(try Data(contentsOf: file)))
    }

    private func encode(
        _ image: PixelBuffer, _ options: EncodeOptions = EncodeOptions()
    ) throws -> [UInt8] {
        try ImageDestination(format: "jp2", codecs: builtInCodecs, options: options).encode(image)
    }

    @Test(
        "pixels are equal to those of an independent decoder",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"), arguments: files)
    func pillow(file: URL) throws {
        let expected = try #require(try PeerTool.image("decode.py", [file.path]))
        var options = DecodeOptions()
        options.convertsToSRGB = false
        let decoded = try open(file).image(options)
        let comparison = PixelComparison(decoded.asRGBA, expected.asRGBA)
        // Pillow truncates 16 bits to 8, which are rounded here.
        #expect(comparison.maximumDifference <= 1, "\(comparison)")
    }

    @Test(
        "damaged files are rejected",
        arguments: SampleFiles.real(extensions: extensions)
            .filter { damaged.contains($0.lastPathComponent) })
    func refused(file: URL) {
        #expect(throws: CodecError.self) { _ = try open(file).image() }
    }

    @Test(
        "the header is read from the start of the file",
        arguments: [("gray.jp2", false, 8), ("gray-16.jp2", false, 16), ("rgba.jp2", true, 8)])
    func header(name: String, hasAlpha: Bool, depth: Int) throws {
        let files = SampleFiles.own("jpeg2000", "valid")
        let file = try #require(files.first { $0.lastPathComponent == name })
        let header = try open(Array(try Data(contentsOf: file).prefix(300))).header
        #expect(header.storedSize == PixelSize(width: 37, height: 29))
        #expect(header.hasAlpha == hasAlpha)
        #expect(header.bitsPerComponent == depth)
    }

    @Test("a smaller result is decoded at a lower resolution level, close to the reduced image")
    func shrinking() throws {
        let image = TestImage.photograph(PixelSize(width: 405, height: 307))
        for isLossless in [true, false] {
            var encoding = EncodeOptions()
            encoding.isLossless = isLossless
            encoding.quality = 95
            let source = try open(try encode(image, encoding))
            let full = try source.image()
            for (side, factor) in [(200, 1), (100, 2), (50, 4), (25, 8)] {
                let factor = isLossless ? min(factor, 4) : factor
                let small = try source.decodedImage(DecodeOptions(maximumSide: side))
                #expect(small.report.shrinkFactors == [factor, factor, factor])
                let comparison = PixelComparison(
                    small.image, full.resampled(to: small.image.size))
                #expect(
                    comparison.meanDifference < (side == 25 ? 3 : 1.5), "\(side): \(comparison)")
            }
        }
    }

    @Test("quality determines the size of a file and its distance from the image")
    func quality() throws {
        let image = TestImage.photograph(PixelSize(width: 256, height: 192))
        var lastCount = 0
        var lastDifference = Double.infinity
        for quality in [10, 50, 80, 95, 100] {
            var options = EncodeOptions()
            options.quality = quality
            let file = try encode(image, options)
            let comparison = PixelComparison(try open(file).image(), image)
            #expect(file.count > lastCount, "\(quality)")
            #expect(comparison.meanDifference < lastDifference, "\(quality): \(comparison)")
            lastCount = file.count
            lastDifference = comparison.meanDifference
        }
        #expect(lastDifference < 0.5)
    }

    @Test("16 bits and alpha survive a round trip", arguments: [false, true])
    func wide(hasAlpha: Bool) throws {
        let size = PixelSize(width: 40, height: 30)
        let format: PixelFormat = hasAlpha ? .rgba16 : .rgb16
        var buffer = MutablePixelBuffer(size: size, format: format)
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
        var options = EncodeOptions()
        options.isLossless = true
        let source = try open(try encode(buffer.finish(), options))
        #expect(source.header.bitsPerComponent == 16)
        #expect(source.header.hasAlpha == hasAlpha)
        let comparison = PixelComparison(try source.image(), narrow)
        #expect(comparison.maximumDifference <= (hasAlpha ? 1 : 0), "\(comparison)")
    }

    @Test("metadata survives a round trip")
    func metadata() throws {
        var options = EncodeOptions()
        options.metadata.exif = Array("II*\0".utf8) + [8, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        options.metadata.xmp = Array("<x:xmpmeta/>".utf8)
        options.metadata.iptc = [0x1C, 2, 0, 0, 2, 0, 4]
        let image = TestImage.flat(PixelSize(width: 9, height: 9), .rgb8, [1, 2, 3])
        let source = try open(try encode(image, options))
        #expect(try source.metadata() == options.metadata)
    }

    /// A file of one 8-bit component whose header box also contains `boxes`.
    private func file(_ image: PixelBuffer, colorSpace: UInt8, _ boxes: [UInt8]) throws -> [UInt8] {
        var options = EncodeOptions()
        options.isLossless = true
        var file = try encode(image, options)
        let space = try #require(file.firstRange(of: [1, 0, 0, 0, 0, 0, 17]))
        file[space.upperBound - 1] = colorSpace
        let header = try #require(file.firstRange(of: Array("jp2h".utf8)))
        let length = Int(file[header.lowerBound - 1]) + boxes.count
        file[header.lowerBound - 2] = UInt8(length >> 8)
        file[header.lowerBound - 1] = UInt8(length & 0xFF)
        file.insert(contentsOf: boxes, at: space.upperBound)
        return file
    }

    private func box(_ type: String, _ body: [UInt8]) -> [UInt8] {
        [0, 0, 0, UInt8(body.count + 8)] + Array(type.utf8) + body
    }

    private static let indices = TestImage.make(PixelSize(width: 4, height: 2), .gray8) {
        x, _, _ in
        UInt8(x)
    }

    @Test("palette indices become its colours, and indices beyond it the last one")
    func palette() throws {
        let colors: [[UInt8]] = [[1, 2, 3], [200, 100, 50], [7, 8, 9]]
        let boxes =
            box("pclr", [0, 3, 3, 7, 7, 7] + colors.joined())
            + box("cmap", [0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 1, 2])
        let source = try open(try file(Self.indices, colorSpace: 16, boxes))
        #expect(source.header.colorModel == .palette)
        let expected = [0, 1, 2, 2].flatMap { colors[$0] }
        #expect(try source.image().packedBytes == expected + expected)
    }

    @Test("a single component declared as RGB is decoded as grey")
    func missingChannels() throws {
        let image = try open(try file(Self.indices, colorSpace: 18, [])).image()
        #expect(PixelComparison(image, Self.indices).maximumDifference == 0)
    }

    @Test("YCbCr is converted to RGB")
    func colorDifferences() throws {
        // Three channels from columns of a palette: Y, Cb and Cr.
        let boxes =
            box(
                "pclr", [0, 4, 3, 7, 7, 7] + [76, 85, 255, 150, 44, 21, 29, 255, 107, 9, 128, 128])
            + box("cmap", [0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 1, 2])
        let image = try open(try file(Self.indices, colorSpace: 18, boxes)).image()
        let expected: [UInt8] = [254, 0, 0, 0, 255, 1, 0, 0, 254, 9, 9, 9]
        #expect(image.packedBytes == expected + expected)
    }

    @Test("grey and alpha that belong to the image as a whole are decoded as such")
    func channelsOfWholeImage() throws {
        let files = SampleFiles.own("jpeg2000", "valid")
        let sample = try #require(files.first { $0.lastPathComponent == "gray-alpha.jp2" })
        var file = Array(try Data(contentsOf: sample))
        let expected = try open(file).image()
        let grey = try #require(file.firstRange(of: Array("cdef".utf8) + [0, 2, 0, 0, 0, 0, 0, 1]))
        file[grey.upperBound - 1] = 0
        let source = try open(file)
        #expect(source.header.hasAlpha)
        #expect(PixelComparison(try source.image(), expected).maximumDifference == 0)
    }

    @Test("a component mapping outside of the header box counts; without one, a palette is damage")
    func misplacedMapping() throws {
        let colors: [[UInt8]] = [[1, 2, 3], [200, 100, 50], [7, 8, 9], [4, 5, 6]]
        let palette = box("pclr", [0, 4, 3, 7, 7, 7] + colors.joined())
        var file = try file(Self.indices, colorSpace: 16, palette)
        #expect(throws: CodecError.self) { _ = try open(file) }
        let codestream = try #require(file.firstRange(of: Array("jp2c".utf8))).lowerBound - 4
        file.insert(
            contentsOf: box("cmap", [0, 0, 1, 2, 0, 0, 1, 1, 0, 0, 1, 0]), at: codestream)
        let row = colors.flatMap { $0.reversed() }
        #expect(try open(file).image().packedBytes == row + row)
    }

    @Test("a codestream whose box ends after the file is decoded if it is complete")
    func longBox() throws {
        var options = EncodeOptions()
        options.isLossless = true
        let image = TestImage.photograph(PixelSize(width: 40, height: 30))
        var file = try encode(image, options)
        let type = try #require(file.firstRange(of: Array("jp2c".utf8)))
        file.replaceSubrange(type.lowerBound - 4..<type.lowerBound, with: [0x7F, 0, 0, 0])
        #expect(PixelComparison(try open(file).image(), image).maximumDifference == 0)
        let start = Array(file.dropLast(100))
        #expect(throws: CodecError.truncated(byteCount: start.count)) {
            _ = try open(start).image()
        }
    }

    @Test("tile-parts are decoded in any order of the tiles, with and without their number")
    func tileParts() throws {
        let files = SampleFiles.own("jpeg2000", "valid")
        let sample = try #require(files.first { $0.lastPathComponent == "tile-parts.j2k" })
        let file = Array(try Data(contentsOf: sample))
        let expected = try open(file).image()
        let header = try #require(file.firstRange(of: [0xFF, 0x90])).lowerBound
        var parts: [[UInt8]] = []
        var offset = header
        while file[offset + 1] == 0x90 {
            let length = file.span.bigEndian(at: offset + 6, byteCount: 4)
            parts.append(Array(file[offset..<offset + length]))
            offset += length
        }
        #expect(parts.count == 18)
        let make = { (parts: [[UInt8]]) -> [UInt8] in
            Array(file[..<header]) + Array(parts.joined()) + [0xFF, 0xD9]
        }
        // The byte at 5 is the tile, at 10 the part, at 11 the number of parts.
        let numbered = parts.map { $0[..<11] + [3] + $0[12...] }.map(Array.init)
        var last = numbered.sorted { $0[10] < $1[10] }
        last[17].replaceSubrange(6..<10, with: [0, 0, 0, 0])
        let orders = [
            parts.sorted { ($0[5], $0[10]) < ($1[5], $1[10]) },
            numbered.sorted { ($1[5], $0[10]) < ($0[5], $1[10]) }, numbered, last,
            numbered.map { $0[10] == 2 ? $0 : Array($0[..<11] + [0] + $0[12...]) },
        ]
        for order in orders {
            let image = try open(make(order)).image()
            #expect(PixelComparison(image, expected).maximumDifference == 0)
        }
        for count in [1, 9, 17] {
            let start = Array(make(Array(numbered.prefix(count))).dropLast(2))
            #expect(throws: CodecError.truncated(byteCount: start.count)) {
                _ = try open(start).image()
            }
        }
    }

    @Test("truncated and damaged files end in an image or an error")
    func damage() throws {
        var random = SeededRandom(seed: 11)
        for file in SampleFiles.own("jpeg2000", "valid") {
            let whole = Array(try Data(contentsOf: file))
            for length in stride(from: 0, to: whole.count, by: 37) {
                _ = try? open(Array(whole[..<length])).image()
                _ = try? open(Array(whole[..<length])).image(.strict)
            }
            for _ in 0..<100 {
                var damaged = whole
                for _ in 0..<Int.random(in: 1...8, using: &random) {
                    damaged[Int.random(in: 0..<whole.count, using: &random)] = UInt8.random(
                        in: 0...255, using: &random)
                }
                var limits = DecodeLimits()
                limits.maximumPixelCount = 1_000_000
                limits.maximumMemoryByteCount = 100 << 20
                _ = try? ImageSource(
                    EncodedBytes(damaged), codecs: builtInCodecs, limits: limits
                ).image()
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite(
    "A JPEG tile of a TIFF file",
    .enabled(if: ["tiff", "jpeg"].allSatisfy { builtInCodecs.codec(named: $0)?.canRead == true }))
struct JPEGTileTests {
    private static let side = 256

    private static func pyramid(
        _ size: PixelSize, _ format: PixelFormat = .rgb8,
        _ subsampling: EncodeOptions.ChromaSubsampling = .half, isLossless: Bool = false
    ) throws -> [UInt8] {
        var options = EncodeOptions()
        options.isPyramid = true
        options.isLossless = isLossless
        options.chromaSubsampling = subsampling
        return try ImageDestination(format: "tiff", codecs: builtInCodecs, options: options)
            .encode(TestImage.photograph(size, format))
    }

    private func open(_ file: [UInt8]) throws(CodecError) -> ImageSource {
        try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
    }

    /// The tiles of a level of an image.
    private func tiles(_ size: PixelSize) -> [PixelRect] {
        stride(from: 0, to: size.height, by: Self.side).flatMap { y in
            stride(from: 0, to: size.width, by: Self.side).map { x in
                PixelRect(x: x, y: y, width: Self.side, height: Self.side)
                    .intersection(PixelRect(size))
            }
        }
    }

    /// The pixels of an image at the size of a level, without conversion of colours.
    private func level(_ source: ImageSource, _ size: PixelSize) throws -> PixelBuffer {
        var options = DecodeOptions(box: size, mode: .stretch)
        options.quality = .fast
        return try source.image(options)
    }

    @Test(
        "has the pixels of the decoded file",
        arguments: [PixelFormat.rgb8, .gray8], [EncodeOptions.ChromaSubsampling.half, .full])
    func pixels(format: PixelFormat, subsampling: EncodeOptions.ChromaSubsampling) throws {
        let size = PixelSize(width: 1020, height: 770)
        let source = try open(try Self.pyramid(size, format, subsampling))
        #expect(source.header.jpegTileSize == PixelSize(width: Self.side, height: Self.side))
        var count = 0
        for levelSize in [size, PixelSize(width: 510, height: 385)] {
            let whole = try level(source, levelSize)
            for rect in tiles(levelSize) {
                let file = try #require(
                    try source.jpegTile(StoredTile(rect, ofLevel: levelSize)), "\(rect)")
                count += 1
                let tile = try open(file)
                #expect(tile.pixelSize == rect.size)
                let image = try tile.image()
                #expect(image.format == format)
                let comparison = PixelComparison(image, whole.cut(rect))
                // At edges that are cut, decoders interpolate chroma from other pixels.
                let isWhole = rect.width == Self.side && rect.height == Self.side
                #expect(comparison.maximumDifference <= (isWhole ? 1 : 24), "\(comparison)")
                #expect(comparison.meanDifference < 0.5, "\(rect): \(comparison)")
                let inner = PixelRect(
                    x: 0, y: 0, width: rect.width - 2, height: rect.height - 2)
                if !inner.isEmpty {
                    let comparison = PixelComparison(image.cut(inner), whole.cut(rect).cut(inner))
                    #expect(comparison.maximumDifference <= 1, "\(rect): \(comparison)")
                }
                try compareWithPillow(file, image)
            }
        }
        // 4 × 4 and 2 × 2 tiles: the last columns lack less than an MCU, the last rows more.
        #expect(count == 20)
    }

    private func compareWithPillow(_ file: [UInt8], _ image: PixelBuffer) throws {
        guard PeerTool.python != nil else { return }
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).jpg")
        defer { try? FileManager.default.removeItem(at: path) }
        try Data(file).write(to: path)
        let expected = try #require(try PeerTool.image("decode.py", [path.path]))
        #expect(PixelComparison(image.asRGBA, expected.asRGBA).maximumDifference <= 1)
    }

    @Test("keeps RGB samples that are not converted to luma and chroma") func rgb() throws {
        let size = PixelSize(width: 512, height: 512)
        var file = try Self.pyramid(size, .rgb8, .full)
        // The same samples, which PhotometricInterpretation 6 describes as Y′CbCr and 2 as RGB.
        let entry: [UInt8] = [0x06, 0x01, 3, 0, 1, 0, 0, 0, 6, 0]
        while let place = file.firstRange(of: entry) { file[place.lowerBound + 8] = 2 }
        let source = try open(file)
        let rect = PixelRect(x: 256, y: 0, width: 256, height: 256)
        let tile = try #require(try source.jpegTile(StoredTile(rect, ofLevel: size)))
        let image = try open(tile).image()
        #expect(
            PixelComparison(image, try source.image().cut(rect)).maximumDifference <= 1)
        try compareWithPillow(tile, image)
    }

    @Test("is missing unless the request is a whole tile") func other() throws {
        let size = PixelSize(width: 600, height: 600)
        let source = try open(try Self.pyramid(size))
        let tile = { (x, y, width, height) in
            try source.jpegTile(
                StoredTile(PixelRect(x: x, y: y, width: width, height: height), ofLevel: size))
        }
        #expect(try tile(256, 256, 256, 256) != nil)
        #expect(try tile(512, 0, 88, 256) != nil)
        for (x, y, width, height) in [
            (1, 0, 256, 256), (0, 16, 256, 256), (0, 0, 512, 256), (0, 0, 128, 256),
            (0, 0, 0, 0), (512, 0, 256, 256), (-256, 0, 256, 256), (512, 0, 88, 128),
            (512, 0, 80, 256), (768, 0, 256, 256), (1 << 40, 0, 256, 256),
        ] {
            #expect(try tile(x, y, width, height) == nil, "\(x),\(y),\(width),\(height)")
        }
        let rect = PixelRect(x: 0, y: 0, width: 256, height: 256)
        for side in [100, 301, 599, 601, 1200] {
            let level = PixelSize(width: side, height: side)
            // Level 301 has a reduced version of 300 pixels.
            #expect(
                (try source.jpegTile(StoredTile(rect, ofLevel: level)) == nil) == (side != 301))
        }
        let lossless = try open(try Self.pyramid(size, isLossless: true))
        #expect(lossless.header.jpegTileSize == nil)
        #expect(try lossless.jpegTile(StoredTile(rect, ofLevel: size)) == nil)
    }

    @Test("that is damaged is missing or an error", arguments: [256, 200])
    func damage(width: Int) throws {
        let size = PixelSize(width: 256 + width, height: 512)
        let whole = try Self.pyramid(size, .gray8)
        let rect = PixelRect(x: 256, y: 0, width: width, height: 256)
        let tile = StoredTile(rect, ofLevel: size)
        var random = SeededRandom(seed: 6)
        let original = try #require(try open(whole).jpegTile(tile))
        let scan = try #require(original.firstRange(of: [0xFF, 0xDA])).lowerBound
        // The entropy-coded data of the tile, which is not copied as it is at the right edge.
        let data = whole.firstRange(of: original[scan...])
        #expect((data != nil) == (width == 256))
        for length in stride(from: 0, to: whole.count, by: 97) {
            _ = try? (try? open(Array(whole[..<length])))?.jpegTile(tile)
        }
        for _ in 0..<3000 {
            var damaged = whole
            var range = whole.indices
            if let data, Bool.random(using: &random) {
                range = max(0, data.lowerBound - 40)..<data.lowerBound + 20
            }
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                damaged[Int.random(in: range, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            guard let source = try? open(damaged), let file = try? source.jpegTile(tile) else {
                continue
            }
            #expect(file.starts(with: [0xFF, 0xD8]) && file.suffix(2) == [0xFF, 0xD9])
            if let image = try? open(file) { #expect(image.pixelSize == rect.size) }
        }
        guard let data else { return }
        var cut = whole
        cut.replaceSubrange(data.upperBound - 2..<data.upperBound, with: [0, 0])
        #expect(try open(cut).jpegTile(tile) == nil)
    }
}

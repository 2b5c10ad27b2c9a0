// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

/// Generated files with every filter type, colour type, bit depth and interlace method.
@Suite("PNG filters") struct PNGFilterTests {
    /// A colour type, a bit depth, and whether it has a transparent colour in tRNS.
    struct Sort: Sendable, CustomStringConvertible {
        let colorType: Int
        let bitDepth: Int
        let isTransparent: Bool
        var description: String {
            "type \(colorType), \(bitDepth) bits" + (isTransparent ? ", transparent" : "")
        }

        func file(width: Int, height: Int) -> PNGFile {
            var file = PNGFile(
                width: width, height: height, colorType: colorType, bitDepth: bitDepth)
            if colorType == 3 {
                file.palette = (0..<3 << bitDepth).map { UInt8($0 * 89 & 255) }
            }
            guard isTransparent else { return file }
            if colorType == 3 {
                file.transparency = (0..<1 << bitDepth).map { UInt8($0 * 53 & 255) }
            } else {
                // The colour of the flat areas.
                file.transparency = (0..<file.channelCount).flatMap {
                    let sample = file.sample(0, 0, $0)
                    return [UInt8(sample >> 8), UInt8(sample & 255)]
                }
            }
            return file
        }
    }

    static let depths = [
        0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16],
    ]
    static let sorts = depths.sorted { $0.key < $1.key }.flatMap { colorType, depths in
        depths.flatMap { depth in
            (colorType < 4 ? [false, true] : [false]).map {
                Sort(colorType: colorType, bitDepth: depth, isTransparent: $0)
            }
        }
    }

    private func decoded(_ file: PNGFile, verifies: Bool = true) throws -> PixelBuffer {
        var options = DecodeOptions()
        options.convertsToSRGB = false
        options.verifiesChecksums = verifies
        return try ImageSource(EncodedBytes(file.bytes()), codecs: builtInCodecs).image(options)
    }

    /// The image as premultiplied RGBA.
    private func expected(_ file: PNGFile) -> PixelBuffer {
        var bytes: [UInt8] = []
        for y in 0..<file.height {
            for x in 0..<file.width { bytes += pixel(file, x, y) }
        }
        var span = bytes.mutableSpan
        PremultipliedAlpha.multiply(&span)
        return PixelBuffer(
            packed: bytes, PixelSize(width: file.width, height: file.height), .rgba8)
    }

    private func pixel(_ file: PNGFile, _ x: Int, _ y: Int) -> [UInt8] {
        let samples = (0..<file.channelCount).map { file.sample(x, y, $0) }
        if file.colorType == 3 {
            let color = file.palette[samples[0] * 3..<samples[0] * 3 + 3]
            return color + [file.transparency?[samples[0]] ?? 255]
        }
        let top = Double(1 << file.bitDepth - 1)
        let levels = samples.map { UInt8((Double($0) * 255 / top).rounded()) }
        var isTransparent = false
        if let body = file.transparency {
            isTransparent = samples.indices.allSatisfy {
                samples[$0] == Int(body[$0 * 2]) << 8 | Int(body[$0 * 2 + 1])
            }
        }
        let colors = levels.count < 3 ? Array(repeating: levels[0], count: 3) : levels
        let alpha = levels.count % 2 == 0 ? levels[levels.count - 1] : isTransparent ? 0 : 255
        return Array(colors.prefix(3)) + [alpha]
    }

    @Test("are reversed exactly, alone and mixed", arguments: sorts)
    func filters(sort: Sort) throws {
        for filters in [[0], [1], [2], [3], [4], [4, 2, 1, 3, 4, 4, 0, 3]] as [[UInt8]] {
            for isInterlaced in [false, true] {
                for (width, height) in [(1, 3), (2, 9), (3, 1), (5, 8), (8, 5), (33, 17), (86, 24)]
                {
                    var file = sort.file(width: width, height: height)
                    file.filters = filters
                    file.isInterlaced = isInterlaced
                    let comparison = PixelComparison(try decoded(file).asRGBA, expected(file))
                    #expect(comparison.maximumDifference == 0, "\(file): \(comparison)")
                }
            }
        }
    }

    @Test("of pairs of Paeth rows without flat areas are reversed exactly", arguments: sorts)
    func paethPairs(sort: Sort) throws {
        for filters in [[4], [4, 4, 4, 1, 4, 4, 2]] as [[UInt8]] {
            for (width, height) in [(16, 9), (22, 4), (65, 8), (86, 25)] {
                var file = sort.file(width: width, height: height)
                file.isNoise = true
                file.isInterlaced = height % 2 == 0
                file.filters = filters
                let comparison = PixelComparison(try decoded(file).asRGBA, expected(file))
                #expect(comparison.maximumDifference == 0, "\(file): \(comparison)")
            }
        }
    }

    @Test(
        "are reversed like an independent decoder",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: sorts, [false, true])
    func pypng(sort: Sort, isInterlaced: Bool) throws {
        var file = sort.file(width: 77, height: 41)
        file.filters = [0, 1, 2, 3, 4, 4]
        file.isInterlaced = isInterlaced
        let image = try withTemporaryFolder { folder in
            let path = folder.appending(path: "file.png")
            try Data(file.bytes()).write(to: path)
            return try PeerTool.image("png_pixels.py", [path.path])
        }
        let expected = try #require(image)
        let comparison = PixelComparison(try decoded(file).asRGBA, expected)
        #expect(comparison.maximumDifference == 0, "\(comparison)")
    }

    @Test("are reversed for rows longer than an inflated batch")
    func longRows() throws {
        for width in [65_535, 30_001] {
            var file = PNGFile(width: width, height: 6, colorType: 6, bitDepth: 16)
            file.filters = [4, 3, 1, 4, 2, 0]
            let comparison = PixelComparison(try decoded(file), expected(file))
            #expect(comparison.maximumDifference == 0, "\(comparison)")
        }
    }

    @Test("of unknown types are rejected")
    func unknown() {
        var file = PNGFile(width: 9, height: 4, colorType: 2, bitDepth: 8)
        file.filters = [0, 5]
        #expect(throws: CodecError.self) { _ = try decoded(file) }
    }

    @Test("wrong checksums are rejected unless verification is off")
    func checksums() throws {
        var stream = PNGFile(width: 40, height: 30, colorType: 2, bitDepth: 8)
        var chunk = stream
        // Read in several parts.
        var longChunk = PNGFile(width: 400, height: 500, colorType: 2, bitDepth: 8)
        longChunk.hasOneDataChunk = true
        let whole = try decoded(longChunk)
        #expect(PixelComparison(whole.asRGBA, expected(longChunk)).maximumDifference == 0)
        stream.hasWrongStreamChecksum = true
        chunk.hasWrongChunkChecksum = true
        longChunk.hasWrongChunkChecksum = true
        for file in [stream, chunk, longChunk] {
            #expect(throws: CodecError.self) { _ = try decoded(file) }
            let image = try decoded(file, verifies: false)
            #expect(PixelComparison(image.asRGBA, expected(file)).maximumDifference == 0)
        }
    }

    @Test("checksums of chunks before the pixels are always verified")
    func headerChecksum() {
        var bytes = PNGFile(width: 40, height: 30, colorType: 2, bitDepth: 8).bytes()
        bytes[8 + 8 + 13] ^= 1
        #expect(throws: CodecError.self) {
            _ = try ImageSource(EncodedBytes(bytes), codecs: builtInCodecs)
        }
    }
}

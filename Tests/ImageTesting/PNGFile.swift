// SPDX-License-Identifier: Apache-2.0

/// Writes PNG files of all kinds, with given filters and without compression.
///
/// It is as plain as the specification (ISO/IEC 15948), so that it shares no mistake with a decoder.
public struct PNGFile: Sendable, CustomStringConvertible {
    public var width: Int
    public var height: Int
    /// 0 grey, 2 RGB, 3 palette, 4 grey with alpha, 6 RGBA.
    public var colorType: Int
    public var bitDepth: Int
    public var isInterlaced = false
    /// Whether all samples are noise, so that no row has flat areas.
    public var isNoise = false
    /// The filters of the rows by turns.
    public var filters: [UInt8] = [0]
    /// The body of `PLTE`.
    public var palette: [UInt8] = []
    /// The body of `tRNS`, if there is one.
    public var transparency: [UInt8]?
    /// Whether all rows are in one chunk.
    public var hasOneDataChunk = false
    /// Changes the checksum of the zlib stream, or that of the first `IDAT`.
    public var hasWrongStreamChecksum = false
    public var hasWrongChunkChecksum = false

    public init(width: Int, height: Int, colorType: Int, bitDepth: Int) {
        self.width = width
        self.height = height
        self.colorType = colorType
        self.bitDepth = bitDepth
    }

    public var description: String {
        "\(width)x\(height), type \(colorType), \(bitDepth) bits, filters \(filters)"
            + (isInterlaced ? ", interlaced" : "")
    }

    public var channelCount: Int { [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][colorType] ?? 1 }

    /// An image of flat areas, slopes and noise, which exercise every filter.
    public func sample(_ x: Int, _ y: Int, _ channel: Int) -> Int {
        let top = 1 << bitDepth - 1
        switch isNoise ? 2 : (x / 13 + y / 5) % 4 {
        case 0: return top / (channel + 1)
        case 1: return (x + 3 * y + channel * 5) & top
        case 2:
            var hash = UInt32(truncatingIfNeeded: (x * 8 + channel) * 8191 + y * 131_071 + 7)
            hash = (hash ^ hash >> 13) &* 0x5BD1_E995
            return Int(hash ^ hash >> 15) & top
        default: return channel == 3 ? top : 0
        }
    }

    /// The file.
    public func bytes() -> [UInt8] {
        var stream: [UInt8] = []
        for (left, top, columnStep, rowStep) in passes {
            guard left < width, top < height else { continue }
            let columns = Array(stride(from: left, to: width, by: columnStep))
            var above: [UInt8] = []
            for y in stride(from: top, to: height, by: rowStep) {
                let row = packedRow(columns, y)
                if above.isEmpty { above = Array(repeating: 0, count: row.count) }
                let filter = filters[y % filters.count]
                stream += [filter] + filtered(filter, row, above)
                above = row
            }
        }
        let isPalette = colorType == 3
        var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        file += Self.chunk(
            "IHDR",
            Self.word(width) + Self.word(height)
                + [UInt8(bitDepth), UInt8(colorType), 0, 0, isInterlaced ? 1 : 0])
        if isPalette { file += Self.chunk("PLTE", palette) }
        if let transparency { file += Self.chunk("tRNS", transparency) }
        let compressed = compressed(stream)
        var start = 0
        for size in hasOneDataChunk ? [compressed.count] : Self.chunkSizes(compressed.count) {
            guard start < compressed.count else { break }
            let end = min(start + size, compressed.count)
            var chunk = Self.chunk("IDAT", Array(compressed[start..<end]))
            if start == 0 && hasWrongChunkChecksum { chunk[chunk.count - 1] ^= 1 }
            file += chunk
            start = end
        }
        return file + Self.chunk("IEND", [])
    }

    /// The first chunk ends within the header of the stream.
    private static func chunkSizes(_ byteCount: Int) -> [Int] {
        [1, 2, 700] + Array(repeating: 5_000, count: byteCount / 5_000 + 1)
    }

    private var passes: [(Int, Int, Int, Int)] {
        isInterlaced
            ? [
                (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
                (0, 1, 1, 2),
            ] : [(0, 0, 1, 1)]
    }

    private func packedRow(_ columns: [Int], _ y: Int) -> [UInt8] {
        let bits = columns.flatMap { x in
            (0..<channelCount).flatMap { channel in
                let sample = sample(x, y, channel)
                return (0..<bitDepth).reversed().map { UInt8(sample >> $0 & 1) }
            }
        }
        return stride(from: 0, to: bits.count, by: 8).map { start in
            (0..<8).reduce(0) { $0 << 1 | (start + $1 < bits.count ? bits[start + $1] : 0) }
        }
    }

    private func filtered(_ filter: UInt8, _ row: [UInt8], _ above: [UInt8]) -> [UInt8] {
        let distance = max(1, channelCount * bitDepth / 8)
        return row.indices.map { index in
            let left = index < distance ? 0 : Int(row[index - distance])
            let corner = index < distance ? 0 : Int(above[index - distance])
            let up = Int(above[index])
            let predicted: Int
            switch filter {
            case 1: predicted = left
            case 2: predicted = up
            case 3: predicted = (left + up) / 2
            case 4:
                let estimate = left + up - corner
                let distances = [left, up, corner].map { abs(estimate - $0) }
                predicted =
                    distances[0] <= distances[1] && distances[0] <= distances[2]
                    ? left : distances[1] <= distances[2] ? up : corner
            default: predicted = 0
            }
            return row[index] &- UInt8(predicted)
        }
    }

    /// A zlib stream of blocks that are stored as they are.
    private func compressed(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = [0x78, 0x01]
        var start = 0
        repeat {
            let end = min(start + 40_000, bytes.count)
            let count = end - start
            result += [end == bytes.count ? 1 : 0, UInt8(count & 255), UInt8(count >> 8)]
            result += [UInt8(~count & 255), UInt8(~count >> 8 & 255)] + bytes[start..<end]
            start = end
        } while start < bytes.count
        var (a, b) = (1, 0)
        for byte in bytes {
            a = (a + Int(byte)) % 65_521
            b = (b + a) % 65_521
        }
        return result + Self.word((b << 16 | a) ^ (hasWrongStreamChecksum ? 1 : 0))
    }

    private static func word(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(value >> $0 & 255) }
    }

    /// A chunk with its length and its checksum.
    public static func chunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
        let checked = Array(type.utf8) + body
        var checksum: UInt32 = .max
        for byte in checked {
            checksum ^= UInt32(byte)
            for _ in 0..<8 {
                checksum = checksum >> 1 ^ (checksum & 1 == 1 ? 0xEDB8_8320 : 0)
            }
        }
        return word(body.count) + checked + word(Int(~checksum))
    }
}

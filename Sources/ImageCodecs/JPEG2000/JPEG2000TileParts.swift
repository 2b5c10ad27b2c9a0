// SPDX-License-Identifier: Apache-2.0

#if JPEG2000
internal import EncodedImages

/// The tile-parts of a codestream, and their arrangement for OpenJPEG.
///
/// Tile-parts of different tiles may be in any order, and need not specify how many parts their
/// tile has (ISO/IEC 15444-1, A.4.2). OpenJPEG, which decodes one tile at a time, misses parts in
/// such files.
struct JPEG2000TileParts {
    private struct Part {
        let tile: Int
        let range: Range<Int>
        /// The number of parts of the tile (TNsot); 0 if unspecified.
        let statedCount: Int
    }

    /// Whether the file ends within a tile-part or before the last one.
    let isTruncated: Bool
    /// Whether OpenJPEG decodes the tile-parts as they are, or their order cannot be changed.
    let isArranged: Bool
    private let codestream: JPEG2000Codestream
    /// The number of parts, and of their bytes, of each tile.
    private let counts: [Int]
    private let byteCounts: [Int]

    init(_ codestream: JPEG2000Codestream, _ file: Span<UInt8>) {
        let tiles = codestream.tileCounts
        var counts = Array(repeating: 0, count: tiles.x * tiles.y)
        var byteCounts = counts
        var statedCounts = counts
        var isOrdered = true
        var hasCounts = true
        var last = 0
        var offset = codestream.firstTilePart
        while let part = Self.part(file, codestream, at: offset), part.tile < counts.count {
            offset = part.range.upperBound
            counts[part.tile] += 1
            byteCounts[part.tile] += part.range.count
            statedCounts[part.tile] = max(statedCounts[part.tile], part.statedCount)
            if part.tile < last { isOrdered = false }
            if part.statedCount == 0 { hasCounts = false }
            last = part.tile
        }
        let end = codestream.range.upperBound
        let isComplete = zip(counts, statedCounts).allSatisfy { $0 >= max(1, $1) }
        let endsWithinPart =
            file.integer(at: offset, byteCount: 2) == 0xFF90
            && Self.part(file, codestream, at: offset) == nil
        self.codestream = codestream
        self.counts = counts
        self.byteCounts = byteCounts
        // A missing EOC marker does not matter.
        isTruncated = endsWithinPart || offset + 1 == end || offset == end && !isComplete
        // The packet headers in PPM segments are in the order of the tile-parts.
        let canArrange =
            isComplete && counts.allSatisfy { $0 < 256 }
            && (isOrdered || !codestream.hasPackedHeaders)
        isArranged = isOrdered && hasCounts || counts.count == 1 || !canArrange
    }

    /// The size of the arranged codestream; 0 if it is not needed.
    var arrangedByteCount: Int { isArranged ? 0 : codestream.range.count }

    /// Returns the codestream with the tile-parts in the order of the tiles and with their number.
    func arranged(_ file: Span<UInt8>) -> [UInt8] {
        let start = codestream.range.lowerBound
        let headerByteCount = codestream.firstTilePart - start
        var places = [headerByteCount]
        for count in byteCounts { places.append(places[places.count - 1] + count) }
        let end = places[places.count - 1]
        var result = [UInt8](repeating: 0, count: end + 2)
        for index in 0..<headerByteCount { result[index] = file[start + index] }
        var offset = start + 2
        while offset < codestream.firstTilePart {
            // TLM segments list lengths in the order of the file: they become comments.
            if file[offset + 1] == 0x55 { result[offset + 1 - start] = 0x64 }
            offset += 2 + file.bigEndian(at: offset + 2, byteCount: 2)
        }
        while let part = Self.part(file, codestream, at: offset), part.tile < counts.count {
            offset = part.range.upperBound
            let place = places[part.tile]
            places[part.tile] += part.range.count
            for index in 0..<part.range.count {
                result[place + index] = file[part.range.lowerBound + index]
            }
            for index in 0..<4 {
                result[place + 6 + index] = UInt8(
                    truncatingIfNeeded: part.range.count >> (24 - 8 * index))
            }
            result[place + 11] = UInt8(counts[part.tile])
        }
        result[end] = 0xFF
        result[end + 1] = 0xD9
        return result
    }

    /// Returns the tile-part at an offset; `nil` if there is none or the file ends within it.
    private static func part(
        _ file: Span<UInt8>, _ codestream: JPEG2000Codestream, at offset: Int
    ) -> Part? {
        let end = codestream.range.upperBound
        guard offset + 12 <= end, file.bigEndian(at: offset, byteCount: 2) == 0xFF90 else {
            return nil
        }
        let length = file.bigEndian(at: offset + 6, byteCount: 4)
        var stop = offset + max(length, 12)
        // The length of the last tile-part may be 0, which means up to the EOC marker.
        if length == 0 {
            stop = end - 2
            guard file.bigEndian(at: stop, byteCount: 2) == 0xFFD9, stop >= offset + 12 else {
                return nil
            }
        }
        guard stop <= end else { return nil }
        return Part(
            tile: file.bigEndian(at: offset + 4, byteCount: 2), range: offset..<stop,
            statedCount: Int(file[offset + 11]))
    }
}
#endif

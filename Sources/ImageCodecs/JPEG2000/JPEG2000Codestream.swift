// SPDX-License-Identifier: Apache-2.0

#if JPEG2000
    internal import EncodedImages
    internal import Pixels

    /// What the main header of a codestream says.
    ///
    /// - SeeAlso: ISO/IEC 15444-1, annex A.
    struct JPEG2000Codestream {
        struct Component: Hashable {
            var precision: Int
            var isSigned: Bool
            /// Columns and rows of the reference grid for each sample.
            var stepX: Int
            var stepY: Int
        }

        /// Columns or rows of the reference grid or of a component.
        typealias Extent = Range<Int>

        /// Where it stands in the file; ends where the file ends if that was cut short.
        let range: Range<Int>
        private(set) var columns: Extent = 0..<0
        private(set) var rows: Extent = 0..<0
        private(set) var tileOrigin = (x: 0, y: 0)
        private(set) var tileStep = (x: 1, y: 1)
        private(set) var components: [Component] = []
        /// How many sizes the wavelet holds the picture at.
        private(set) var resolutionCount = 1
        private(set) var isReversible = true
        /// Logarithms of the sizes of precincts by resolution, from the smallest; empty for 15.
        private var precincts: [(x: Int, y: Int)] = []
        private var codeBlockArea = 4096
        /// Where the first tile's part stands.
        private(set) var firstTilePart = 0

        init(_ file: Span<UInt8>, _ range: Range<Int>) throws(CodecError) {
            self.range = range.lowerBound..<min(range.upperBound, file.count)
            var offset = range.lowerBound
            try expect(file, 0xFF4F, at: offset)
            try expect(file, 0xFF51, at: offset + 2)
            offset += 2
            var hasCodingStyle = false
            while true {
                let marker = try integer(file, offset, 2)
                if marker == 0xFF90 { break }
                guard marker >= 0xFF00, marker != 0xFF93, marker != 0xFFD9 else {
                    throw .malformed(reason: "a marker is missing", offset: offset)
                }
                let length = try integer(file, offset + 2, 2)
                guard length >= 2 else {
                    throw .malformed(reason: "a segment has no length", offset: offset)
                }
                let body = offset + 4..<offset + 2 + length
                _ = try integer(file, body.upperBound - 1, 1)
                switch marker {
                case 0xFF51 where components.isEmpty: try readSize(file, body)
                case 0xFF52:
                    try readStyle(file, body.lowerBound + 5, body, file[body.lowerBound] & 1 != 0)
                    hasCodingStyle = true
                case 0xFF53:
                    let index = components.count < 257 ? 1 : 2
                    let levels = try field(file, body, index + 1, 1)
                    guard levels <= 32 else {
                        throw .malformed(reason: "too many resolutions", offset: offset)
                    }
                    resolutionCount = min(resolutionCount, levels + 1)
                default: break
                }
                offset = body.upperBound
            }
            guard !components.isEmpty, hasCodingStyle else {
                throw .malformed(reason: "the main header is not whole", offset: offset)
            }
            firstTilePart = offset
        }

        /// The tiles in a row and in a column.
        var tileCounts: (x: Int, y: Int) {
            (
                (columns.upperBound - tileOrigin.x + tileStep.x - 1) / tileStep.x,
                (rows.upperBound - tileOrigin.y + tileStep.y - 1) / tileStep.y
            )
        }

        /// The columns of the reference grid that the tiles of a column cover.
        func tileColumns(_ index: Int) -> Extent {
            Self.tile(index, tileOrigin.x, tileStep.x, columns)
        }

        /// The rows of the reference grid that the tiles of a row cover.
        func tileRows(_ index: Int) -> Extent { Self.tile(index, tileOrigin.y, tileStep.y, rows) }

        private static func tile(_ index: Int, _ origin: Int, _ step: Int, _ all: Extent) -> Extent
        {
            let start = origin + index * step
            return max(start, all.lowerBound)..<min(start + step, all.upperBound)
        }

        /// The samples that a component has for some columns or rows at 1/2^`reduction` of its size.
        static func samples(_ extent: Extent, step: Int, reduction: Int) -> Extent {
            let round = { (value: Int) in
                let place = (value + step - 1) / step
                return (place + 1 << reduction - 1) >> reduction
            }
            return round(extent.lowerBound)..<round(extent.upperBound)
        }

        /// About how many bytes OpenJPEG takes to decode a tile, and for its lists of all tiles.
        func memoryByteCount(reduction: Int) -> Int {
            let counts = tileCounts
            let count = Double(components.count)
            let width = Double(min(tileStep.x, columns.count))
            let height = Double(min(tileStep.y, rows.count))
            let scale = Double(1 << (2 * reduction))
            // Samples of 32 bits, once more where tiles are copied from their own buffer.
            var sum = width * height / scale * count * (counts.x * counts.y > 1 ? 8 : 4)
            // A tile's compressed data are copied, up to all that there are.
            sum += Double(range.count)
            sum += width * height / Double(codeBlockArea) * count * 256
            for resolution in 0..<resolutionCount where !precincts.isEmpty {
                let level = Double(1 << min(resolutionCount - 1 - resolution, 32))
                let side = precincts[min(resolution, precincts.count - 1)]
                let number =
                    (width / level / Double(1 << side.x) + 2)
                    * (height / level / Double(1 << side.y) + 2)
                sum += number * count * 3 * 320
            }
            sum += Double(counts.x) * Double(counts.y) * (6000 + 1100 * count)
            return Int(min(sum, Double(Int.max / 2)))
        }

        /// Whether the file ends before the last part of a tile does.
        func isTruncated(_ file: Span<UInt8>) -> Bool {
            var offset = firstTilePart
            while file.integer(at: offset, byteCount: 2) == 0xFF90 {
                guard let length = file.integer(at: offset + 6, byteCount: 4) else {
                    return true
                }
                // The last part may leave its length open.
                if length == 0 {
                    return
                        !(file[range.upperBound - 2] == 0xFF && file[range.upperBound - 1] == 0xD9)
                }
                offset += max(length, 12)
                // An end marker that is missing harms nothing.
                if offset > range.upperBound { return true }
            }
            return offset + 1 == range.upperBound
        }

        private mutating func readSize(
            _ file: Span<UInt8>, _ body: Range<Int>
        ) throws(CodecError) {
            var values: [Int] = []
            for index in 0..<8 { values.append(try field(file, body, 2 + index * 4, 4)) }
            let count = try field(file, body, 34, 2)
            guard values[2] < values[0], values[3] < values[1], values[4] > 0, values[5] > 0,
                values[6] <= values[2], values[7] <= values[3],
                values[6] + values[4] > values[2], values[7] + values[5] > values[3], count > 0
            else {
                throw .malformed(reason: "the size makes no sense", offset: body.lowerBound)
            }
            columns = values[2]..<values[0]
            rows = values[3]..<values[1]
            tileStep = (values[4], values[5])
            tileOrigin = (values[6], values[7])
            for index in 0..<count {
                let depth = try field(file, body, 36 + index * 3, 1)
                let component = Component(
                    precision: depth & 0x7F + 1, isSigned: depth & 0x80 != 0,
                    stepX: try field(file, body, 37 + index * 3, 1),
                    stepY: try field(file, body, 38 + index * 3, 1))
                guard component.stepX > 0, component.stepY > 0, component.precision <= 38 else {
                    throw .malformed(
                        reason: "a component makes no sense", offset: body.lowerBound)
                }
                components.append(component)
            }
            let tiles = tileCounts
            guard tiles.x <= 65535, tiles.y <= 65535, tiles.x * tiles.y <= 65535 else {
                throw .malformed(reason: "too many tiles", offset: body.lowerBound)
            }
        }

        private mutating func readStyle(
            _ file: Span<UInt8>, _ start: Int, _ body: Range<Int>, _ hasPrecincts: Bool
        ) throws(CodecError) {
            let place = start - body.lowerBound
            let levels = try field(file, body, place, 1)
            guard levels <= 32 else {
                throw .malformed(reason: "too many resolutions", offset: start)
            }
            resolutionCount = levels + 1
            let width = try field(file, body, place + 1, 1) & 15
            let height = try field(file, body, place + 2, 1) & 15
            codeBlockArea = 1 << min(width + height + 4, 12)
            isReversible = try field(file, body, place + 4, 1) == 1
            precincts = []
            guard hasPrecincts else { return }
            for index in 0...levels {
                let side = try field(file, body, place + 5 + index, 1)
                precincts.append((side & 15, side >> 4))
            }
        }

        private func field(
            _ file: Span<UInt8>, _ body: Range<Int>, _ place: Int, _ count: Int
        ) throws(CodecError) -> Int {
            guard body.lowerBound + place + count <= body.upperBound else {
                throw .malformed(reason: "a segment is too short", offset: body.lowerBound)
            }
            return try integer(file, body.lowerBound + place, count)
        }

        private func integer(
            _ file: Span<UInt8>, _ offset: Int, _ count: Int
        ) throws(CodecError) -> Int {
            guard let value = file.integer(at: offset, byteCount: count) else {
                throw .truncated(byteCount: file.count)
            }
            return value
        }

        private func expect(
            _ file: Span<UInt8>, _ marker: Int, at offset: Int
        ) throws(CodecError) {
            guard try integer(file, offset, 2) == marker else {
                throw .malformed(reason: "no codestream begins here", offset: offset)
            }
        }
    }
#endif

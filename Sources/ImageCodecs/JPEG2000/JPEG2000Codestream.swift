// SPDX-License-Identifier: Apache-2.0

#if JPEG2000
internal import EncodedImages

/// The main header of a codestream.
///
/// - SeeAlso: ISO/IEC 15444-1, annex A.
struct JPEG2000Codestream {
    struct Component: Hashable {
        var precision: Int
        var isSigned: Bool
        /// The subsampling: columns and rows of the reference grid per sample.
        var stepX: Int
        var stepY: Int
    }

    /// A range of columns or rows of the reference grid or of a component.
    typealias Extent = Range<Int>

    /// The range in the file; it ends with the file if that is truncated.
    let range: Range<Int>
    private(set) var columns: Extent = 0..<0
    private(set) var rows: Extent = 0..<0
    private(set) var tileOrigin = (x: 0, y: 0)
    private(set) var tileStep = (x: 1, y: 1)
    private(set) var components: [Component] = []
    /// The number of resolution levels.
    private(set) var resolutionCount = 1
    private(set) var isReversible = true
    /// The logarithms of the precinct sizes by resolution level, from the lowest; empty for 15.
    private var precincts: [(x: Int, y: Int)] = []
    private var codeBlockArea = 4096
    /// The offset of the first tile-part.
    private(set) var firstTilePart = 0
    /// Whether packet headers are in the main header (PPM).
    private(set) var hasPackedHeaders = false

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
                throw .malformed(
                    reason: "expected a marker segment of the main header", offset: offset)
            }
            let length = try integer(file, offset + 2, 2)
            guard length >= 2 else {
                throw .malformed(
                    reason: "invalid marker segment length \(length)", offset: offset)
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
                    throw .malformed(
                        reason: "\(levels) decomposition levels; the maximum is 32",
                        offset: offset)
                }
                resolutionCount = min(resolutionCount, levels + 1)
            case 0xFF60: hasPackedHeaders = true
            default: break
            }
            offset = body.upperBound
        }
        guard !components.isEmpty, hasCodingStyle else {
            throw .malformed(reason: "main header without SIZ or COD", offset: offset)
        }
        firstTilePart = offset
    }

    /// The numbers of tiles in a row and in a column.
    var tileCounts: (x: Int, y: Int) {
        (
            (columns.upperBound - tileOrigin.x + tileStep.x - 1) / tileStep.x,
            (rows.upperBound - tileOrigin.y + tileStep.y - 1) / tileStep.y
        )
    }

    /// Returns the columns of the reference grid that a column of tiles covers.
    func tileColumns(_ index: Int) -> Extent {
        Self.tile(index, tileOrigin.x, tileStep.x, columns)
    }

    /// Returns the rows of the reference grid that a row of tiles covers.
    func tileRows(_ index: Int) -> Extent { Self.tile(index, tileOrigin.y, tileStep.y, rows) }

    private static func tile(_ index: Int, _ origin: Int, _ step: Int, _ all: Extent) -> Extent {
        let start = origin + index * step
        return max(start, all.lowerBound)..<min(start + step, all.upperBound)
    }

    /// Returns the samples of a component for a range of columns or rows at 1/2^`reduction` of
    /// its size.
    static func samples(_ extent: Extent, step: Int, reduction: Int) -> Extent {
        let round = { (value: Int) in
            let place = (value + step - 1) / step
            return (place + 1 << reduction - 1) >> reduction
        }
        return round(extent.lowerBound)..<round(extent.upperBound)
    }

    /// Returns the estimated number of bytes that OpenJPEG allocates to decode a tile and to
    /// index all tiles.
    func memoryByteCount(reduction: Int) -> Int {
        let counts = tileCounts
        let count = Double(components.count)
        let width = Double(min(tileStep.x, columns.count))
        let height = Double(min(tileStep.y, rows.count))
        let scale = Double(1 << (2 * reduction))
        // 32-bit samples, twice if tiles are copied from a buffer of their own.
        var sum = width * height / scale * count * (counts.x * counts.y > 1 ? 8 : 4)
        // The compressed data of a tile are copied, at most all of them.
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
            throw .malformed(
                reason: "invalid SIZ: image \(values[0]) × \(values[1])",
                offset: body.lowerBound)
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
                    reason: "component \(index) has an invalid precision or subsampling",
                    offset: body.lowerBound)
            }
            components.append(component)
        }
        let tiles = tileCounts
        guard tiles.x <= 65535, tiles.y <= 65535, tiles.x * tiles.y <= 65535 else {
            throw .malformed(
                reason: "\(tiles.x) × \(tiles.y) tiles; the maximum is 65535",
                offset: body.lowerBound)
        }
    }

    private mutating func readStyle(
        _ file: Span<UInt8>, _ start: Int, _ body: Range<Int>, _ hasPrecincts: Bool
    ) throws(CodecError) {
        let place = start - body.lowerBound
        let levels = try field(file, body, place, 1)
        guard levels <= 32 else {
            throw .malformed(
                reason: "\(levels) decomposition levels; the maximum is 32", offset: start)
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
            throw .malformed(reason: "marker segment is too short", offset: body.lowerBound)
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
            throw .malformed(reason: "missing SOC or SIZ marker", offset: offset)
        }
    }
}
#endif

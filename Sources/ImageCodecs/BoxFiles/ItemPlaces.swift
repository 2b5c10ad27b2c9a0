// SPDX-License-Identifier: Apache-2.0

#if AVIF || HEIF
internal import EncodedImages

/// The places of the items' data in a file that ``ItemGraph`` has checked.
///
/// - SeeAlso: ISO/IEC 14496-12, 8.11.3 (`iloc`) and 8.11.11 (`idat`).
struct ItemPlaces {
    private var extents: [Int: [Range<Int>]] = [:]

    init(_ file: Span<UInt8>) {
        guard let meta = BoxReader.first("meta", in: 0..<file.count, file),
            meta.start + 4 <= meta.range.upperBound
        else { return }
        let contents = meta.start + 4..<meta.range.upperBound
        guard let places = BoxReader.first("iloc", in: contents, file) else { return }
        read(places, BoxReader.first("idat", in: contents, file)?.body ?? 0..<0, file)
    }

    private mutating func read(
        _ places: BoxReader.Box, _ data: Range<Int>, _ file: Span<UInt8>
    ) {
        var offset = places.start
        func next(_ byteCount: Int) -> Int? {
            defer { offset += byteCount }
            guard offset + byteCount <= places.range.upperBound else { return nil }
            return byteCount == 0 ? 0 : file.integer(at: offset, byteCount: byteCount)
        }
        guard let version = next(1), version <= 2, next(3) != nil, let widths = next(2),
            let count = next(version < 2 ? 2 : 4)
        else { return }
        let isLong = version > 0
        for _ in 0..<count {
            guard let item = next(version < 2 ? 2 : 4), let method = next(isLong ? 2 : 0),
                next(2) != nil, let base = next(widths >> 4 & 15), let extentCount = next(2)
            else { return }
            var ranges: [Range<Int>] = []
            for _ in 0..<extentCount {
                guard next(isLong ? widths & 15 : 0) != nil, let start = next(widths >> 12),
                    let byteCount = next(widths >> 8 & 15)
                else { return }
                // Data of other items is not followed.
                guard method & 15 < 2 else { continue }
                let container = method & 15 == 1 ? data : 0..<file.count
                let (place, overflow) = base.addingReportingOverflow(start)
                guard !overflow, byteCount > 0, byteCount <= container.count,
                    place <= container.count - byteCount
                else { continue }
                let first = container.lowerBound + place
                ranges.append(first..<first + byteCount)
            }
            if ranges.count == extentCount { extents[item] = ranges }
        }
    }

    /// Returns the data of an item; `nil` if not all of it is in the file, or if it is too long.
    func data(ofItem item: Int, _ file: Span<UInt8>, maximumByteCount: Int) -> [UInt8]? {
        guard let ranges = extents[item], !ranges.isEmpty else { return nil }
        var data: [UInt8] = []
        for range in ranges {
            guard range.count <= maximumByteCount - data.count else { return nil }
            for index in range { data.append(file[index]) }
        }
        return data
    }
}
#endif

// SPDX-License-Identifier: Apache-2.0

#if TIFF
internal import EncodedImages

/// Writes directories, with entries that come from other files.
struct TIFFDirectoryWriter {
    struct Field {
        let tag: TIFFTag
        let type: Int
        let count: Int
        /// The value in the byte order of the file that is written.
        let value: [UInt8]
    }

    /// The layout of the file that is written.
    let layout: TIFFLayout

    /// Copies entries of a directory, except types of BigTIFF and values that are not in the file.
    ///
    /// - Parameters:
    ///   - tags: the tags of the entries.
    ///   - directory: the directory that is copied from.
    ///   - bytes: the file of that directory.
    ///   - limits: the limit of all values together.
    /// - Returns: the entries in ascending order of their tags.
    /// - Throws: ``CodecError/limitExceeded(_:needed:allowed:)``.
    func fields(
        _ tags: [TIFFTag], of directory: TIFFDirectory, _ bytes: Span<UInt8>,
        limits: DecodeLimits
    ) throws(CodecError) -> [Field] {
        var fields: [Field] = []
        var byteCount = 0
        for tag in tags.sorted(by: { $0.rawValue < $1.rawValue }) {
            guard let entry = directory.entry(tag), entry.type <= 13,
                let range = directory.range(tag)
            else { continue }
            byteCount = byteCount.saturatingSum(range.count)
            try limits.check(.metadataByteCount, byteCount)
            var value = range.map { bytes[$0] }
            if directory.layout.byteOrder != layout.byteOrder {
                // A rational number is two integers of half the width.
                let isRational = entry.type == 5 || entry.type == 10
                let width = isRational ? 4 : entry.valueByteCount
                for start in stride(from: 0, to: value.count - width + 1, by: width) {
                    value[start..<start + width].reverse()
                }
            }
            fields.append(Field(tag: tag, type: entry.type, count: entry.count, value: value))
        }
        return fields
    }

    /// A field of one offset, which is set later.
    static func pointer(_ tag: TIFFTag) -> Field {
        Field(tag: tag, type: 4, count: 1, value: [0, 0, 0, 0])
    }

    /// Appends a directory and the values of its entries to a file.
    ///
    /// - Parameters:
    ///   - fields: the entries in any order.
    ///   - next: the offset of the next directory.
    ///   - file: the file.
    /// - Returns: the offset of the directory and, by tag, the offset of the value or of its offset.
    func append(
        _ fields: [Field], next: Int, to file: inout [UInt8]
    ) -> (start: Int, places: [TIFFTag: Int]) {
        if file.count % 2 == 1 { file.append(0) }
        let width = layout.offsetByteCount
        let start = file.count
        let valuesStart =
            start + layout.entryCountByteCount + fields.count * layout.entryByteCount + width
        var places: [TIFFTag: Int] = [:]
        var entries = layout.integerBytes(fields.count, layout.entryCountByteCount)
        var values: [UInt8] = []
        for field in fields.sorted(by: { $0.tag.rawValue < $1.tag.rawValue }) {
            entries += layout.integerBytes(field.tag.rawValue, 2)
            entries +=
                layout.integerBytes(field.type, 2) + layout.integerBytes(field.count, width)
            places[field.tag] = start + entries.count
            if field.value.count <= width {
                entries += field.value
                entries += [UInt8](repeating: 0, count: width - field.value.count)
            } else {
                entries += layout.integerBytes(valuesStart + values.count, width)
                values += field.value
                if values.count % 2 == 1 { values.append(0) }
            }
        }
        file += entries + layout.integerBytes(next, width) + values
        return (start, places)
    }
}
#endif

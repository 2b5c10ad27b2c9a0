// SPDX-License-Identifier: Apache-2.0

#if TIFF
    internal import EncodedImages

    /// Entries of directories on their way into another file.
    struct TIFFDirectoryWriter {
        struct Field {
            let tag: Int
            let type: Int
            let count: Int
            /// In the byte order of the file that it goes to.
            let value: [UInt8]
        }

        let isLittleEndian: Bool
        let isBig: Bool

        /// Takes entries out of a directory; those that no other file could hold are left out.
        ///
        /// - Parameters:
        ///   - tags: which entries.
        ///   - directory: where they are.
        ///   - bytes: the file of the directory.
        ///   - limits: what all values may take together.
        /// - Returns: the entries in the order of their numbers.
        /// - Throws: ``CodecError/limitExceeded(_:needed:allowed:)``.
        func fields(
            _ tags: [Int], of directory: TIFFDirectory, _ bytes: Span<UInt8>, limits: DecodeLimits
        ) throws(CodecError) -> [Field] {
            var fields: [Field] = []
            var byteCount = 0
            for tag in tags.sorted() {
                guard let entry = directory.entries[tag], entry.type <= 13,
                    let range = directory.range(tag, bytes)
                else { continue }
                byteCount = byteCount.saturatingSum(range.count)
                try limits.check(.metadataByteCount, byteCount)
                var value = range.map { bytes[$0] }
                if directory.file.isLittleEndian != isLittleEndian {
                    // A fraction is two numbers of half the width.
                    let isFraction = entry.type == 5 || entry.type == 10
                    let width = isFraction ? 4 : entry.valueByteCount
                    for start in stride(from: 0, to: value.count - width + 1, by: width) {
                        value[start..<start + width].reverse()
                    }
                }
                fields.append(
                    Field(tag: tag, type: entry.type, count: entry.count, value: value))
            }
            return fields
        }

        /// A field of one offset, which is filled in later.
        static func pointer(_ tag: Int) -> Field {
            Field(tag: tag, type: 4, count: 1, value: [0, 0, 0, 0])
        }

        /// Writes a directory with its values behind it to the end of a file.
        ///
        /// - Parameters:
        ///   - fields: in any order.
        ///   - next: where the next directory stands.
        ///   - file: takes the bytes.
        /// - Returns: where the directory begins, and by tag, where a value or the offset to it stands.
        func append(
            _ fields: [Field], next: Int, to file: inout [UInt8]
        ) -> (start: Int, places: [Int: Int]) {
            if file.count % 2 == 1 { file.append(0) }
            let width = isBig ? 8 : 4
            let start = file.count
            let valuesStart =
                start + (isBig ? 8 : 2) + fields.count * (isBig ? 20 : 12) + width
            var places: [Int: Int] = [:]
            var entries = number(fields.count, isBig ? 8 : 2)
            var values: [UInt8] = []
            for field in fields.sorted(by: { $0.tag < $1.tag }) {
                entries += number(field.tag, 2) + number(field.type, 2)
                entries += number(field.count, width)
                places[field.tag] = start + entries.count
                if field.value.count <= width {
                    entries += field.value
                    entries += [UInt8](repeating: 0, count: width - field.value.count)
                } else {
                    entries += number(valuesStart + values.count, width)
                    values += field.value
                    if values.count % 2 == 1 { values.append(0) }
                }
            }
            file += entries + number(next, width) + values
            return (start, places)
        }

        /// Writes a number over what stands at a place.
        func put(_ value: Int, byteCount: Int, at place: Int, in file: inout [UInt8]) {
            let bytes = number(value, byteCount)
            for index in 0..<byteCount { file[place + index] = bytes[index] }
        }

        func number(_ value: Int, _ byteCount: Int) -> [UInt8] {
            let bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
            return isLittleEndian ? bytes : bytes.reversed()
        }
    }
#endif

// SPDX-License-Identifier: Apache-2.0

#if TIFF
    internal import EncodedImages

    /// A file's byte order, the width of its offsets, and where its first directory stands.
    struct TIFFFile {
        let isLittleEndian: Bool
        let isBig: Bool
        private(set) var firstDirectory = 0

        init(_ bytes: Span<UInt8>) throws(CodecError) {
            guard bytes.count >= 8 else { throw .truncated(byteCount: bytes.count) }
            isLittleEndian = bytes[0] == 0x49
            isBig = bytes[isLittleEndian ? 2 : 3] == 43
            if isBig && bytes.count < 16 { throw .truncated(byteCount: bytes.count) }
            let width = isBig ? 8 : 4
            if isBig, integer(bytes, at: 4, count: 2) != 8 {
                throw .malformed(reason: "offsets of another width than 8", offset: 4)
            }
            guard let first = integer(bytes, at: isBig ? 8 : 4, count: width) else {
                throw .malformed(reason: "the first directory is nowhere", offset: 4)
            }
            firstDirectory = first
        }

        /// A whole number without a sign; `nil` where the file has ended or no `Int` can hold it.
        func integer(_ bytes: Span<UInt8>, at offset: Int, count: Int) -> Int? {
            guard offset >= 0, count <= 8, offset <= bytes.count - count else { return nil }
            var value: UInt64 = 0
            for index in 0..<count {
                let place = isLittleEndian ? count - 1 - index : index
                value = value << 8 | UInt64(bytes[offset + place])
            }
            return Int(exactly: value)
        }
    }

    /// One directory: entries by number, and where the next directory stands.
    struct TIFFDirectory {
        struct Entry {
            let type: Int
            let count: Int
            /// Where the values stand, in the entry itself or elsewhere.
            let offset: Int

            /// The bytes that a value of a type takes; 0 for a type that nobody knows.
            var valueByteCount: Int {
                let widths = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8]
                return type < widths.count ? widths[type] : 0
            }
        }

        /// Real directories have 20 entries, those of cameras 100.
        static let maximumEntryCount = 4096

        let file: TIFFFile
        let offset: Int
        private(set) var entries: [Int: Entry] = [:]

        /// - Throws: ``CodecError/truncated(byteCount:)`` if the file ends before the directory does.
        init(_ file: TIFFFile, _ bytes: Span<UInt8>, at offset: Int) throws(CodecError) {
            self.file = file
            self.offset = offset
            let outline = try TIFFDirectoryOutline(file, bytes, at: offset)
            let width = file.isBig ? 8 : 4
            for index in 0..<outline.entryCount {
                let place = outline.firstEntry + index * outline.entryByteCount
                guard let tag = file.integer(bytes, at: place, count: 2),
                    let type = file.integer(bytes, at: place + 2, count: 2),
                    let count = file.integer(bytes, at: place + 4, count: width),
                    entries[tag] == nil
                else { continue }
                let value = place + 4 + width
                let byteCount = Entry(type: type, count: 0, offset: 0).valueByteCount
                let (total, overflow) = count.multipliedReportingOverflow(by: byteCount)
                guard byteCount > 0, !overflow else { continue }
                if total <= width {
                    entries[tag] = Entry(type: type, count: count, offset: value)
                } else if let elsewhere = file.integer(bytes, at: value, count: width) {
                    entries[tag] = Entry(type: type, count: count, offset: elsewhere)
                }
            }
        }

        /// A whole number of an entry; `nil` if there is none.
        func integer(_ tag: Int, _ bytes: Span<UInt8>, at index: Int = 0) -> Int? {
            guard let entry = entries[tag], index >= 0, index < entry.count,
                [1, 3, 4, 13, 16, 18].contains(entry.type)
            else { return nil }
            let width = entry.valueByteCount
            let (place, overflow) = entry.offset.addingReportingOverflow(index * width)
            return overflow ? nil : file.integer(bytes, at: place, count: width)
        }

        /// The first whole numbers of an entry, at most `limit`.
        func integers(_ tag: Int, _ bytes: Span<UInt8>, limit: Int) -> [Int] {
            let count = min(entries[tag]?.count ?? 0, limit)
            return (0..<max(count, 0)).compactMap { integer(tag, bytes, at: $0) }
        }

        /// Where the bytes of an entry stand; `nil` if there is none or the file ends before.
        func range(_ tag: Int, _ bytes: Span<UInt8>) -> Range<Int>? {
            guard let entry = entries[tag], entry.count > 0 else { return nil }
            let byteCount = entry.count * entry.valueByteCount
            let (end, overflow) = entry.offset.addingReportingOverflow(byteCount)
            return overflow || end > bytes.count ? nil : entry.offset..<end
        }
    }

    /// The little of a directory that finding the others takes.
    struct TIFFDirectoryOutline {
        let firstEntry: Int
        let entryCount: Int
        let entryByteCount: Int
        /// Where the next directory stands; 0 behind the last.
        let next: Int

        init(_ file: TIFFFile, _ bytes: Span<UInt8>, at offset: Int) throws(CodecError) {
            let width = file.isBig ? 8 : 4
            let countWidth = file.isBig ? 8 : 2
            guard offset >= 8 else {
                throw .malformed(reason: "a directory stands in the head of the file", offset: 4)
            }
            guard let count = file.integer(bytes, at: offset, count: countWidth) else {
                throw .truncated(byteCount: bytes.count)
            }
            guard (1...TIFFDirectory.maximumEntryCount).contains(count) else {
                throw .malformed(reason: "a directory of \(count) entries", offset: offset)
            }
            entryCount = count
            entryByteCount = file.isBig ? 20 : 12
            firstEntry = offset + countWidth
            let end = firstEntry + count * entryByteCount
            guard end + width <= bytes.count else { throw .truncated(byteCount: bytes.count) }
            // Where no number can point there is no directory.
            next = file.integer(bytes, at: end, count: width) ?? 0
        }

        /// Whether it describes a smaller version of another picture, or a mask.
        func isSubordinate(_ file: TIFFFile, _ bytes: Span<UInt8>) -> Bool {
            for index in 0..<entryCount {
                let place = firstEntry + index * entryByteCount
                guard let tag = file.integer(bytes, at: place, count: 2) else { break }
                guard tag == 254 || tag == 255 else { continue }
                let type = file.integer(bytes, at: place + 2, count: 2)
                let value = file.integer(
                    bytes, at: place + 4 + (file.isBig ? 8 : 4), count: type == 3 ? 2 : 4)
                // 254: bits for reduced and mask; 255: 2 for reduced.
                return tag == 254 ? (value ?? 0) & 5 != 0 : value == 2
            }
            return false
        }
    }
#endif

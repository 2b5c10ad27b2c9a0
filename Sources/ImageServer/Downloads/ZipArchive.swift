// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// The records of a ZIP archive whose files are stored without compression.
///
/// - SeeAlso: PKWARE, APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12, 4.3.14 to 4.3.16 and 4.5.3.
enum ZipArchive {
    struct Entry: Sendable {
        /// The path in the archive.
        let name: String
        let byteCount: Int
        /// In nanoseconds since 1970; the archive contains it in UTC.
        let modificationTime: Int
        var checksum: UInt32 = 0

        fileprivate var isLarge: Bool { byteCount >= limit }
    }

    /// The first number that does not fit into a field of four bytes.
    fileprivate static let limit = 0xFFFF_FFFF

    /// The record that precedes the bytes of a file.
    static func localHeader(_ entry: Entry) -> [UInt8] {
        var record = ZipRecord(signature: 0x0403_4B50)
        record.addVersion(isLarge: entry.isLarge)
        record.addDescription(entry)
        record.add(entry.name.utf8.count, 2)
        record.add(entry.isLarge ? 20 : 0, 2)
        record.bytes += Array(entry.name.utf8)
        if entry.isLarge { record.addExtra([entry.byteCount, entry.byteCount]) }
        return record.bytes
    }

    /// The length of ``localHeader(_:)``.
    static func localHeaderByteCount(_ entry: Entry) -> Int {
        30 + entry.name.utf8.count + (entry.isLarge ? 20 : 0)
    }

    /// The directory and the records after it.
    ///
    /// - Parameters:
    ///   - entries: the files with their checksums.
    ///   - offsets: the positions of their local headers.
    ///   - start: the position of the directory.
    /// - Returns: the rest of the archive.
    static func directory(_ entries: [Entry], offsets: [Int], start: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for (entry, offset) in zip(entries, offsets) {
            bytes += directoryRecord(entry, offset: offset)
        }
        return bytes + end(count: entries.count, start: start, byteCount: bytes.count)
    }

    private static func directoryRecord(_ entry: Entry, offset: Int) -> [UInt8] {
        let large =
            (entry.isLarge ? [entry.byteCount, entry.byteCount] : [])
            + (offset >= limit ? [offset] : [])
        var record = ZipRecord(signature: 0x0201_4B50)
        // Made on Unix.
        record.add(3 << 8 | 45, 2)
        record.addVersion(isLarge: !large.isEmpty)
        record.addDescription(entry)
        record.add(entry.name.utf8.count, 2)
        record.add(large.isEmpty ? 0 : 4 + 8 * large.count, 2)
        // No comment, first disk, no internal attributes; a regular file that all may read.
        for _ in 0..<3 { record.add(0, 2) }
        record.add(0o100644 << 16, 4)
        record.add(min(offset, limit), 4)
        record.bytes += Array(entry.name.utf8)
        if !large.isEmpty { record.addExtra(large) }
        return record.bytes
    }

    private static func end(count: Int, start: Int, byteCount: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        if count >= 0xFFFF || start >= limit || byteCount >= limit {
            var record = ZipRecord(signature: 0x0606_4B50)
            record.add(44, 8)
            record.add(3 << 8 | 45, 2)
            record.add(45, 2)
            record.add(0, 4)
            record.add(0, 4)
            for number in [count, count, byteCount, start] { record.add(number, 8) }
            var locator = ZipRecord(signature: 0x0706_4B50)
            locator.add(0, 4)
            locator.add(start + byteCount, 8)
            locator.add(1, 4)
            bytes = record.bytes + locator.bytes
        }
        var record = ZipRecord(signature: 0x0605_4B50)
        record.add(0, 2)
        record.add(0, 2)
        record.add(min(count, 0xFFFF), 2)
        record.add(min(count, 0xFFFF), 2)
        record.add(min(byteCount, limit), 4)
        record.add(min(start, limit), 4)
        record.add(0, 2)
        return bytes + record.bytes
    }
}

/// Numbers with the lowest byte first.
private struct ZipRecord {
    var bytes: [UInt8] = []

    init(signature: Int) { add(signature, 4) }

    mutating func add(_ number: Int, _ byteCount: Int) {
        bytes.append(number, byteCount: byteCount, .littleEndian)
    }

    /// The version that is needed, the flag for names in UTF-8, and the method “stored”.
    mutating func addVersion(isLarge: Bool) {
        add(isLarge ? 45 : 20, 2)
        add(1 << 11, 2)
        add(0, 2)
    }

    /// Time, checksum and both sizes.
    mutating func addDescription(_ entry: ZipArchive.Entry) {
        let seconds = entry.modificationTime / 1_000_000_000
        let days = seconds / 86_400
        let date = CalendarDate(daysSince1970: days)
        let time = seconds - days * 86_400
        let isKnown = (1980...2107).contains(date.year) && seconds >= 0
        add(isKnown ? time / 3_600 << 11 | time / 60 % 60 << 5 | time % 60 / 2 : 0, 2)
        add(isKnown ? (date.year - 1980) << 9 | date.month << 5 | date.day : 1 << 5 | 1, 2)
        add(Int(entry.checksum), 4)
        let byteCount = entry.byteCount >= ZipArchive.limit ? ZipArchive.limit : entry.byteCount
        add(byteCount, 4)
        add(byteCount, 4)
    }

    /// The extra field of ZIP64.
    mutating func addExtra(_ numbers: [Int]) {
        add(1, 2)
        add(8 * numbers.count, 2)
        for number in numbers { add(number, 8) }
    }
}

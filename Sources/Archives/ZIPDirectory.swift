// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// The central directory of a ZIP archive.
struct ZIPDirectory: Sendable {
    static let localSignature = 0x0403_4B50
    static let endSignature = 0x0605_4B50
    private static let entrySignature = 0x0201_4B50
    private static let end64Signature = 0x0606_4B50
    private static let locator64Signature = 0x0706_4B50

    /// What the record at the end specifies (APPNOTE 4.3.14 and 4.3.16).
    private struct End {
        var entryCount: Int
        var byteCount: Int
        var offset: Int
        /// Where the directory ends, which is the start of this record.
        var position: Int
    }

    /// The bytes of the directory.
    let bytes: [UInt8]
    /// The offset of the directory in the file.
    let start: Int
    private let entryCount: Int
    /// The number of bytes before the archive in the file, such as a program that extracts it.
    private let prefixByteCount: Int

    /// Reads the directory of a file.
    ///
    /// - Parameters:
    ///   - file: the archive.
    ///   - limits: the maximum number of entries, and of bytes of the directory as metadata.
    /// - Throws: the errors of ``ZIPReader/init(_:limits:)``.
    init(_ file: EncodedBytes, _ limits: DecodeLimits) throws(CodecError) {
        let end = try Self.end(of: file)
        try limits.check(.itemCount, end.entryCount)
        try limits.check(.metadataByteCount, end.byteCount)
        let entryByteCount = 46
        guard end.byteCount <= end.position, end.entryCount <= end.byteCount / entryByteCount,
            end.offset <= end.position - end.byteCount
        else {
            throw .malformed(reason: "the size of the directory is wrong", offset: end.position)
        }
        start = end.position - end.byteCount
        prefixByteCount = start - end.offset
        entryCount = end.entryCount
        bytes = file.copy(of: start..<end.position)
    }

    private static func end(of file: EncodedBytes) throws(CodecError) -> End {
        let recordByteCount = 22
        guard file.count >= recordByteCount else { throw .unknownFormat }
        // A comment of at most 65,535 bytes follows.
        let tailStart = max(0, file.count - recordByteCount - 0xFFFF)
        let tail = file.copy(of: tailStart..<file.count)
        let span = tail.span
        var place = tail.count - recordByteCount
        while place >= 0 {
            if span.littleEndian(at: place, byteCount: 4) == endSignature,
                span.littleEndian(at: place + 20, byteCount: 2)
                    == tail.count - place - recordByteCount
            {
                break
            }
            place -= 1
        }
        guard place >= 0 else {
            // The signature at the start is that of an archive whose end is missing.
            let starts = file.copy(of: 0..<4).span.littleEndian(at: 0, byteCount: 4)
            if starts == localSignature { throw .truncated(byteCount: file.count) }
            throw .unknownFormat
        }
        func field(_ offset: Int, _ byteCount: Int) -> Int {
            span.littleEndian(at: place + offset, byteCount: byteCount)
        }
        let end = End(
            entryCount: field(10, 2), byteCount: field(12, 4), offset: field(16, 4),
            position: tailStart + place)
        let needs64 =
            end.entryCount == 0xFFFF || end.byteCount == 0xFFFF_FFFF || end.offset == 0xFFFF_FFFF
        if needs64, let end64 = try end64(of: file, before: end.position) { return end64 }
        guard field(4, 2) == 0, field(6, 2) == 0, field(8, 2) == end.entryCount else {
            throw .unsupported(feature: "archives in several files")
        }
        return end
    }

    /// Reads the record of a ZIP64 archive, whose locator precedes the other record; `nil` if there is none.
    private static func end64(
        of file: EncodedBytes, before position: Int
    ) throws(CodecError) -> End? {
        let (locatorByteCount, recordByteCount) = (20, 56)
        guard position >= locatorByteCount + recordByteCount else { return nil }
        let locatorStart = position - locatorByteCount
        let locator = file.copy(of: locatorStart..<position)
        guard locator.span.littleEndian(at: 0, byteCount: 4) == locator64Signature else {
            return nil
        }
        // Usually the record ends where the locator starts, also behind a prefix.
        let specified = try number(locator.span, at: 8, locatorStart)
        for start in [locatorStart - recordByteCount, specified] {
            guard 0...locatorStart - recordByteCount ~= start else { continue }
            let record = file.copy(of: start..<start + recordByteCount)
            guard record.span.littleEndian(at: 0, byteCount: 4) == end64Signature else { continue }
            let entryCount = try number(record.span, at: 32, start)
            let onThisDisk = try number(record.span, at: 24, start)
            guard record.span.littleEndian(at: 16, byteCount: 4) == 0, onThisDisk == entryCount
            else { throw .unsupported(feature: "archives in several files") }
            return End(
                entryCount: entryCount, byteCount: try number(record.span, at: 40, start),
                offset: try number(record.span, at: 48, start), position: start)
        }
        throw .malformed(reason: "the ZIP64 record is missing", offset: locatorStart)
    }

    /// Reads a number of eight bytes; `start` is the offset of the record in the file.
    private static func number(
        _ bytes: Span<UInt8>, at offset: Int, _ start: Int
    ) throws(CodecError) -> Int {
        let high = bytes.littleEndian(at: offset + 4, byteCount: 4)
        guard high <= Int(Int32.max) else {
            throw .malformed(reason: "a number is larger than any file", offset: start + offset)
        }
        return high << 32 | bytes.littleEndian(at: offset, byteCount: 4)
    }

    /// Parses the files of the directory.
    func entries() throws(CodecError) -> [ZIPReader.Entry] {
        var entries: [ZIPReader.Entry] = []
        var position = 0
        for _ in 0..<entryCount {
            if let entry = try entry(at: &position) { entries.append(entry) }
        }
        var last: [ComparedByBytes: Int] = [:]
        for (index, entry) in entries.enumerated() { last[ComparedByBytes(entry.name)] = index }
        if last.count < entries.count {
            let kept = Set(last.values)
            entries = entries.indices.filter(kept.contains).map { entries[$0] }
        }
        return entries
    }

    /// Parses an entry (APPNOTE 4.3.12), and moves `position` to the next one.
    ///
    /// - Parameter position: the offset of the entry in the directory.
    /// - Returns: `nil` for a folder or a link.
    /// - Throws: `CodecError/malformed(reason:offset:)`.
    private func entry(at position: inout Int) throws(CodecError) -> ZIPReader.Entry? {
        let (span, first) = (bytes.span, position)
        func field(_ offset: Int, _ byteCount: Int) -> Int {
            span.littleEndian(at: first + offset, byteCount: byteCount)
        }
        let headerByteCount = 46
        guard first <= span.count - headerByteCount, field(0, 4) == Self.entrySignature else {
            throw .malformed(reason: "an entry is missing", offset: start + first)
        }
        let nameEnd = first + headerByteCount + field(28, 2)
        let extraEnd = nameEnd + field(30, 2)
        position = extraEnd + field(32, 2)
        guard position <= span.count else {
            throw .malformed(reason: "an entry is truncated", offset: start + first)
        }
        var sizes = Sizes(contents: field(24, 4), stored: field(20, 4), offset: field(42, 4))
        try sizes.read64(span.extracting(nameEnd..<extraEnd), start + first)
        guard sizes.offset < start - prefixByteCount else {
            throw .malformed(reason: "an entry lies beyond the files", offset: start + first)
        }
        let storedName = first + headerByteCount..<nameEnd
        let name = try ZIPName.parse(
            Array(bytes[storedName]), isUTF8: field(8, 2) & 0x800 != 0, at: start + first)
        // The file type of Unix in the external attributes, if the entry was made there.
        let fileType = field(5, 1) == 3 ? field(40, 2) & 0xF000 : 0
        guard let name, fileType == 0 || fileType == 0x8000 else { return nil }
        return ZIPReader.Entry(
            name: name, byteCount: sizes.contents, checksum: UInt32(field(16, 4)),
            storedByteCount: sizes.stored, flags: field(8, 2), method: field(10, 2),
            offset: prefixByteCount + sizes.offset, storedName: storedName)
    }

    /// The numbers of an entry that may need eight bytes.
    private struct Sizes {
        var contents: Int
        var stored: Int
        var offset: Int

        /// Takes the numbers of the extra field of ZIP64 (APPNOTE 4.5.3), which has those that do not fit.
        mutating func read64(_ extra: Span<UInt8>, _ start: Int) throws(CodecError) {
            var place = 0
            while place <= extra.count - 4 {
                let tag = extra.littleEndian(at: place, byteCount: 2)
                let end = place + 4 + extra.littleEndian(at: place + 2, byteCount: 2)
                guard end <= extra.count else { return }
                place += 4
                if tag == 1 {
                    for path in [\Sizes.contents, \.stored, \.offset]
                    where self[keyPath: path] == 0xFFFF_FFFF && place <= end - 8 {
                        self[keyPath: path] = try ZIPDirectory.number(extra, at: place, start)
                        place += 8
                    }
                }
                place = end
            }
        }
    }
}

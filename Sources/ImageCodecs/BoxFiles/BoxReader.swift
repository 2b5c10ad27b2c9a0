// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// Iterates over the boxes of an ISO base media file, of which HEIF, AVIF and JPEG 2000 files consist.
///
/// - SeeAlso: ISO/IEC 14496-12, 4.2; ISO/IEC 15444-1, I.4.
struct BoxReader {
    struct Box: Hashable {
        /// The four characters of the type.
        let type: String
        /// The whole box with its header.
        let range: Range<Int>
        /// The offset of the contents.
        let start: Int

        var body: Range<Int> { start..<range.upperBound }

        /// - Throws: ``CodecError/truncated(byteCount:)`` if the file ends before the box does.
        func checkIsWhole(_ file: Span<UInt8>) throws(CodecError) {
            if range.upperBound > file.count { throw .truncated(byteCount: file.count) }
        }
    }

    /// The offset of the next box.
    private(set) var offset: Int
    private let end: Int

    /// Reads the boxes in a part of a file, which may end after the file does.
    init(_ range: Range<Int>) {
        offset = range.lowerBound
        end = range.upperBound
    }

    /// Returns the next box, which ends at the end of the part if it states a later one.
    ///
    /// - Returns: `nil` at the end, and for a box that is damaged.
    mutating func next(_ file: Span<UInt8>) -> Box? {
        guard end <= file.count, let header = Header(file, at: offset, end: end),
            header.boxByteCount >= header.byteCount, header.boxByteCount <= Int.max / 2
        else { return nil }
        let stop = header.boxByteCount > end - offset ? end : offset + header.boxByteCount
        guard offset + header.byteCount <= stop else { return nil }
        let box = Box(
            type: header.type, range: offset..<stop, start: offset + header.byteCount)
        offset = stop
        return box
    }

    /// Returns the next box as it states itself; only one of the file may end after the part.
    ///
    /// - Returns: `nil` if no whole header remains.
    /// - Throws: ``CodecError/malformed(reason:offset:)`` for an impossible length.
    mutating func nextChecked(_ file: Span<UInt8>) throws(CodecError) -> Box? {
        guard let header = Header(file, at: offset, end: end) else { return nil }
        guard header.boxByteCount >= header.byteCount else {
            throw .malformed(
                reason:
                    "box \(header.type) has \(header.boxByteCount) bytes, fewer than its header",
                offset: offset)
        }
        let (stop, overflow) = offset.addingReportingOverflow(header.boxByteCount)
        guard !overflow, end >= file.count || stop <= end else {
            throw .malformed(
                reason: "box \(header.type) is longer than the box that contains it",
                offset: offset)
        }
        let box = Box(
            type: header.type, range: offset..<stop, start: offset + header.byteCount)
        offset = stop
        return box
    }

    /// Returns the first box of a type in a range.
    static func first(_ type: String, in range: Range<Int>, _ file: Span<UInt8>) -> Box? {
        var reader = BoxReader(range)
        while let box = reader.next(file) {
            if box.type == type { return box }
        }
        return nil
    }

    /// Returns how many bytes identify a file by its brand, whether the main or a compatible one.
    ///
    /// - Returns: 0 if the file has none of `brands`.
    static func recognizedByteCount(_ file: Span<UInt8>, brands: Set<String>) -> Int {
        guard file.text(at: 4, byteCount: 4) == "ftyp",
            let size = file.integer(at: 0, byteCount: 4), size >= 16
        else { return 0 }
        if brands.contains(file.text(at: 8, byteCount: 4)) { return 12 }
        var offset = 16
        while offset + 4 <= min(size, file.count, 4096) {
            if brands.contains(file.text(at: offset, byteCount: 4)) { return 12 }
            offset += 4
        }
        return 0
    }

    /// The length and the type before the contents of a box.
    private struct Header {
        let type: String
        let byteCount: Int
        /// The length of the whole box; `Int.max` for more.
        let boxByteCount: Int

        /// `nil` unless all of the header lies within the file.
        init?(_ file: Span<UInt8>, at offset: Int, end: Int) {
            guard offset <= end - 8, offset <= file.count - 8,
                let short = file.integer(at: offset, byteCount: 4)
            else { return nil }
            type = file.text(at: offset + 4, byteCount: 4)
            switch short {
            case 0:
                byteCount = 8
                boxByteCount = end - offset
            case 1:
                guard offset <= file.count - 16 else { return nil }
                byteCount = 16
                boxByteCount = file.integer(at: offset + 8, byteCount: 8) ?? .max
            default:
                byteCount = 8
                boxByteCount = short
            }
        }
    }
}

extension ImageFormat.Signature {
    /// A file type box with this main brand.
    init(brand: String) { self.init(Array("ftyp\(brand)".utf8), at: 4) }
}

// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// Walks through the boxes of an ISO base media file, of which HEIF, AVIF and JPEG XL are made.
///
/// Damage is never an error here: what cannot be read is not there.
/// - SeeAlso: ISO/IEC 14496-12, 4.2.
struct BoxReader {
    struct Box: Hashable {
        var type: String
        /// The whole box with its header.
        var range: Range<Int>
        /// Where what it holds begins.
        var start: Int

        var body: Range<Int> { start..<range.upperBound }
    }

    private var offset: Int
    private let end: Int

    /// Reads the boxes that stand in a part of a file; one that reaches past it ends there.
    init(_ range: Range<Int>) {
        offset = range.lowerBound
        end = range.upperBound
    }

    mutating func next(_ file: Span<UInt8>) -> Box? {
        guard offset <= end - 8, end <= file.count else { return nil }
        guard let short = file.integer(at: offset, byteCount: 4) else { return nil }
        let type = file.text(at: offset + 4, byteCount: 4)
        var header = 8
        var size = short
        if short == 1 {
            guard let long = file.integer(at: offset + 8, byteCount: 8), long <= Int.max / 2
            else { return nil }
            header = 16
            size = long
        } else if short == 0 {
            size = end - offset
        }
        guard size >= header else { return nil }
        let stop = size > end - offset ? end : offset + size
        guard offset + header <= stop else { return nil }
        let box = Box(type: type, range: offset..<stop, start: offset + header)
        offset = stop
        return box
    }

    /// The first box of a type among those in `range`.
    static func first(_ type: String, in range: Range<Int>, _ file: Span<UInt8>) -> Box? {
        var reader = BoxReader(range)
        while let box = reader.next(file) {
            if box.type == type { return box }
        }
        return nil
    }

    /// How many bytes speak for a file type: more for its main brand than for one that it is
    /// compatible with, 0 if it names none of `brands`.
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
}

extension Span<UInt8> {
    /// A whole number, its most significant byte first; `nil` past the end or beyond `Int`.
    func integer(at offset: Int, byteCount: Int) -> Int? {
        guard offset >= 0, byteCount <= 8, offset <= count - byteCount else { return nil }
        var value: UInt64 = 0
        for index in offset..<offset + byteCount { value = value << 8 | UInt64(self[index]) }
        return Int(exactly: value)
    }

    /// Bytes as text; empty past the end.
    func text(at offset: Int, byteCount: Int) -> String {
        guard offset >= 0, offset <= count - byteCount else { return "" }
        return String(decoding: (offset..<offset + byteCount).map { self[$0] }, as: UTF8.self)
    }
}

extension ImageFormat.Signature {
    /// The file type box with a main brand.
    init(brand: String) { self.init(Array("ftyp\(brand)".utf8), at: 4) }
}

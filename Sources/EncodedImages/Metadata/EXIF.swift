// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// The few facts of an EXIF block that decide how a picture is shown.
///
/// Damage is never an error here: what cannot be read is not there.
/// - SeeAlso: CIPA DC-008 (EXIF 2.32), section 4.6; TIFF 6.0, section 2.
public struct EXIF: Hashable, Sendable {
    public private(set) var orientation: Orientation?
    /// Where the thumbnail, a JPEG file of its own, stands in the block.
    public private(set) var thumbnail: Range<Int>?

    /// Reads a block that begins with the byte order mark `II` or `MM`.
    public init(_ block: Span<UInt8>) {
        guard block.count >= 8 else { return }
        let isLittleEndian = block[0] == 0x49 && block[1] == 0x49
        guard isLittleEndian || (block[0] == 0x4D && block[1] == 0x4D) else { return }
        let first = Self.integer(block, at: 4, byteCount: 4, isLittleEndian) ?? 0
        let second = Self.forEachEntry(block, at: first, isLittleEndian) { tag, value in
            guard tag == 0x0112 else { return }
            orientation = UInt8(exactly: value).flatMap(Orientation.init(rawValue:))
        }
        var offset = 0
        var count = 0
        guard let second, second > first else { return }
        _ = Self.forEachEntry(block, at: second, isLittleEndian) { tag, value in
            if tag == 0x0201 { offset = value }
            if tag == 0x0202 { count = value }
        }
        if offset > 0, count > 0, offset + count <= block.count {
            thumbnail = offset..<offset + count
        }
    }

    /// Calls `body` with the tag and the first value of each entry that holds whole numbers.
    ///
    /// - Returns: where the next directory stands.
    private static func forEachEntry(
        _ block: Span<UInt8>, at offset: Int, _ isLittleEndian: Bool,
        _ body: (_ tag: Int, _ value: Int) -> Void
    ) -> Int? {
        guard let count = integer(block, at: offset, byteCount: 2, isLittleEndian) else {
            return nil
        }
        for index in 0..<count {
            let entry = offset + 2 + index * 12
            guard let tag = integer(block, at: entry, byteCount: 2, isLittleEndian),
                let type = integer(block, at: entry + 2, byteCount: 2, isLittleEndian)
            else { return nil }
            // Type 3 is a 16-bit number, type 4 one of 32 bits; both stand in the entry itself.
            let byteCount = type == 3 ? 2 : type == 4 ? 4 : 0
            if byteCount > 0,
                let value = integer(block, at: entry + 8, byteCount: byteCount, isLittleEndian)
            {
                body(tag, value)
            }
        }
        return integer(block, at: offset + 2 + count * 12, byteCount: 4, isLittleEndian)
    }

    private static func integer(
        _ block: Span<UInt8>, at offset: Int, byteCount: Int, _ isLittleEndian: Bool
    ) -> Int? {
        guard offset >= 0, offset + byteCount <= block.count else { return nil }
        var value = 0
        for index in 0..<byteCount {
            let place = isLittleEndian ? byteCount - 1 - index : index
            value = value << 8 | Int(block[offset + place])
        }
        return value
    }
}

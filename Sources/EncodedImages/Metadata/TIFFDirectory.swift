// SPDX-License-Identifier: Apache-2.0

/// The order of the bytes in a TIFF file or an EXIF block, which is built like one, and how its
/// directories are read by it.
///
/// Nothing is trusted: an entry whose value does not lie within the block has none, and no count
/// leads to more work than the block has bytes.
/// - SeeAlso: TIFF 6.0, section 2.
package struct TIFFByteOrder: Hashable, Sendable {
    package let isLittleEndian: Bool

    /// `nil` unless the block begins with `II` or `MM`.
    package init?(_ block: Span<UInt8>) {
        guard block.count >= 8, block[0] == block[1], block[0] == 0x49 || block[0] == 0x4D else {
            return nil
        }
        isLittleEndian = block[0] == 0x49
    }

    /// One entry of a directory.
    package struct Entry: Hashable, Sendable {
        package let tag: Int
        package let type: Int
        /// Where the entry itself stands.
        package let offset: Int
        /// How many numbers or bytes the value has.
        package let count: Int
        /// Where the value stands; empty if it does not lie within the block.
        package let value: Range<Int>
    }

    /// A directory, and where the next one stands.
    package struct Directory: Hashable, Sendable {
        package let offset: Int
        package let entries: [Entry]
        /// 0 in the last directory, and where the block ends before it says.
        package let next: Int
        /// Whether every entry that it announces is there.
        package let isWhole: Bool

        package func entry(_ tag: Int) -> Entry? { entries.first { $0.tag == tag } }

        /// The bytes of the directory itself.
        package var range: Range<Int> { offset..<offset + 2 + entries.count * 12 + 4 }
    }

    /// Where the first directory stands.
    package func firstDirectory(_ block: Span<UInt8>) -> Int { integer(block, at: 4, 4) ?? 0 }

    /// Reads the directory at an offset; `nil` if the block does not go so far.
    package func directory(_ block: Span<UInt8>, at offset: Int) -> Directory? {
        guard offset >= 8, let announced = integer(block, at: offset, 2) else { return nil }
        let count = min(announced, (block.count - offset - 2) / 12)
        var entries: [Entry] = []
        entries.reserveCapacity(count)
        for index in 0..<count {
            let start = offset + 2 + index * 12
            guard let tag = integer(block, at: start, 2),
                let type = integer(block, at: start + 2, 2),
                let valueCount = integer(block, at: start + 4, 4)
            else { break }
            let byteCount = Self.byteCount(ofType: type) * valueCount
            let place = byteCount <= 4 ? start + 8 : integer(block, at: start + 8, 4) ?? block.count
            let isWithin = byteCount <= block.count && place <= block.count - byteCount
            entries.append(
                Entry(
                    tag: tag, type: type, offset: start, count: valueCount,
                    value: isWithin ? place..<place + byteCount : start..<start))
        }
        let next = integer(block, at: offset + 2 + count * 12, 4)
        return Directory(
            offset: offset, entries: entries, next: next ?? 0,
            isWhole: count == announced && next != nil)
    }

    /// A whole number without sign of 1 to 4 bytes.
    package func integer(_ block: Span<UInt8>, at offset: Int, _ byteCount: Int) -> Int? {
        guard offset >= 0, offset <= block.count - byteCount else { return nil }
        var value = 0
        for index in 0..<byteCount {
            value =
                value << 8 | Int(block[offset + (isLittleEndian ? byteCount - 1 - index : index)])
        }
        return value
    }

    /// The number at `index` in an entry's value, if it holds whole numbers.
    package func integer(_ block: Span<UInt8>, _ entry: Entry, _ index: Int = 0) -> Int? {
        let byteCount = Self.byteCount(ofType: entry.type)
        guard index < entry.value.count / max(byteCount, 1) else { return nil }
        let value = integer(block, at: entry.value.lowerBound + index * byteCount, byteCount)
        return switch entry.type {
        case 1, 3, 4, 7, 13: value
        case 6: value.map { Int(Int8(truncatingIfNeeded: $0)) }
        case 8: value.map { Int(Int16(truncatingIfNeeded: $0)) }
        case 9: value.map { Int(Int32(truncatingIfNeeded: $0)) }
        default: nil
        }
    }

    /// The fraction at `index` in an entry's value, if it holds fractions.
    package func rational(_ block: Span<UInt8>, _ entry: Entry, _ index: Int = 0) -> Rational? {
        guard entry.type == 5 || entry.type == 10, index < entry.value.count / 8 else {
            return nil
        }
        let start = entry.value.lowerBound + index * 8
        guard let numerator = integer(block, at: start, 4),
            let denominator = integer(block, at: start + 4, 4)
        else { return nil }
        guard entry.type == 10 else { return Rational(numerator, denominator) }
        return Rational(
            Int(Int32(truncatingIfNeeded: numerator)), Int(Int32(truncatingIfNeeded: denominator)))
    }

    /// The bytes of an entry's value that holds text or anything, at most the first so many.
    package func bytes(
        _ block: Span<UInt8>, _ entry: Entry, first maximumByteCount: Int = .max
    ) -> [UInt8] {
        entry.value.prefix(maximumByteCount).map { block[$0] }
    }

    /// Text up to its first zero, without blanks around it; `nil` if there is none.
    package func text(_ block: Span<UInt8>, _ entry: Entry) -> String? {
        guard [1, 2, 7, 129].contains(entry.type) else { return nil }
        // A byte more shows where a character is cut.
        let bytes = bytes(block, entry, first: MetadataText.maximumByteCount + 1)
        return MetadataText.decoded(bytes.prefix { $0 != 0 })
    }

    /// How long a value of a type is; 0 for types that do not exist.
    package static func byteCount(ofType type: Int) -> Int {
        switch type {
        case 1, 2, 6, 7, 129: 1
        case 3, 8: 2
        case 4, 9, 11, 13: 4
        case 5, 10, 12: 8
        default: 0
        }
    }
}

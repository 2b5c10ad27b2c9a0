// SPDX-License-Identifier: Apache-2.0

/// An image file directory (IFD) of a TIFF file or an EXIF block.
///
/// Nothing is trusted: an entry whose value does not lie within the bytes has an empty one.
/// - SeeAlso: TIFF 6.0, section 2; Adobe, *BigTIFF Design*.
package struct TIFFDirectory: Hashable, Sendable {
    /// One entry of a directory.
    package struct Entry: Hashable, Sendable {
        package let tag: TIFFTag
        /// The field type, such as 3 for a 16-bit unsigned integer.
        package let type: Int
        /// The offset of the entry itself.
        package let offset: Int
        /// The number of values.
        package let count: Int
        /// The offset of the first value, in the entry itself or elsewhere.
        package let valueOffset: Int
        /// The bytes of all values; empty unless all of them exist.
        package let value: Range<Int>

        /// The length of one value in bytes; 0 for an unknown type.
        package var valueByteCount: Int { Self.valueByteCount(ofType: type) }

        /// The length of a value of a type in bytes; 0 for an unknown type.
        package static func valueByteCount(ofType type: Int) -> Int {
            switch type {
            case 1, 2, 6, 7, 129: 1
            case 3, 8: 2
            case 4, 9, 11, 13: 4
            case 5, 10, 12, 16, 17, 18: 8
            default: 0
            }
        }
    }

    package let outline: TIFFDirectoryOutline
    package let entries: [Entry]
    /// The index of the first entry of each tag that has a known type.
    private let indices: [TIFFTag: Int]

    package init(_ outline: TIFFDirectoryOutline, _ bytes: Span<UInt8>) {
        var entries: [Entry] = []
        var indices: [TIFFTag: Int] = [:]
        entries.reserveCapacity(outline.entryCount)
        for index in 0..<outline.entryCount {
            guard let entry = outline.entry(index, bytes) else { continue }
            if entry.valueByteCount > 0, indices[entry.tag] == nil {
                indices[entry.tag] = entries.count
            }
            entries.append(entry)
        }
        self.outline = outline
        self.entries = entries
        self.indices = indices
    }

    package var layout: TIFFLayout { outline.layout }
    package var offset: Int { outline.offset }
    /// The offset of the next directory; 0 after the last one.
    package var next: Int { outline.next }
    /// Whether all of the directory lies within the bytes.
    package var isWhole: Bool { outline.isWhole }
    /// The bytes of the directory itself.
    package var range: Range<Int> { outline.range }

    /// The first entry of a tag that has a known type.
    package func entry(_ tag: TIFFTag) -> Entry? { indices[tag].map { entries[$0] } }

    /// The directory at the offset that an entry contains.
    package func directory(_ tag: TIFFTag, _ bytes: Span<UInt8>) -> TIFFDirectory? {
        integer(tag, bytes).flatMap { layout.directory(bytes, at: $0) }
    }

    /// Returns an integer, signed or not, of an entry.
    ///
    /// - Parameters:
    ///   - tag: the tag of the entry.
    ///   - bytes: the file or block.
    ///   - index: the number of the value, from 0.
    /// - Returns: `nil` if no such entry of integers exists or its values do not lie within the bytes.
    package func integer(_ tag: TIFFTag, _ bytes: Span<UInt8>, _ index: Int = 0) -> Int? {
        entry(tag).flatMap { integer($0, bytes, index) }
    }

    /// Returns an integer, signed or not, of an entry; `nil` as ``integer(_:_:_:)`` of a tag.
    package func integer(_ entry: Entry, _ bytes: Span<UInt8>, _ index: Int = 0) -> Int? {
        let byteCount = entry.valueByteCount
        guard index < entry.value.count / max(byteCount, 1) else { return nil }
        let value = layout.integer(
            bytes, at: entry.value.lowerBound + index * byteCount, byteCount)
        return switch entry.type {
        case 1, 3, 4, 7, 13: value
        case 6: value.map { Int(Int8(truncatingIfNeeded: $0)) }
        case 8: value.map { Int(Int16(truncatingIfNeeded: $0)) }
        case 9: value.map { Int(Int32(truncatingIfNeeded: $0)) }
        default: nil
        }
    }

    /// Returns an unsigned integer of an entry, even if later values lie past the end of the bytes.
    ///
    /// - Parameters:
    ///   - tag: the tag of the entry.
    ///   - bytes: the file or block.
    ///   - index: the number of the value, from 0.
    /// - Returns: `nil` if no such entry of unsigned integers exists, or the value does not.
    package func unsigned(_ tag: TIFFTag, _ bytes: Span<UInt8>, at index: Int = 0) -> Int? {
        guard let entry = entry(tag), index >= 0, index < entry.count,
            [1, 3, 4, 13, 16, 18].contains(entry.type)
        else { return nil }
        let width = entry.valueByteCount
        let (place, overflow) = entry.valueOffset.addingReportingOverflow(index * width)
        return overflow ? nil : layout.integer(bytes, at: place, width)
    }

    /// Returns the first unsigned integers of an entry, at most `limit`.
    package func unsigned(_ tag: TIFFTag, _ bytes: Span<UInt8>, limit: Int) -> [Int] {
        let count = min(entry(tag)?.count ?? 0, limit)
        return (0..<max(count, 0)).compactMap { unsigned(tag, bytes, at: $0) }
    }

    /// Returns a rational number of an entry; `nil` if it contains none or the denominator is 0.
    package func rational(_ tag: TIFFTag, _ bytes: Span<UInt8>, _ index: Int = 0) -> Rational? {
        guard let entry = entry(tag), entry.type == 5 || entry.type == 10,
            index < entry.value.count / 8
        else { return nil }
        let start = entry.value.lowerBound + index * 8
        guard let numerator = layout.integer(bytes, at: start, 4),
            let denominator = layout.integer(bytes, at: start + 4, 4), denominator != 0
        else { return nil }
        guard entry.type == 10 else { return Rational(numerator, denominator) }
        return Rational(
            Int(Int32(truncatingIfNeeded: numerator)), Int(Int32(truncatingIfNeeded: denominator)))
    }

    /// Returns a copy of the value of an entry of any type, at most its first bytes.
    package func bytes(
        _ entry: Entry, _ bytes: Span<UInt8>, first maximumByteCount: Int = .max
    ) -> [UInt8] {
        entry.value.prefix(maximumByteCount).map { bytes[$0] }
    }

    /// Returns the text of an entry up to its first zero, trimmed; `nil` if it is empty or no text.
    package func text(_ tag: TIFFTag, _ bytes: Span<UInt8>) -> String? {
        guard let entry = entry(tag), [1, 2, 7, 129].contains(entry.type) else { return nil }
        // One more byte shows where a character is cut.
        let text = self.bytes(entry, bytes, first: MetadataText.maximumByteCount + 1)
        return MetadataText.decoded(text.prefix { $0 != 0 })
    }
}

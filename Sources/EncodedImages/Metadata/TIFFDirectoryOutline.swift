// SPDX-License-Identifier: Apache-2.0

/// The place of a directory and of its entries, which are read one at a time and take no memory.
///
/// Nothing is trusted: no count leads to more work than the bytes have entries.
package struct TIFFDirectoryOutline: Hashable, Sendable {
    package let layout: TIFFLayout
    package let offset: Int
    /// The number of entries that the directory states.
    package let statedEntryCount: Int
    /// The number of entries that lie within the bytes.
    package let entryCount: Int
    /// The offset of the next directory; 0 after the last one, and if the bytes end before it.
    package let next: Int
    /// Whether all of the directory lies within the bytes.
    package let isWhole: Bool

    /// `nil` if the bytes end before the number of entries; no directory is in the first 8 bytes.
    package init?(_ layout: TIFFLayout, _ bytes: Span<UInt8>, at offset: Int) {
        guard offset >= 8,
            let stated = layout.integer(bytes, at: offset, layout.entryCountByteCount)
        else { return nil }
        self.layout = layout
        self.offset = offset
        statedEntryCount = stated
        let start = offset + layout.entryCountByteCount
        entryCount = min(stated, (bytes.count - start) / layout.entryByteCount)
        let end = start + entryCount * layout.entryByteCount
        next = layout.integer(bytes, at: end, layout.offsetByteCount) ?? 0
        isWhole = entryCount == stated && end <= bytes.count - layout.offsetByteCount
    }

    /// The bytes of the directory itself.
    package var range: Range<Int> { offset..<nextPlace + layout.offsetByteCount }

    /// The offset of ``next``.
    package var nextPlace: Int {
        offset + layout.entryCountByteCount + entryCount * layout.entryByteCount
    }

    /// Reads an entry.
    ///
    /// - Parameters:
    ///   - index: less than ``entryCount``.
    ///   - bytes: the bytes that the outline was made from.
    /// - Returns: `nil` for counts and offsets that no file can have.
    package func entry(_ index: Int, _ bytes: Span<UInt8>) -> TIFFDirectory.Entry? {
        let start = offset + layout.entryCountByteCount + index * layout.entryByteCount
        let width = layout.offsetByteCount
        guard let tag = layout.integer(bytes, at: start, 2),
            let type = layout.integer(bytes, at: start + 2, 2),
            let count = layout.integer(bytes, at: start + 4, width)
        else { return nil }
        let valueByteCount = TIFFDirectory.Entry.valueByteCount(ofType: type)
        let (byteCount, overflow) = count.multipliedReportingOverflow(by: valueByteCount)
        // A value that fits into the entry is there instead of its offset.
        let place =
            byteCount <= width
            ? start + 4 + width : layout.integer(bytes, at: start + 4 + width, width)
        guard !overflow, let place else { return nil }
        let isWithin = byteCount <= bytes.count && place <= bytes.count - byteCount
        return TIFFDirectory.Entry(
            tag: TIFFTag(rawValue: tag), type: type, offset: start, count: count,
            valueOffset: place, value: isWithin ? place..<place + byteCount : start..<start)
    }
}

// SPDX-License-Identifier: Apache-2.0

/// Text in blocks of metadata, whose encoding is often not what it should be.
///
/// What is kept of it is bounded, so that a file cannot make more of it than it has bytes: a text is
/// cut at ``maximumByteCount``, the texts of a block at ``maximumTotalByteCount``, and a list at
/// ``maximumItemCount``. As JSON, which escapes at most one character in one other, the fields of
/// EXIF, XMP and IPTC together then stay under a mebibyte.
package enum MetadataText {
    /// Bytes of one text in UTF-8.
    package static let maximumByteCount = 1 << 16
    /// Bytes of all texts of a block.
    package static let maximumTotalByteCount = 1 << 17
    /// Texts in a list, such as keywords.
    package static let maximumItemCount = 1000

    /// UTF-8 if it is that, otherwise Latin-1; without blanks around it, `nil` if nothing is left.
    package static func decoded(_ bytes: some Collection<UInt8>) -> String? {
        let kept = whole(bytes)
        let text = String(validating: kept, as: UTF8.self) ?? latin1(kept)
        return trimmed(text)
    }

    /// Each byte as the character of that number.
    package static func latin1(_ bytes: some Collection<UInt8>) -> String {
        var text = String.UnicodeScalarView()
        for byte in bytes.prefix(maximumByteCount) {
            text.append(Unicode.Scalar(printable(byte)))
        }
        return cut(String(text))
    }

    /// Without blanks, ends of lines and zeros around it; `nil` if nothing is left.
    package static func trimmed(_ text: String) -> String? {
        let isBlank = { (scalar: Unicode.Scalar) in
            scalar.properties.isWhitespace || scalar.value == 0
        }
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !isBlank($0) }),
            let last = scalars.lastIndex(where: { !isBlank($0) })
        else { return nil }
        return String(scalars[first...last])
    }

    /// The start of a text, without a part of a character, that takes at most so many bytes.
    package static func cut(
        _ text: String, maximumByteCount: Int = maximumByteCount
    ) -> String {
        guard text.utf8.count > maximumByteCount else { return text }
        let end = text.utf8.index(text.utf8.startIndex, offsetBy: max(0, maximumByteCount))
        // An index within a character is rounded down.
        return String(text.unicodeScalars[..<end])
    }

    /// A blank instead of a control character that is neither a tab nor the end of a line: those mean
    /// nothing in text, XML forbids them, and each takes six bytes of JSON.
    package static func printable(_ byte: UInt8) -> UInt8 {
        byte < 0x20 && byte != 0x09 && byte != 0x0A && byte != 0x0D ? 0x20 : byte
    }

    /// The bytes that are kept, without a part of a character at the end if there were more.
    private static func whole(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var kept = bytes.prefix(maximumByteCount).map(printable)
        guard kept.count < bytes.count else { return kept }
        // The first byte of a character of UTF-8 has its highest two bits set.
        guard let start = kept.suffix(4).lastIndex(where: { $0 < 0x80 || $0 >= 0xC0 }),
            kept[start] >= 0xC0
        else { return kept }
        let byteCount = kept[start] >= 0xF0 ? 4 : kept[start] >= 0xE0 ? 3 : 2
        if start + byteCount > kept.count { kept.removeSubrange(start...) }
        return kept
    }
}

/// The bytes that are left for the texts of a block.
struct MetadataTextBudget {
    private var byteCount = MetadataText.maximumTotalByteCount

    /// Cuts a text to what is left.
    mutating func fit(_ text: inout String?) {
        guard let whole = text else { return }
        let kept = MetadataText.cut(whole, maximumByteCount: byteCount)
        byteCount -= kept.utf8.count
        text = kept.isEmpty ? nil : kept
    }

    /// Keeps the texts of a list for which there is room.
    mutating func fit(_ list: inout [String]) {
        var kept: [String] = []
        for text in list.prefix(MetadataText.maximumItemCount) {
            guard text.utf8.count <= byteCount else { break }
            byteCount -= text.utf8.count
            kept.append(text)
        }
        list = kept
    }
}

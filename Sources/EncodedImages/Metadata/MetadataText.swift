// SPDX-License-Identifier: Apache-2.0

/// Decodes texts in blocks of metadata, whose encoding is often wrong.
///
/// Texts are bounded: a text is cut at ``maximumByteCount``, all texts of a block at
/// ``maximumTotalByteCount``, a list at ``maximumItemCount``. The fields of EXIF, XMP and IPTC
/// together then have less than 1 MiB of JSON, which escapes a character with one other.
package enum MetadataText {
    /// The maximum length of a text in bytes of UTF-8.
    package static let maximumByteCount = 1 << 16
    /// The maximum length of all texts of a block in bytes of UTF-8.
    package static let maximumTotalByteCount = 1 << 17
    /// The maximum number of texts in a list, such as keywords.
    package static let maximumItemCount = 1000

    /// Decodes valid UTF-8, otherwise Latin-1, and trims it; `nil` if nothing remains.
    package static func decoded(_ bytes: some Collection<UInt8>) -> String? {
        let kept = whole(bytes)
        let text = String(validating: kept, as: UTF8.self) ?? latin1(kept)
        return trimmed(text)
    }

    /// Decodes Latin-1.
    package static func latin1(_ bytes: some Collection<UInt8>) -> String {
        var text = String.UnicodeScalarView()
        for byte in bytes.prefix(maximumByteCount) {
            text.append(Unicode.Scalar(printable(byte)))
        }
        return cut(String(text))
    }

    /// Removes white space and zeros at both ends; `nil` if nothing remains.
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

    /// Returns the longest prefix of whole scalars with at most this number of bytes.
    package static func cut(
        _ text: String, maximumByteCount: Int = maximumByteCount
    ) -> String {
        guard text.utf8.count > maximumByteCount else { return text }
        let end = text.utf8.index(text.utf8.startIndex, offsetBy: max(0, maximumByteCount))
        // An index within a scalar is rounded down.
        return String(text.unicodeScalars[..<end])
    }

    /// Replaces a control character other than tab, LF and CR by a space.
    ///
    /// XML forbids them, and each has six bytes in JSON.
    package static func printable(_ byte: UInt8) -> UInt8 {
        byte < 0x20 && byte != 0x09 && byte != 0x0A && byte != 0x0D ? 0x20 : byte
    }

    /// Returns the bytes up to the maximum, without an incomplete character at the cut.
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

/// The remaining number of bytes for the texts of a block.
struct MetadataTextBudget {
    private var byteCount = MetadataText.maximumTotalByteCount

    /// Cuts a text to the remaining number of bytes.
    mutating func fit(_ text: inout String?) {
        guard let whole = text else { return }
        let kept = MetadataText.cut(whole, maximumByteCount: byteCount)
        byteCount -= kept.utf8.count
        text = kept.isEmpty ? nil : kept
    }

    /// Keeps the first texts of a list that fit into the remaining number of bytes.
    mutating func fit(_ list: inout [String]) {
        var kept: [String] = []
        for text in list {
            guard text.utf8.count <= byteCount else { break }
            byteCount -= text.utf8.count
            kept.append(text)
        }
        list = kept
    }
}

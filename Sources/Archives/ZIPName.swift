// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// The names of entries, which are paths.
enum ZIPName {
    /// Parses a name.
    ///
    /// - Parameters:
    ///   - bytes: the name as it is stored.
    ///   - isUTF8: whether the entry specifies UTF-8; others are in it too, or in code page 437 (APPNOTE D.1).
    ///   - offset: the offset of the entry in the file.
    /// - Returns: the path with slashes, without empty names; `nil` for a folder.
    /// - Throws: `CodecError/malformed(reason:offset:)` for an absolute path and for one with `..`.
    static func parse(
        _ bytes: [UInt8], isUTF8: Bool, at offset: Int
    ) throws(CodecError) -> String? {
        let text: String
        if let valid = String(validating: bytes, as: UTF8.self) {
            text = valid
        } else if isUTF8 {
            throw .malformed(reason: "a name is invalid UTF-8", offset: offset)
        } else {
            text = codePage437(bytes)
        }
        guard !text.isEmpty, !text.utf8.contains(0) else {
            throw .malformed(reason: "an entry has no valid name", offset: offset)
        }
        // Some programs for Windows write backslashes, against APPNOTE 4.4.17.
        let names = text.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }
        guard names.first != "", !names.contains("..") else {
            throw .malformed(
                reason: "the name “\(text)” leads out of the archive", offset: offset)
        }
        if names.last == "" { return nil }
        let kept = names.filter { !$0.isEmpty && $0 != "." }
        return kept.isEmpty ? nil : kept.joined(separator: "/")
    }

    private static func codePage437(_ bytes: [UInt8]) -> String {
        var text = ""
        for byte in bytes {
            text.unicodeScalars.append(
                byte < 128 ? UnicodeScalar(byte) : upperHalf[Int(byte) - 128])
        }
        return text
    }

    private static let upperHalf = Array(
        ("ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐"
            + "└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}")
            .unicodeScalars)
}

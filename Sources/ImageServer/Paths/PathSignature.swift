// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import MessageDigests

/// Signs URL paths, and verifies their signatures.
///
/// A signature is the HMAC-SHA-256 (RFC 2104) of path and query as sent, without the signature itself,
/// in URL-safe Base64 (RFC 4648, section 5) without padding.
public struct PathSignature: Sendable {
    /// The accepted keys; several allow for key rotation.
    let keys: [[UInt8]]

    /// Verifies `signature=…`, the last parameter of the query, and `expires=…` if there is one.
    ///
    /// - Parameters:
    ///   - path: path and query as sent.
    ///   - now: seconds since 1970.
    /// - Throws: ``ServerError/badSignature``, ``ServerError/expired``.
    func check(_ path: String, now: Int) throws(ServerError) {
        guard let mark = path.lastIndex(where: { $0 == "?" || $0 == "&" }),
            case let last = path[path.index(after: mark)...], last.hasPrefix("signature=")
        else { throw .badSignature }
        let signed = path[..<mark]
        try check(last.dropFirst("signature=".count), of: String(signed))
        // Parameters after the signature are not signed.
        guard let query = signed.firstIndex(of: "?") else { return }
        let dates = signed[signed.index(after: query)...].split(separator: "&")
            .filter { $0.hasPrefix("expires=") }
        guard let date = dates.first else { return }
        guard dates.count == 1, let expires = Int(date.dropFirst("expires=".count)) else {
            throw .badSignature
        }
        if now >= expires { throw .expired }
    }

    /// Verifies a signature in constant time.
    ///
    /// - Parameters:
    ///   - signature: the signature in URL-safe Base64.
    ///   - text: the signed text.
    ///   - salt: the bytes before the text in the signed message.
    /// - Throws: ``ServerError/badSignature``.
    func check(
        _ signature: Substring, of text: String, salt: [UInt8] = []
    ) throws(ServerError) {
        guard let code = Self.bytes(signature).flatMap(MessageDigest.init(bytes:)) else {
            throw .badSignature
        }
        let message = salt + Array(text.utf8)
        var isValid = false
        for key in keys {
            let matches = code == MessageDigest(hmacSHA256: message, key: key)
            isValid = isValid || matches
        }
        guard isValid else { throw .badSignature }
    }

    /// Appends a signature to a URL path.
    ///
    /// - Parameters:
    ///   - path: path and query, percent-encoded, with `expires=…` (seconds since 1970) to limit its
    ///     validity.
    ///   - key: a secret of at least 32 bytes.
    /// - Returns: the path with `signature=…` as the last parameter.
    public static func signed(_ path: String, key: [UInt8]) -> String {
        let code = MessageDigest(hmacSHA256: Array(path.utf8), key: key)
        return path + (path.contains("?") ? "&" : "?") + "signature=" + text(code.bytes)
    }

    /// Encodes bytes as URL-safe Base64 without padding.
    static func text(_ bytes: [UInt8]) -> String {
        String(
            Data(bytes).base64EncodedString().compactMap { character -> Character? in
                switch character {
                case "+": "-"
                case "/": "_"
                case "=": nil
                default: character
                }
            })
    }

    /// Decodes URL-safe Base64.
    ///
    /// - Returns: `nil` for invalid and for non-canonical text.
    static func bytes(_ text: Substring) -> [UInt8]? {
        guard text.utf8.count <= 4_096 else { return nil }
        var padded = String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        padded += String(repeating: "=", count: (4 - padded.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: padded), case let bytes = Array(data),
            self.text(bytes) == text
        else { return nil }
        return bytes
    }
}

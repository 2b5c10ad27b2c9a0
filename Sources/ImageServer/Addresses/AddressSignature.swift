// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import MessageDigests

/// Who may ask: addresses that somebody signed who knows a key.
///
/// A signature is the HMAC-SHA-256 (RFC 2104) of an address as it is sent, from its first slash on
/// and without the signature itself, in Base64 for addresses (RFC 4648, section 5) without padding.
public struct AddressSignature {
    /// Any of these is right, so that keys can be replaced one after the other.
    let keys: [[UInt8]]

    /// Checks `?signature=…`, which stands last in the query, and `expires=…` if it is there.
    ///
    /// - Parameters:
    ///   - address: the path and the query as they were sent.
    ///   - now: seconds since 1970.
    /// - Throws: ``ServerError/badSignature``, ``ServerError/expired``.
    func check(_ address: String, now: Int) throws(ServerError) {
        guard let mark = address.lastIndex(where: { $0 == "?" || $0 == "&" }),
            case let last = address[address.index(after: mark)...], last.hasPrefix("signature=")
        else { throw .badSignature }
        let signed = address[..<mark]
        try check(last.dropFirst("signature=".count), of: String(signed))
        // Only what was signed is believed.
        guard let query = signed.firstIndex(of: "?") else { return }
        let dates = signed[signed.index(after: query)...].split(separator: "&")
            .filter { $0.hasPrefix("expires=") }
        guard let date = dates.first else { return }
        guard dates.count == 1, let expires = Int(date.dropFirst("expires=".count)) else {
            throw .badSignature
        }
        if now >= expires { throw .expired }
    }

    /// Checks a signature, with the time that it takes the same for every wrong one.
    ///
    /// - Parameters:
    ///   - signature: as it stands in the address.
    ///   - text: what was signed.
    ///   - salt: stands before it.
    /// - Throws: ``ServerError/badSignature``.
    func check(
        _ signature: Substring, of text: String, salt: [UInt8] = []
    ) throws(ServerError) {
        guard let code = Self.bytes(signature).flatMap(MessageDigest.init(bytes:)) else {
            throw .badSignature
        }
        let message = salt + Array(text.utf8)
        var isRight = false
        for key in keys {
            let isThis = code == MessageDigest(hmacSHA256: message, key: key)
            isRight = isRight || isThis
        }
        guard isRight else { throw .badSignature }
    }

    /// Signs an address.
    ///
    /// - Parameters:
    ///   - address: the path and the query, percent-encoded, with `expires=…` if it is to end.
    ///   - key: a secret of at least 32 bytes.
    /// - Returns: the address with its signature.
    public static func signed(_ address: String, key: [UInt8]) -> String {
        let code = MessageDigest(hmacSHA256: Array(address.utf8), key: key)
        return address + (address.contains("?") ? "&" : "?") + "signature=" + text(code.bytes)
    }

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

    /// - Returns: `nil` for what is no such text, or is not the one text of its bytes.
    static func bytes(_ text: Substring) -> [UInt8]? {
        guard text.utf8.count <= 4_096 else { return nil }
        var usual = String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        usual += String(repeating: "=", count: (4 - usual.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: usual), case let bytes = Array(data),
            self.text(bytes) == text
        else { return nil }
        return bytes
    }
}

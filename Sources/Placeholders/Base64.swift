// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// Base64 (RFC 4648, section 4).
package enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    package static func encode(_ bytes: Span<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let count = min(3, bytes.count - start)
            var word = 0
            for place in 0..<3 {
                word = word << 8 | (place < count ? Int(bytes[start + place]) : 0)
            }
            for place in 0..<4 {
                text.append(place <= count ? alphabet[word >> (18 - 6 * place) & 63] : padding)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes the standard and the URL-safe alphabet; padding is optional.
    static func decode(_ text: String) throws(CodecError) -> [UInt8] {
        let characters = Array(text.utf8)
        let content = characters.prefix { $0 != padding }
        let paddingCount = characters.count - content.count
        guard characters[content.endIndex...].allSatisfy({ $0 == padding }), content.count % 4 != 1,
            paddingCount == 0 || (paddingCount <= 2 && characters.count % 4 == 0)
        else { throw .malformed(reason: "invalid length of Base64", offset: content.count) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(content.count * 3 / 4)
        var word = 0
        var bitCount = 0
        for (offset, character) in content.enumerated() {
            guard let value = value(of: character) else {
                throw .malformed(reason: "invalid character in Base64", offset: offset)
            }
            word = (word << 6 | value) & 0xFFFF
            bitCount += 6
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            bytes.append(UInt8(word >> bitCount & 255))
        }
        return bytes
    }

    private static func value(of character: UInt8) -> Int? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(character) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(character) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(character) + 4
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// Numbers in base 83, as in BlurHash.
enum Base83 {
    private static let alphabet = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8)

    static func text(_ number: Int, count: Int) -> String {
        var digits: [UInt8] = []
        var rest = number
        for _ in 0..<count {
            digits.append(alphabet[rest % 83])
            rest /= 83
        }
        return String(decoding: digits.reversed(), as: UTF8.self)
    }

    /// - Throws: ``CodecError/malformed(reason:offset:)``.
    static func digits(_ text: String) throws(CodecError) -> [Int] {
        var digits: [Int] = []
        for (offset, character) in text.utf8.enumerated() {
            guard let digit = alphabet.firstIndex(of: character) else {
                throw .malformed(reason: "invalid character in BlurHash", offset: offset)
            }
            digits.append(digit)
        }
        return digits
    }

    static func number(_ digits: ArraySlice<Int>) -> Int { digits.reduce(0) { $0 * 83 + $1 } }
}

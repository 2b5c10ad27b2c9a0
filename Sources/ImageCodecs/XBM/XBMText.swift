// SPDX-License-Identifier: Apache-2.0

/// A tokenizer for the C source of a file; its only state is the position.
struct XBMText {
    struct Definition {
        static let suffixes = ["_width", "_height", "_x_hot", "_y_hot"]

        let name: String
        let value: Int
    }

    /// The maximum length of a word in bytes.
    private static let longestWord = 256
    private(set) var offset = 0
    private let end: Int

    init(_ file: Span<UInt8>) { end = file.count }
}

extension XBMText {
    /// Parses `#define`, a name and a number, if they come next.
    ///
    /// - Parameters:
    ///   - file: the whole file.
    ///   - byteCount: the maximum offset of the definition.
    /// - Returns: `nil` if something else comes next, which is not consumed.
    mutating func nextDefinition(_ file: Span<UInt8>, within byteCount: Int) -> Definition? {
        var copy = self
        guard copy.skipSpace(file), copy.offset < byteCount, copy.take("#", file),
            copy.skipSpace(file), copy.word(file) == "define", copy.skipSpace(file),
            let name = copy.word(file), copy.skipSpace(file), let value = copy.number(file)
        else { return nil }
        self = copy
        return Definition(name: name, value: value)
    }

    /// Skips white space and comments.
    ///
    /// - Returns: whether more text follows.
    mutating func skipSpace(_ file: Span<UInt8>) -> Bool {
        while offset < end {
            let byte = file[offset]
            if byte == 0x20 || (0x09...0x0D).contains(byte) {
                offset += 1
            } else if byte == 0x2F, offset + 1 < end, file[offset + 1] == 0x2A {
                offset += 2
                while offset + 1 < end, !(file[offset] == 0x2A && file[offset + 1] == 0x2F) {
                    offset += 1
                }
                offset = min(offset + 2, end)
            } else if byte == 0x2F, offset + 1 < end, file[offset + 1] == 0x2F {
                while offset < end, file[offset] != 0x0A { offset += 1 }
            } else {
                return true
            }
        }
        return false
    }

    /// Consumes a character if it comes next.
    mutating func take(_ character: Unicode.Scalar, _ file: Span<UInt8>) -> Bool {
        guard offset < end, UInt32(file[offset]) == character.value else { return false }
        offset += 1
        return true
    }

    /// Parses a word of letters, digits and the other characters of names in practice.
    mutating func word(_ file: Span<UInt8>) -> String? {
        let start = offset
        while offset < end, offset - start < Self.longestWord, Self.isWord(file[offset]) {
            offset += 1
        }
        guard offset > start else { return nil }
        return String(decoding: (start..<offset).map { file[$0] }, as: UTF8.self)
    }

    /// Parses a C integer: decimal, `0x` hexadecimal, or `0` octal.
    ///
    /// - Returns: `nil` if it is missing, unterminated, or exceeds 32 bits.
    mutating func number(_ file: Span<UInt8>) -> Int? {
        var base = 10
        if offset < end, file[offset] == 0x30 {
            base = 8
            if offset + 1 < end, file[offset + 1] | 0x20 == 0x78 {
                base = 16
                offset += 2
            }
        }
        var value = 0
        var digitCount = 0
        while offset < end {
            let byte = file[offset]
            let digit: Int
            switch byte {
            case 0x30...0x39: digit = Int(byte) - 0x30
            case 0x41...0x46, 0x61...0x66: digit = Int(byte | 0x20) - 0x61 + 10
            default: return digitCount > 0 && !Self.isWord(byte) ? value : nil
            }
            guard digit < base, value <= Int(UInt32.max) else { return nil }
            value = value * base + digit
            digitCount += 1
            offset += 1
        }
        return nil
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x2D, 0x2E, 0x80...0xFF: true
        default: false
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

#if JPEG
/// A Huffman table as specified by a DHT segment (T.81 B.2.4.2, annex C), with a lookup table.
struct HuffmanTable: Equatable {
    /// The longest code that one lookup in ``lookup`` resolves.
    ///
    /// Measured: with 12 bits a lookup consumes the most symbols before the tables outgrow the
    /// cache.
    static let lookaheadBits = 12

    /// By the next 12 bits: symbol × 256 + code length; 0 if the code is longer or invalid.
    let lookup: [UInt16]
    /// By code length: one more than the last code, left-aligned to 16 bits.
    private let codeLimits: [Int]
    /// By code length: the offset from a code to the index of its symbol.
    private let valueOffsets: [Int]
    private let symbols: [UInt8]
    /// The minimum number of bits that AC symbols and their values take in a block with a
    /// nonzero AC coefficient.
    let minimumACBits: Int

    /// Builds the table; the result is `nil` if no Huffman code has these lengths.
    ///
    /// - Parameters:
    ///   - counts: BITS, the number of codes of each length from 1 to 16.
    ///   - symbols: HUFFVAL, the symbols in the order of their codes.
    init?(counts: [Int], symbols: [UInt8]) {
        var lookup = [UInt16](repeating: 0, count: 1 << Self.lookaheadBits)
        var codeLimits = [0]
        var valueOffsets = [0]
        var code = 0
        var index = 0
        var (shortestEnd, shortest, shortestValue) = (64, 64, 64)
        for length in 1...16 {
            let count = counts[length - 1]
            valueOffsets.append(index - code)
            // The code that consists of 1 bits only is reserved (T.81 C.2).
            guard index + count <= symbols.count, count == 0 || code + count < 1 << length
            else { return nil }
            for symbol in symbols[index..<index + count] {
                let category = Int(symbol & 15)
                if category == 0 && symbol != 0xF0 {
                    shortestEnd = min(shortestEnd, length)
                } else {
                    shortest = min(shortest, length + category)
                    if category > 0 { shortestValue = min(shortestValue, length + category) }
                }
            }
            if length <= Self.lookaheadBits {
                for symbol in symbols[index..<index + count] {
                    let start = code << (Self.lookaheadBits - length)
                    let end = start + 1 << (Self.lookaheadBits - length)
                    for window in start..<end {
                        lookup[window] = UInt16(symbol) << 8 | UInt16(length)
                    }
                    code += 1
                }
            } else {
                code += count
            }
            index += count
            codeLimits.append(code << (16 - length))
            code <<= 1
        }
        self.lookup = lookup
        self.codeLimits = codeLimits
        self.valueOffsets = valueOffsets
        self.symbols = symbols
        // Without EOB, at least four symbols are needed to reach coefficient 63.
        minimumACBits = min(shortestValue + shortestEnd, 4 * shortest)
    }

    /// Returns the bits of a lookup index that follow `used` bits, if they contain the next
    /// code completely.
    func remainder(of window: Int, after used: Int) -> Int? {
        guard used < Self.lookaheadBits else { return nil }
        let rest = window << used & (1 << Self.lookaheadBits - 1)
        let length = Int(self.lookup[rest] & 255)
        return length > 0 && used + length <= Self.lookaheadBits ? rest : nil
    }

    /// Decodes the symbol at the start of 16 bits (DECODE, T.81 F.2.2.3); `nil` if the code is
    /// invalid.
    func decode(_ bits: Int) -> (symbol: Int, length: Int)? {
        for length in 1...16 where bits < codeLimits[length] {
            let index = bits >> (16 - length) + valueOffsets[length]
            return symbols.indices.contains(index) ? (Int(symbols[index]), length) : nil
        }
        return nil
    }
}
#endif

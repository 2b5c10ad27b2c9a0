// SPDX-License-Identifier: Apache-2.0

#if JPEG
    /// A Huffman code as a file defines it (ITU-T T.81, annex C), and a table to read it by.
    struct HuffmanCode: Equatable {
        /// Codes of at most this many bits are found by one look into ``window``.
        ///
        /// Measured: 12 swallows the most symbols a look before the tables outgrow the cache.
        static let windowBits = 12

        /// By the next 12 bits: symbol × 256 + length of its code; 0 for longer codes and for none.
        let window: [UInt16]
        /// Behind the last code of each length, as 16 bits from the left.
        private let limits: [Int]
        /// What leads from a code of a length to its symbol.
        private let offsets: [Int]
        private let symbols: [UInt8]
        /// Of the symbols behind a block's first: the fewest bits that they and their values can
        /// take if any of them has a value.
        let leastBits: Int

        /// - Parameters:
        ///   - counts: how many codes there are of each length from 1 to 16.
        ///   - symbols: what they stand for, in the order of the codes.
        ///
        /// It is `nil` if the lengths cannot be those of a code.
        init?(counts: [Int], symbols: [UInt8]) {
            var window = [UInt16](repeating: 0, count: 1 << Self.windowBits)
            var limits = [0]
            var offsets = [0]
            var code = 0
            var index = 0
            var (shortestEnd, shortest, shortestValue) = (64, 64, 64)
            for length in 1...16 {
                let count = counts[length - 1]
                offsets.append(index - code)
                // The code of ones alone is left free, as the standard has it.
                guard index + count <= symbols.count, count == 0 || code + count < 1 << length
                else { return nil }
                for symbol in symbols[index..<index + count] {
                    let magnitude = Int(symbol & 15)
                    if magnitude == 0 && symbol != 0xF0 {
                        shortestEnd = min(shortestEnd, length)
                    } else {
                        shortest = min(shortest, length + magnitude)
                        if magnitude > 0 { shortestValue = min(shortestValue, length + magnitude) }
                    }
                }
                if length <= Self.windowBits {
                    for symbol in symbols[index..<index + count] {
                        let start = code << (Self.windowBits - length)
                        let end = start + 1 << (Self.windowBits - length)
                        for place in start..<end {
                            window[place] = UInt16(symbol) << 8 | UInt16(length)
                        }
                        code += 1
                    }
                } else {
                    code += count
                }
                index += count
                limits.append(code << (16 - length))
                code <<= 1
            }
            self.window = window
            self.limits = limits
            self.offsets = offsets
            self.symbols = symbols
            // Without an end, at least four symbols are needed to pass 63 coefficients.
            leastBits = min(shortestValue + shortestEnd, 4 * shortest)
        }

        /// What is left of 12 bits behind those that are used, if the next code lies in it as a whole.
        func window(_ window: Int, behind used: Int) -> Int? {
            guard used < Self.windowBits else { return nil }
            let rest = window << used & (1 << Self.windowBits - 1)
            let length = Int(self.window[rest] & 255)
            return length > 0 && used + length <= Self.windowBits ? rest : nil
        }

        /// The symbol at the start of 16 bits; `nil` if no code begins like that.
        func symbol(_ bits: Int) -> (symbol: Int, length: Int)? {
            for length in 1...16 where bits < limits[length] {
                let index = bits >> (16 - length) + offsets[length]
                return symbols.indices.contains(index) ? (Int(symbols[index]), length) : nil
            }
            return nil
        }
    }
#endif

// SPDX-License-Identifier: Apache-2.0

#if JPEG
    /// Tables that swallow several symbols of a block at a look, for finding where blocks end.
    ///
    /// To skip a block one needs to know of each symbol only how many bits it takes, with the
    /// magnitude behind it, and how many coefficients it stands for. So the 12 bits at hand choose
    /// an entry that adds up all the symbols whose codes lie in them:
    ///
    /// | bits | |
    /// |---|---|
    /// | 0–5 | bits taken, at most ``maximumBitCount`` |
    /// | 24–30 | coefficients passed, the end of the block not counted |
    /// | 31, the sign | the last symbol was the end of the block |
    ///
    /// A reader keeps its place in the same layout (position, coefficients passed, and minus the
    /// blocks ended), so that one addition brings all three up to date. An entry of 64 coefficients
    /// stands for what is not in the table; like a block of more than 64 it sets ``overflow``.
    struct SkipTables {
        static let positionMask = 0xFF_FFFF
        static let passedShift = 24
        static let passedMask = 127 << passedShift
        static let overflow = 64 << passedShift
        static let endShift = 31

        /// Three looks fit into the 57 bits that one load brings: 22 + 22 + 12 for the third code.
        static let maximumBitCount = 22
        static let notInTable = Int32(overflow)
        static let entryCount = 1 << HuffmanCode.windowBits

        /// By table: ``entryCount`` entries each.
        private(set) var entries: [Int32] = []

        /// Adds the table of the symbols behind a block's first.
        ///
        /// - Returns: where it begins in ``entries``.
        mutating func appendAC(_ code: HuffmanCode) -> Int {
            let single = code.window.map(Self.acEntry)
            return append(single, followedBy: single, code)
        }

        /// Adds the table of the blocks' first symbols, with those of `ac` that fit in behind them.
        ///
        /// - Returns: where it begins in ``entries``.
        mutating func appendDC(_ code: HuffmanCode, ac: HuffmanCode) -> Int {
            append(code.window.map(Self.dcEntry), followedBy: ac.window.map(Self.acEntry), ac)
        }

        /// Symbols are added up as long as their codes lie in the window as a whole.
        private mutating func append(
            _ first: [Int32], followedBy single: [Int32], _ code: HuffmanCode
        ) -> Int {
            let start = entries.count
            entries.reserveCapacity(start + Self.entryCount)
            for window in 0..<Self.entryCount {
                var entry = first[window]
                while entry > 0, entry != Self.notInTable {
                    let used = Int(entry & 63)
                    guard used < HuffmanCode.windowBits else { break }
                    let rest = window << used & (Self.entryCount - 1)
                    let length = Int(code.window[rest] & 255)
                    guard length > 0, used + length <= HuffmanCode.windowBits else { break }
                    let next = single[rest]
                    let sum = Int(entry) + Int(next)
                    guard sum & 63 <= Self.maximumBitCount, sum & Self.overflow == 0 else { break }
                    entry = Int32(sum)
                }
                entries.append(entry)
            }
            return start
        }

        private static func dcEntry(_ symbol: UInt16) -> Int32 {
            entry(length: Int(symbol & 255), magnitude: Int(symbol >> 8), passed: 1)
        }

        private static func acEntry(_ symbol: UInt16) -> Int32 {
            let (length, run) = (Int(symbol & 255), Int(symbol >> 12))
            let magnitude = Int(symbol >> 8 & 15)
            let entry = entry(length: length, magnitude: magnitude, passed: run + 1)
            let isEnd = magnitude == 0 && run < 15 && length > 0
            return isEnd ? Int32(length) | .min : entry
        }

        private static func entry(length: Int, magnitude: Int, passed: Int) -> Int32 {
            guard length > 0, length + magnitude <= maximumBitCount else { return notInTable }
            return Int32(passed << passedShift | length + magnitude)
        }
    }
#endif

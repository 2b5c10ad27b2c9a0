// SPDX-License-Identifier: Apache-2.0

#if JPEG
    /// Tables that swallow several symbols of a block at a look, for finding where blocks end.
    ///
    /// To skip a block one needs to know of each symbol only how many bits it takes, with the
    /// category behind it, and how many coefficients it stands for. So the 12 bits at hand choose
    /// an entry that adds up all the symbols whose codes lie in them:
    ///
    /// | bits | |
    /// |---|---|
    /// | 0–5 | bits taken, at most ``maximumBitCount`` |
    /// | 16–21 | coefficients passed, the end of the block not counted |
    /// | 24 | ``missing``: what comes is not in the table, and nothing is taken |
    /// | 27–28 | steps: one from a block's first symbol to the others, one from those to the next block |
    ///
    /// A reader keeps its place in the same layout, so that one addition brings all of it up to date.
    /// There the position has 16 bits, and those between the fields take what overflows: coefficients
    /// beyond 63, which stand for a block that was full before the last symbol, and up to seven looks
    /// that found nothing.
    struct SkipTables {
        static let positionMask: UInt64 = 0xFFFF
        static let passedShift: UInt64 = 16
        static let passedMask: UInt64 = 63 << passedShift
        /// More coefficients than a block has.
        static let overflow: UInt64 = 3 << 22
        static let missing: UInt64 = 1 << 24
        static let missingMask: UInt64 = 7 << 24
        static let stepShift: UInt64 = 27

        /// Three looks fit into the 57 bits that one load brings: 22 + 22 + 12 for the third acTable.
        static let maximumBitCount: UInt32 = 22
        static let entryCount = 1 << HuffmanTable.lookaheadBits

        private static let notInTable = UInt32(missing)
        private static let step: UInt32 = 1 << UInt32(stepShift)

        /// By table: ``entryCount`` entries each.
        private(set) var entries: [UInt32] = []

        /// - Parameter count: how many tables are going to be added.
        init(count: Int) { entries.reserveCapacity(count * Self.entryCount) }

        /// Adds the table of the symbols behind a block's first.
        ///
        /// - Returns: where it begins in ``entries``.
        mutating func appendAC(_ acTable: HuffmanTable) -> Int {
            let single = acTable.lookup.map(Self.acEntry)
            return append(single, followedBy: single, acTable, stepsWithin: 0)
        }

        /// Adds the table of the blocks' first symbols, with those of `ac` that fit in behind them.
        ///
        /// - Returns: where it begins in ``entries``.
        mutating func appendDC(_ acTable: HuffmanTable, ac: HuffmanTable) -> Int {
            append(
                acTable.lookup.map(Self.dcEntry), followedBy: ac.lookup.map(Self.acEntry), ac,
                stepsWithin: Self.step)
        }

        /// Symbols are added up as long as their codes lie in the window as a whole.
        ///
        /// - Parameters:
        ///   - first: by window, an entry of its first symbol alone.
        ///   - single: by window, an entry of one symbol behind a block's first.
        ///   - acTable: that of the symbols behind the first.
        ///   - stepsWithin: the steps of an entry that does not end the block.
        /// - Returns: where the table begins in ``entries``.
        private mutating func append(
            _ first: [UInt32], followedBy single: [UInt32], _ acTable: HuffmanTable,
            stepsWithin: UInt32
        ) -> Int {
            let start = entries.count
            for window in 0..<Self.entryCount {
                var entry = first[window]
                while entry != Self.notInTable, entry / Self.step * Self.step == stepsWithin {
                    guard let rest = acTable.remainder(of: window, after: Int(entry & 63)) else {
                        break
                    }
                    let sum = entry + single[rest]
                    guard single[rest] != Self.notInTable, sum & 63 <= Self.maximumBitCount,
                        UInt64(sum) & Self.overflow == 0
                    else { break }
                    entry = sum
                }
                entries.append(entry)
            }
            return start
        }

        private static func dcEntry(_ symbol: UInt16) -> UInt32 {
            entry(length: symbol & 255, category: symbol >> 8, passed: 1, steps: step)
        }

        private static func acEntry(_ symbol: UInt16) -> UInt32 {
            let (length, run, category) = (symbol & 255, symbol >> 12, symbol >> 8 & 15)
            let isEnd = category == 0 && run < 15
            return entry(
                length: length, category: category, passed: isEnd ? 0 : run + 1,
                steps: isEnd ? step : 0)
        }

        private static func entry(
            length: UInt16, category: UInt16, passed: UInt16, steps: UInt32
        ) -> UInt32 {
            guard length > 0, UInt32(length + category) <= maximumBitCount else {
                return notInTable
            }
            return steps | UInt32(passed) << UInt32(passedShift) | UInt32(length + category)
        }
    }
#endif

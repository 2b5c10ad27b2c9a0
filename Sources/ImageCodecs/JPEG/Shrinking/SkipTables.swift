// SPDX-License-Identifier: Apache-2.0

#if JPEG
/// Tables that skip several symbols of a block with one lookup, for finding block boundaries.
///
/// To skip a block, only the length of each symbol with its additional bits (T.81 F.1.2) and
/// the number of coefficients passed are needed. The next 12 bits select an entry, which sums
/// up all symbols whose codes are complete in them:
///
/// | bits | |
/// |---|---|
/// | 0–5 | bits consumed, at most ``maximumBitCount`` |
/// | 16–21 | coefficients passed, without EOB |
/// | 24 | ``missing``: the symbol is not in the table, and nothing is consumed |
/// | 27–28 | steps: one from the DC symbol to the AC symbols, one from those to the next block |
///
/// A lane keeps its position in the same layout, so that one addition updates all fields. There
/// the position has 16 bits, and the bits between the fields hold overflows: coefficients
/// beyond 63, if the block was full before the last symbol, and up to seven lookups that found
/// nothing.
struct SkipTables {
    static let positionMask: UInt64 = 0xFFFF
    static let passedShift: UInt64 = 16
    static let passedMask: UInt64 = 63 << passedShift
    /// More coefficients than a block has.
    static let overflow: UInt64 = 3 << 22
    static let missing: UInt64 = 1 << 24
    static let missingMask: UInt64 = 7 << 24
    static let stepShift: UInt64 = 27

    /// Three lookups fit into the 57 bits of one load: 22 + 22 + 12 for the third code.
    static let maximumBitCount: UInt32 = 22
    static let entryCount = 1 << HuffmanTable.lookaheadBits

    private static let notInTable = UInt32(missing)
    private static let step: UInt32 = 1 << UInt32(stepShift)

    /// The entries of all tables, ``entryCount`` each.
    private(set) var entries: [UInt32] = []

    /// Reserves memory.
    ///
    /// - Parameter count: the number of tables that will be added.
    init(count: Int) { entries.reserveCapacity(count * Self.entryCount) }

    /// Appends a table of AC symbols.
    ///
    /// - Returns: its offset in ``entries``.
    mutating func appendAC(_ acTable: HuffmanTable) -> Int {
        let single = acTable.lookup.map(Self.acEntry)
        return append(single, followedBy: single, acTable, stepsWithin: 0)
    }

    /// Appends a table of DC symbols, combined with the AC symbols that follow.
    ///
    /// - Returns: its offset in ``entries``.
    mutating func appendDC(_ acTable: HuffmanTable, ac: HuffmanTable) -> Int {
        append(
            acTable.lookup.map(Self.dcEntry), followedBy: ac.lookup.map(Self.acEntry), ac,
            stepsWithin: Self.step)
    }

    /// Appends a table, summing up symbols as long as their codes are complete in the lookup
    /// index.
    ///
    /// - Parameters:
    ///   - first: by lookup index, the entry of the first symbol alone.
    ///   - single: by lookup index, the entry of one AC symbol.
    ///   - acTable: the Huffman table of the AC symbols.
    ///   - stepsWithin: the steps of an entry that does not end the block.
    /// - Returns: the offset of the table in ``entries``.
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

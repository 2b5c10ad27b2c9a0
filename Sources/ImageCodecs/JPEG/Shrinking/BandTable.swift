// SPDX-License-Identifier: Apache-2.0

#if JPEG
/// Skips several AC symbols of a block with one lookup where their values are not needed.
///
/// That is the case after the last kept coefficient. The positions of nonzero coefficients are
/// still recorded, because a refinement scan has one correction bit for each of them (T.81
/// G.1.2.3). In a refinement scan these bits are interleaved with the symbols, so the table
/// applies only after the last coefficient that was already nonzero.
///
/// The next 12 bits select an entry, which sums up all symbols whose codes are complete in
/// them:
///
/// | bits | |
/// |---|---|
/// | 0–5 | bits consumed, at most ``maximumBitCount`` |
/// | 6–10 | coefficients passed, at most 16 |
/// | 11 | the last symbol ends the band |
/// | 16–31 | mask of the coefficients that are nonzero |
///
/// An entry is 0 if the code of the first symbol is too long, or if the symbol is an EOB run of
/// several blocks.
struct BandTable {
    let entries: [UInt32]

    /// Two lookups fit into the 57 bits of one load: 22 + 22 + 12 for the third code.
    static let maximumBitCount: UInt32 = 22
    private static let maximumPassed: UInt32 = 16
    private static let end: UInt32 = 1 << 11

    /// Below this number of blocks, building the table takes longer than it saves.
    static let minimumBlockCount = 2048

    /// - Parameters:
    ///   - acTable: the Huffman table of the scan.
    ///   - isFirst: whether this is the first scan of its band, in which a symbol is followed
    ///     by SSSS bits; in a refinement scan it is followed by a sign bit.
    init(_ acTable: HuffmanTable, isFirst: Bool) {
        let single = acTable.lookup.map { Self.entry($0, isFirst: isFirst) }
        entries = single.indices.map { window in
            var entry = single[window]
            while entry != 0, entry & Self.end == 0 {
                let (used, passed) = (Self.bitCount(entry), Self.passed(entry))
                guard let rest = acTable.remainder(of: window, after: used) else { break }
                let next = single[rest]
                guard next != 0,
                    UInt32(used + Self.bitCount(next)) <= Self.maximumBitCount,
                    UInt32(passed + Self.passed(next)) <= Self.maximumPassed
                else { break }
                let nonZero = next >> 16
                entry = entry + (next & 0xFFFF) | nonZero << UInt32(16 + passed)
            }
            return entry
        }
    }

    @inline(always)
    static func bitCount(_ entry: UInt32) -> Int { Int(entry & 63) }
    @inline(always)
    static func passed(_ entry: UInt32) -> Int { Int(entry &>> 6 & 31) }
    /// 1 if the last symbol is EOB, otherwise 0.
    @inline(always)
    static func isEnd(_ entry: UInt32) -> Int { Int(entry &>> 11 & 1) }
    @inline(always)
    static func nonZero(_ entry: UInt32) -> UInt64 { UInt64(entry &>> 16) }

    /// Returns the entry of one symbol, 0 if it is not in the table.
    private static func entry(_ symbol: UInt16, isFirst: Bool) -> UInt32 {
        let (length, run, category) = (symbol & 255, symbol >> 12, symbol >> 8 & 15)
        guard length > 0 else { return 0 }
        if category == 0 {
            guard run == 15 else { return run == 0 ? UInt32(length) | end : 0 }
            return UInt32(length) | maximumPassed << 6
        }
        let bitCount = UInt32(length + (isFirst ? category : 1))
        guard bitCount <= maximumBitCount else { return 0 }
        return bitCount | UInt32(run + 1) << 6 | 1 << UInt32(16 + run)
    }
}
#endif

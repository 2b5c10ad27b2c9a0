// SPDX-License-Identifier: Apache-2.0

#if JPEG
    /// Swallows several symbols of a block's band at a look, where their values are not wanted.
    ///
    /// That is so behind the last coefficient that is kept. Of the others it must still be known
    /// which are not 0, as a later scan has a bit for each of those. In a scan that refines, each
    /// coefficient on the way that is not 0 already has a bit of its own between the symbols; so
    /// the table is good only behind the last of those.
    ///
    /// The next 12 bits choose an entry that adds up all the symbols whose codes lie in them:
    ///
    /// | bits | |
    /// |---|---|
    /// | 0–5 | bits taken, at most ``maximumBitCount`` |
    /// | 6–10 | coefficients passed, at most 16 |
    /// | 11 | the last symbol ends the band |
    /// | 16–31 | which of those passed are not 0 |
    ///
    /// An entry is 0 if the first symbol is too long, or ends the band of several blocks.
    struct BandTable {
        let entries: [UInt32]

        /// Two looks fit into the 57 bits that one load brings: 22 + 22 + 12 for the third code.
        static let maximumBitCount: UInt32 = 22
        private static let maximumPassed: UInt32 = 16
        private static let end: UInt32 = 1 << 11

        /// Of bands of fewer blocks the table takes longer to make than it saves.
        static let leastBlockCount = 2048

        /// - Parameters:
        ///   - code: that of the symbols.
        ///   - isFirst: whether the scan is the first of its band, and symbols are followed by as
        ///     many bits as they say, not by a sign alone.
        init(_ code: HuffmanCode, isFirst: Bool) {
            let single = code.window.map { Self.entry($0, isFirst: isFirst) }
            entries = single.indices.map { window in
                var entry = single[window]
                while entry != 0, entry & Self.end == 0 {
                    let (used, passed) = (Self.bitCount(entry), Self.passed(entry))
                    guard let rest = code.window(window, behind: used) else { break }
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
        /// 1 if the last symbol ends the band, else 0.
        @inline(always)
        static func isEnd(_ entry: UInt32) -> Int { Int(entry &>> 11 & 1) }
        @inline(always)
        static func nonZero(_ entry: UInt32) -> UInt64 { UInt64(entry &>> 16) }

        /// The entry of one symbol.
        private static func entry(_ symbol: UInt16, isFirst: Bool) -> UInt32 {
            let (length, run, magnitude) = (symbol & 255, symbol >> 12, symbol >> 8 & 15)
            guard length > 0 else { return 0 }
            if magnitude == 0 {
                guard run == 15 else { return run == 0 ? UInt32(length) | end : 0 }
                return UInt32(length) | maximumPassed << 6
            }
            let bitCount = UInt32(length + (isFirst ? magnitude : 1))
            guard bitCount <= maximumBitCount else { return 0 }
            return bitCount | UInt32(run + 1) << 6 | 1 << UInt32(16 + run)
        }
    }
#endif

// SPDX-License-Identifier: Apache-2.0

#if JPEG
/// Decodes the first scan of a band (T.81 G.1.2.2) of which all, or nearly all, coefficients
/// are kept.
///
/// Its blocks have few symbols, and their number is unpredictable. Therefore the end of a block
/// is not a branch: each symbol adds to the zigzag index and to the block number.
struct ShortBand {
    /// By the next 12 bits: the effect of the first symbol.
    ///
    /// | bits | |
    /// |---|---|
    /// | 0–4 | bits consumed; 0 if the symbol and its additional bits are not all in the 12 bits |
    /// | 5 | the symbol has a coefficient |
    /// | 6–12 | coefficients passed, including this one; 64 at the end of the band |
    /// | 13–15 | blocks that end if the symbol ends the band: the EOB run |
    /// | 16–31 | the coefficient |
    private let entries: [UInt32]
    private let acTable: HuffmanTable
    private let band: ClosedRange<Int>
    private let lowBit: Int
    /// By zigzag index + 1: the index of a coefficient among the kept ones, or -1.
    private let slots: [Int]

    init(_ acTable: HuffmanTable, _ band: ClosedRange<Int>, lowBit: Int, keptIndices: [Int]) {
        self.acTable = acTable
        self.band = band
        self.lowBit = lowBit
        // A symbol passes up to 64 coefficients, starting at index 63.
        slots = (0..<128).map { (1...64).contains($0) ? keptIndices[$0 - 1] : -1 }
        entries = acTable.lookup.enumerated().map { Self.entry($0, $1) }
    }

    private static func entry(_ window: Int, _ symbol: UInt16) -> UInt32 {
        let (length, run, category) = (
            Int(symbol & 255), Int(symbol >> 12), Int(symbol >> 8 & 15)
        )
        let isEnd = category == 0 && run < 15
        let bitCount = length + (isEnd ? run : category)
        guard length > 0, bitCount <= HuffmanTable.lookaheadBits else { return 0 }
        let rest = UInt64(window) << UInt64(64 - HuffmanTable.lookaheadBits + length)
        if isEnd {
            let blocks = 1 << run + BitField.receive(rest, run)
            return blocks < 8 ? UInt32(blocks << 13 | 64 << 6 | bitCount) : 0
        }
        let value = BitField.extend(rest, category)
        let isValue = category > 0 ? 1 : 0
        return UInt32(truncatingIfNeeded: value) << 16
            | UInt32(1 << 13 | (run + 1) << 6 | isValue << 5 | bitCount)
    }

    /// The position of the next symbol.
    private struct State {
        var zigzag: Int
        var block: Int
        /// The bits that follow the consumed ones.
        var bits: UInt64
        var used = 0
        /// Nonzero if a coefficient has an index above 63.
        var overrun = 0
    }

    @unsafe private struct Target {
        let coefficients: UnsafeMutablePointer<Int16>
        let nonZero: UnsafeMutablePointer<UInt64>
        let size: Int
        let slots: UnsafePointer<Int>
        /// Receives the coefficients that are not kept.
        let discarded: UnsafeMutablePointer<Int16>
    }

    /// Decodes blocks of a row.
    ///
    /// - Parameters:
    ///   - blocks: the range of block numbers in the component.
    ///   - cursor: the position in the data.
    ///   - coefficients: the coefficients of the component.
    ///   - nonZero: by block, the mask to which nonzero coefficients are added.
    ///   - size: the number of kept coefficients of a block.
    /// - Returns: the number of the next block, possibly of a later row; `nil` if the data is
    ///   invalid or incomplete.
    @unsafe func read(
        _ blocks: Range<Int>, _ cursor: inout BitCursor,
        _ coefficients: UnsafeMutablePointer<Int16>, _ nonZero: UnsafeMutablePointer<UInt64>,
        size: Int
    ) -> Int? {
        var discarded: Int16 = 0
        return unsafe withUnsafeMutablePointer(to: &discarded) { discarded in
            unsafe slots.withUnsafeBufferPointer { slots in
                guard let slots = slots.baseAddress else { return nil }
                return unsafe read(
                    blocks, &cursor,
                    Target(
                        coefficients: coefficients, nonZero: nonZero, size: size,
                        slots: slots, discarded: discarded))
            }
        }
    }

    @unsafe private func read(
        _ blocks: Range<Int>, _ cursor: inout BitCursor, _ target: Target
    ) -> Int? {
        unsafe entries.withUnsafeBufferPointer { entries in
            guard let entries = entries.baseAddress else { return nil }
            return unsafe read(blocks, &cursor, entries, target)
        }
    }

    @unsafe private func read(
        _ blocks: Range<Int>, _ cursor: inout BitCursor, _ entries: UnsafePointer<UInt32>,
        _ target: Target
    ) -> Int? {
        var at = cursor
        defer { cursor = at }
        var state = State(
            zigzag: band.lowerBound, block: blocks.lowerBound, bits: at.peek())
        while state.block < blocks.upperBound {
            // Loaded early and used after the next two symbols, so that its latency is hidden.
            let fresh = at.peek()
            state.used = 0
            guard unsafe decodeNext(&state, at, entries, target) else { return nil }
            if state.block < blocks.upperBound {
                guard unsafe decodeNext(&state, at, entries, target) else { return nil }
            }
            at.skip(state.used)
            guard at.isInside else { return nil }
            // After two symbols, enough bits are left for two more.
            state.bits =
                _fastPath(state.used <= 2 * HuffmanTable.lookaheadBits)
                ? fresh &<< UInt64(truncatingIfNeeded: state.used) : at.peek()
        }
        return state.overrun == 0 ? state.block : nil
    }

    /// Decodes the next symbol.
    ///
    /// - Returns: whether its code is valid.
    @unsafe @inline(__always) private func decodeNext(
        _ state: inout State, _ at: BitCursor, _ entries: UnsafePointer<UInt32>,
        _ target: Target
    ) -> Bool {
        let entry = unsafe entries[BitWindow.index(state.bits)]
        guard _fastPath(entry != 0) else { return unsafe decodeLong(&state, at, target) }
        let count = Int(entry & 31)
        state.bits &<<= UInt64(truncatingIfNeeded: count)
        state.used &+= count
        unsafe apply(
            &state, passed: Int(entry &>> 6 & 127), isValue: Int(entry &>> 5 & 1),
            value: Int(Int32(bitPattern: entry) &>> 16), blocks: Int(entry &>> 13 & 7), target)
        return true
    }

    @unsafe @inline(__always) private func apply(
        _ state: inout State, passed: Int, isValue: Int, value: Int, blocks: Int,
        _ target: Target
    ) {
        let zigzag = state.zigzag &+ passed
        unsafe target.nonZero[state.block] |=
            UInt64(truncatingIfNeeded: isValue) &<< UInt64(truncatingIfNeeded: zigzag &- 1)
        let slot = unsafe target.slots[zigzag]
        let block = unsafe target.coefficients + state.block &* target.size
        unsafe (slot < 0 ? target.discarded : block + slot).pointee = Int16(
            truncatingIfNeeded: value &<< lowBit)
        state.overrun |= (zigzag &- 1) &>> 6 & isValue
        let isEnd = (band.upperBound &- zigzag) &>> 63
        state.block &+= blocks & isEnd
        state.zigzag = zigzag &+ (band.lowerBound &- zigzag) & isEnd
    }

    /// Decodes a symbol that exceeds 12 bits with its additional bits, or that ends many
    /// blocks.
    @unsafe @inline(never) private func decodeLong(
        _ state: inout State, _ at: BitCursor, _ target: Target
    ) -> Bool {
        let next = at.peek(after: state.used)
        guard let (symbol, length) = acTable.decode(Int(next >> 48)) else { return false }
        let (run, category) = (symbol >> 4, symbol & 15)
        let rest = next << UInt64(length)
        if category == 0 && run < 15 {
            state.used += length + run
            state.block += 1 << run + BitField.receive(rest, run)
            state.zigzag = band.lowerBound
        } else {
            state.used += length + category
            unsafe apply(
                &state, passed: run + 1, isValue: category > 0 ? 1 : 0,
                value: BitField.extend(rest, category), blocks: 1, target)
        }
        state.bits = at.peek(after: state.used)
        return true
    }
}
#endif

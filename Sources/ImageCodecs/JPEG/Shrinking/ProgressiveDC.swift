// SPDX-License-Identifier: Apache-2.0

#if JPEG
/// Decodes a scan of DC coefficients: the first scan, or a refinement scan (T.81 G.1.2.1).
struct ProgressiveDC {
    private let isFirst: Bool
    private let lowBit: Int
    private let dcTables: [HuffmanTable]
    private let mcusAcross: Int
    /// The blocks of an MCU (T.81 A.2).
    private let mcuBlocks: [MCUBlock]
    /// By scan component, `SkipTables.entryCount` each.
    private let entries: [ValueEntry]
    /// The table of two blocks that are paired.
    private let pairs: [PairEntry]

    /// A block of the first MCU, and the index of its DC coefficient.
    private struct MCUBlock {
        var component: Int
        var index: Int
        /// The distance to the same block of the next MCU.
        var step: Int
        /// The distance to the same block of the next row of MCUs.
        var rowStep: Int
        /// Whether the next block belongs to another component with the same Huffman table.
        var isPaired = false
    }

    /// The decoding state of a block of the current MCU.
    @unsafe private struct DCBlock {
        var target: UnsafeMutablePointer<Int16>
        let step: Int
        let entries: UnsafePointer<ValueEntry>?
        let pairs: UnsafePointer<PairEntry>?
        /// The DC predictor of the component.
        let predictor: UnsafeMutablePointer<Int>?

        /// Stores the coefficient and advances to the next MCU.
        @inline(__always)
        mutating func set(_ difference: Int, _ lowBit: Int) {
            guard let predictor = unsafe predictor else { return }
            unsafe predictor.pointee &+= difference
            unsafe target.pointee = Int16(truncatingIfNeeded: predictor.pointee &<< lowBit)
            unsafe target += step
        }
    }

    /// Two differences whose codes and additional bits are in 12 bits.
    private struct PairEntry {
        static let none = PairEntry(bits: 0)
        /// Bits 0–4: the bits consumed; then 13 bits for each difference.
        private let bits: UInt32

        private init(bits: UInt32) { self.bits = bits }

        init(_ first: ValueEntry, _ second: ValueEntry) {
            let count = UInt32(first.bitCount + second.bitCount)
            let high = UInt32(truncatingIfNeeded: second.value) << 18
            bits = high | (UInt32(truncatingIfNeeded: first.value) & 0x1FFF) << 5 | count
        }

        var exists: Bool { @inline(always) get { bits != 0 } }
        var bitCount: Int { @inline(always) get { Int(bits & 31) } }
        var first: Int { @inline(always) get { Int(Int32(bitPattern: bits &<< 14) &>> 19) } }
        var second: Int { @inline(always) get { Int(Int32(bitPattern: bits) &>> 18) } }
    }

    /// Creates the tables.
    ///
    /// - Parameters:
    ///   - scan: the scan.
    ///   - image: the layout of the coefficients.
    ///   - grid: the division of the scan into MCUs.
    ///   - makesPairs: whether there are enough blocks to outweigh the cost of a table of
    ///     pairs.
    init(
        _ scan: JPEGScan, _ image: ProgressiveImage, _ grid: JPEGScan.Grid,
        makesPairs: Bool
    ) {
        isFirst = scan.highBit == 0
        lowBit = scan.lowBit
        mcusAcross = grid.mcusAcross
        let dcTables = isFirst ? scan.components.compactMap(\.dcTable) : []
        self.dcTables = dcTables
        var mcuBlocks: [MCUBlock] = []
        for (index, blocks) in grid.blocks.enumerated() {
            let component = image.components[scan.components[index].frameIndex]
            let size = component.blockSide * component.blockSide
            for row in 0..<blocks.down {
                for column in 0..<blocks.across {
                    let block = row * component.blocksAcross + column
                    mcuBlocks.append(
                        MCUBlock(
                            component: index, index: component.start + block * size,
                            step: blocks.across * size,
                            rowStep: blocks.down * component.blocksAcross * size))
                }
            }
        }
        // One array for all tables.
        entries = dcTables.flatMap { table in
            table.lookup.enumerated().map { ValueEntry($0, $1, isAC: false) }
        }
        // Only for chroma, whose codes are short. Measured: luma takes 8 to 20 % longer with
        // pairs, because two of its differences often exceed 12 bits.
        if makesPairs, dcTables.count == scan.components.count,
            let first = mcuBlocks.indices.dropLast().last(where: {
                mcuBlocks[$0].component > 0
                    && mcuBlocks[$0].component != mcuBlocks[$0 + 1].component
                    && dcTables[mcuBlocks[$0].component]
                        == dcTables[mcuBlocks[$0 + 1].component]
            })
        {
            mcuBlocks[first].isPaired = true
            pairs = Self.pairs(
                dcTables[mcuBlocks[first].component],
                entries[(mcuBlocks[first].component * SkipTables.entryCount)...])
        } else {
            // Never read.
            pairs = [.none]
        }
        self.mcuBlocks = mcuBlocks
    }

    private static func pairs(
        _ table: HuffmanTable, _ entries: ArraySlice<ValueEntry>
    ) -> [PairEntry] {
        (0..<SkipTables.entryCount).map { window in
            let first = entries[entries.startIndex + window]
            guard !first.isOpen, let rest = table.remainder(of: window, after: first.bitCount)
            else {
                return .none
            }
            let second = entries[entries.startIndex + rest]
            guard !second.isOpen,
                first.bitCount + second.bitCount <= HuffmanTable.lookaheadBits
            else { return .none }
            return PairEntry(first, second)
        }
    }

    /// Decodes the blocks of some MCUs.
    ///
    /// - Returns: whether the data is complete and valid.
    func read(
        _ mcus: Range<Int>, _ cursor: inout BitCursor,
        into image: inout ProgressiveImage
    ) -> Bool {
        var predictors = [Int](repeating: 0, count: dcTables.count)
        return unsafe image.coefficients.withUnsafeMutableBufferPointer { target in
            unsafe predictors.withUnsafeMutableBufferPointer { predictors in
                guard let target = target.baseAddress else { return false }
                return unsafe withBlocks(target, predictors.baseAddress) { blocks in
                    unsafe decode(mcus, &cursor, &blocks, target)
                }
            }
        }
    }

    @unsafe private func decode(
        _ mcus: Range<Int>, _ cursor: inout BitCursor, _ blocks: inout [DCBlock],
        _ target: UnsafeMutablePointer<Int16>
    ) -> Bool {
        unsafe blocks.withUnsafeMutableBufferPointer { blocks in
            unsafe isFirst
                ? readFirst(mcus, &cursor, blocks, target)
                : refine(mcus, &cursor, blocks, target)
        }
    }

    /// Calls `body` with the blocks of an MCU.
    ///
    /// - Parameters:
    ///   - target: the coefficients.
    ///   - predictors: the DC predictor of each scan component; `nil` in a refinement scan.
    ///   - body: what decodes the blocks; it must not let them escape.
    /// - Returns: the result of `body`.
    @unsafe private func withBlocks(
        _ target: UnsafeMutablePointer<Int16>, _ predictors: UnsafeMutablePointer<Int>?,
        _ body: (inout [DCBlock]) -> Bool
    ) -> Bool {
        unsafe entries.withUnsafeBufferPointer { entries in
            unsafe pairs.withUnsafeBufferPointer { pairs in
                var blocks = unsafe mcuBlocks.map { block in
                    unsafe DCBlock(
                        target: target, step: block.step,
                        entries: entries.baseAddress?
                            .advanced(by: block.component * SkipTables.entryCount),
                        pairs: block.isPaired ? pairs.baseAddress : nil,
                        predictor: predictors?.advanced(by: block.component))
                }
                return unsafe body(&blocks)
            }
        }
    }

    /// Moves the blocks to an MCU, the first of a row or of a segment.
    ///
    /// - Returns: the number of MCUs that are left in the row.
    @unsafe private func move(
        _ dcBlocks: UnsafeMutableBufferPointer<DCBlock>, to mcu: Int,
        _ target: UnsafeMutablePointer<Int16>
    ) -> Int {
        let (y, x) = mcu.quotientAndRemainder(dividingBy: mcusAcross)
        for (index, mcuBlock) in mcuBlocks.enumerated() {
            unsafe dcBlocks[index].target =
                target + mcuBlock.index + x * mcuBlock.step + y * mcuBlock.rowStep
        }
        return mcusAcross - x
    }

    @unsafe private func readFirst(
        _ mcus: Range<Int>, _ cursor: inout BitCursor,
        _ dcBlocks: UnsafeMutableBufferPointer<DCBlock>, _ target: UnsafeMutablePointer<Int16>
    ) -> Bool {
        guard let firstBlock = dcBlocks.baseAddress else { return false }
        let endOfBlocks = unsafe firstBlock + dcBlocks.count
        var at = cursor
        defer { cursor = at }
        var bits = at.peek()
        var left = 0
        for mcu in mcus {
            if left == 0 { left = unsafe move(dcBlocks, to: mcu, target) }
            left &-= 1
            var block = unsafe firstBlock
            while unsafe block < endOfBlocks {
                // Loaded early and used after the next two lookups, so that its latency is
                // hidden.
                let fresh = at.peek()
                var used = 0
                guard unsafe decodeNext(&block, firstBlock, at, &used, &bits) else {
                    return false
                }
                if unsafe block < endOfBlocks {
                    guard unsafe decodeNext(&block, firstBlock, at, &used, &bits) else {
                        return false
                    }
                }
                at.skip(used)
                // After two lookups, enough bits are left for two more.
                bits =
                    _fastPath(used <= 2 * HuffmanTable.lookaheadBits)
                    ? fresh &<< UInt64(truncatingIfNeeded: used) : at.peek()
            }
            guard at.isInside else { return false }
        }
        return true
    }

    /// Decodes the next difference or two.
    ///
    /// - Returns: whether the code is valid.
    @unsafe @inline(__always) private func decodeNext(
        _ block: inout UnsafeMutablePointer<DCBlock>,
        _ firstBlock: UnsafeMutablePointer<DCBlock>,
        _ at: BitCursor, _ used: inout Int, _ bits: inout UInt64
    ) -> Bool {
        let window = BitWindow.index(bits)
        if let pairs = unsafe block.pointee.pairs {
            let pair = unsafe pairs[window]
            if _fastPath(pair.exists) {
                bits &<<= UInt64(truncatingIfNeeded: pair.bitCount)
                used &+= pair.bitCount
                unsafe block.pointee.set(pair.first, lowBit)
                unsafe block[1].set(pair.second, lowBit)
                unsafe block += 2
                return true
            }
        }
        guard let entries = unsafe block.pointee.entries else { return false }
        let entry = unsafe entries[window]
        if _slowPath(entry.isOpen) {
            let table = dcTables[mcuBlocks[unsafe block - firstBlock].component]
            guard let (count, value) = Self.difference(entry, table, at.peek(after: used))
            else {
                return false
            }
            used &+= count
            bits = at.peek(after: used)
            unsafe block.pointee.set(value, lowBit)
        } else {
            bits &<<= UInt64(truncatingIfNeeded: entry.bitCount)
            used &+= entry.bitCount
            unsafe block.pointee.set(entry.value, lowBit)
        }
        unsafe block += 1
        return true
    }

    /// Decodes a symbol whose value is not in the table; `nil` if the code is invalid.
    @inline(never)
    private static func difference(
        _ entry: ValueEntry, _ table: HuffmanTable, _ bits: UInt64
    ) -> (count: Int, value: Int)? {
        var entry = entry
        if entry.isLong {
            guard let (symbol, length) = table.decode(Int(bits >> 48)) else { return nil }
            entry = ValueEntry(symbol: symbol, length: length, isAC: false)
        }
        return (entry.bitCount, entry.value(bits))
    }

    /// Decodes one more bit of each DC coefficient.
    @unsafe private func refine(
        _ mcus: Range<Int>, _ cursor: inout BitCursor,
        _ dcBlocks: UnsafeMutableBufferPointer<DCBlock>, _ target: UnsafeMutablePointer<Int16>
    ) -> Bool {
        guard let firstBlock = dcBlocks.baseAddress else { return false }
        let endOfBlocks = unsafe firstBlock + dcBlocks.count
        var left = 0
        for mcu in mcus {
            if left == 0 { left = unsafe move(dcBlocks, to: mcu, target) }
            left &-= 1
            // An MCU has at most 10 blocks (T.81 B.2.3).
            var bits = cursor.peek()
            var block = unsafe firstBlock
            while unsafe block < endOfBlocks {
                unsafe block.pointee.target.pointee |= Int16(
                    truncatingIfNeeded: Int(bits &>> 63) &<< lowBit)
                unsafe block.pointee.target += block.pointee.step
                bits &<<= 1
                unsafe block += 1
            }
            cursor.skip(dcBlocks.count)
            guard cursor.isInside else { return false }
        }
        return true
    }
}
#endif

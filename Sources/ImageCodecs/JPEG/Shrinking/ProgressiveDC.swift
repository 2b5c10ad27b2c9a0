// SPDX-License-Identifier: Apache-2.0

#if JPEG
    /// Reads a scan that brings the first coefficient of each block, or one more bit of it.
    struct ProgressiveDC {
        private let isFirst: Bool
        private let lowBit: Int
        private let dcTables: [HuffmanTable]
        private let mcusAcross: Int
        /// The blocks of a mcu.
        private let mcuBlocks: [MCUBlock]
        /// By component, `SkipTables.entryCount` each.
        private let entries: [ValueEntry]
        /// Of the components of two mcuBlocks that are paired.
        private let pairs: [PairEntry]

        /// A block of the first mcu, and where its first coefficient is.
        private struct MCUBlock {
            var component: Int
            var index: Int
            /// How much higher the index is for the next mcu.
            var step: Int
            /// How much higher it is for the first mcu of a row than for that of the row above.
            var rowStep: Int
            /// Whether the next mcuBlock is of another component, and its differences have the same table.
            var isPaired = false
        }

        /// A block of the mcu that is read, with all that reading it takes.
        @unsafe private struct DCBlock {
            var target: UnsafeMutablePointer<Int16>
            let step: Int
            let entries: UnsafePointer<ValueEntry>?
            let pairs: UnsafePointer<PairEntry>?
            /// What was read last of the same component.
            let predictor: UnsafeMutablePointer<Int>?

            /// Sets the coefficient, and goes to the block of the next mcu.
            @inline(__always)
            mutating func set(_ difference: Int, _ lowBit: Int) {
                guard let predictor = unsafe predictor else { return }
                unsafe predictor.pointee &+= difference
                unsafe target.pointee = Int16(truncatingIfNeeded: predictor.pointee &<< lowBit)
                unsafe target += step
            }
        }

        /// Two differences that lie in 12 bits.
        private struct PairEntry {
            static let none = PairEntry(bits: 0)
            /// How many of the 12 they take; then each in 13.
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

        /// - Parameters:
        ///   - scan: what is read.
        ///   - picture: where it goes.
        ///   - grid: how the scan cuts the picture into mcus.
        ///   - makesPairs: whether there are so many blocks that a table for two is worth its making.
        init(
            _ scan: JPEGScan, _ picture: ProgressivePicture, _ grid: JPEGScan.Grid,
            makesPairs: Bool
        ) {
            isFirst = scan.highBit == 0
            lowBit = scan.lowBit
            mcusAcross = grid.mcusAcross
            let dcTables = isFirst ? scan.components.compactMap(\.dcTable) : []
            self.dcTables = dcTables
            var mcuBlocks: [MCUBlock] = []
            for (index, blocks) in grid.blocks.enumerated() {
                let component = picture.components[scan.components[index].frameIndex]
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
            // The tables side by side, as several arrays cannot be held open at once.
            entries = dcTables.flatMap { table in
                table.lookup.enumerated().map { ValueEntry($0, $1, isAC: false) }
            }
            // Only those of the colours, which are short. Measured: with those of brightness it takes
            // 8 to 20 % longer, as often two of them do not lie in 12 bits.
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
                // Nobody looks into it.
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
            into picture: inout ProgressivePicture
        ) -> Bool {
            var predictors = [Int](repeating: 0, count: dcTables.count)
            return unsafe picture.coefficients.withUnsafeMutableBufferPointer { target in
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

        /// Sets the dcBlocks to the mcuBlocks of a mcu, which is the first of a row or of a segment.
        ///
        /// - Returns: how many mcus of the row come from there on.
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
                    // Loaded here and looked at behind the next two looks, so that nobody waits
                    // for it.
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
                    // What two looks take leaves enough for two more.
                    bits =
                        _fastPath(used <= 2 * HuffmanTable.lookaheadBits)
                        ? fresh &<< UInt64(truncatingIfNeeded: used) : at.peek()
                }
                guard at.isInside else { return false }
            }
            return true
        }

        /// Reads the next difference or two.
        ///
        /// - Returns: whether a table begins like that.
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

        /// A symbol whose value is not in the table; `nil` if no table begins like that.
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

        /// One more bit for each block's first coefficient.
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
                // A mcu has at most 10 blocks.
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

// SPDX-License-Identifier: Apache-2.0

#if JPEG
    /// Reads the low coefficients of the blocks of a sequential scan, whose mcuBlocks are known.
    ///
    /// No block has to wait for the one before it, so the processor works on several at a time;
    /// and there is hardly a branch to mispredict: for 2 × 2 coefficients a fixed number of symbols
    /// is read, whether they still belong to the block or not, and what is too high a coefficient
    /// goes to a place where nobody looks.
    struct LowFrequencyReader {
        /// A block of a mcu: which component of the scan it belongs to, and where its coefficients go.
        struct MCUBlock {
            var component: Int
            /// Where the first of them goes in the buffer, for the first mcu of a row.
            var start: Int
            /// How much further it goes from one mcu to the next, as in all mcuBlocks of a component.
            var step: Int
            /// The position in zigzag order of the last coefficient that is wanted.
            var lastKept: Int
        }

        /// Four symbols behind the last coefficient can pass 64 coefficients each.
        private static let slotCount = 384

        private let scanTables: ScanTables
        private let mcuBlocks: [MCUBlock]
        private let blocksByComponent: [[MCUBlock]]
        private let entries: [ValueEntry]
        /// By component: where the table of first symbols begins, and that of the others if there is one.
        private let tables: [(first: Int, other: Int)]
        /// By component and place in zigzag order: how far behind the first coefficient it goes.
        private let slots: [Int32]
        /// By component: the value of the last block's first coefficient.
        private var predictors: [Int16]
        /// Blocks that have been found, in all rows so far.
        private var blockCount = 0
        private var run = BlockIndex.Run(
            start: 0, blockCount: 0, chunk: 0, firstEnd: 0, isRestart: false)
        private var row = Row()
        /// Where each block of the row begins and the last one ends, in bits from the first of them.
        private var positions: [UInt32] = []

        /// The mcus that have been found.
        private struct Row {
            /// In bits from the start of the data.
            var start = 0
            var mcuCount = 0
            /// Units with which predictors begin anew.
            var restarts: [Int] = []
        }

        /// - Parameters:
        ///   - scanTables: the scanTables of the scan's parts.
        ///   - mcuBlocks: the blocks of a mcu, in order.
        ///   - rows: by component, how coefficients are kept.
        init(_ scanTables: ScanTables, mcuBlocks: [MCUBlock], rows: [LowFrequencyRow]) {
            self.scanTables = scanTables
            self.mcuBlocks = mcuBlocks
            blocksByComponent = rows.indices.map { component in
                mcuBlocks.filter { $0.component == component }
            }
            predictors = Array(repeating: 0, count: rows.count)
            var entries: [ValueEntry] = []
            var tables: [(first: Int, other: Int)] = []
            for component in rows.indices {
                // Components mostly chunk their scanTables.
                let (dc, ac) = (scanTables.dc[component], scanTables.ac[component])
                let isWanted = rows[component].lastKept > 0
                let twin = (0..<component).first {
                    scanTables.dc[$0] == dc && scanTables.ac[$0] == ac
                        && (rows[$0].lastKept > 0) == isWanted
                }
                tables.append(
                    twin.map { tables[$0] } ?? (entries.count, entries.count + dc.lookup.count))
                guard twin == nil else { continue }
                entries += dc.lookup.enumerated().map { ValueEntry($0, $1, isAC: false) }
                guard isWanted else { continue }
                entries += ac.lookup.enumerated().map { ValueEntry($0, $1, isAC: true) }
            }
            self.entries = entries
            self.tables = tables
            slots = rows.indices.flatMap { component in
                (0..<Self.slotCount).map { Int32(rows[component].offset(ofZigzag: $0)) }
            }
        }

        /// Where the next row begins, in bits from the start of the data, or before that.
        var position: Int { run.start }

        /// Finds the next mcus of the scan, which are a row.
        ///
        /// - Parameters:
        ///   - mcuCount: how many they are.
        ///   - index: its runs are taken out as they are begun.
        /// - Returns: whether they are all there.
        mutating func findRow(mcuCount: Int, _ index: inout BlockIndex) -> Bool {
            let count = mcuCount * mcuBlocks.count
            guard index.blockCount - blockCount >= count else { return false }
            if positions.count <= count { positions = Array(repeating: 0, count: count + 1) }
            if run.blockCount == 0 { run = index.takeRun() }
            row = Row(start: run.start, mcuCount: mcuCount)
            var done = 0
            while done < count {
                if run.blockCount == 0 { run = index.takeRun() }
                if run.isRestart { row.restarts.append(done / mcuBlocks.count) }
                let next = min(run.blockCount, count - done)
                findPositions(done, blockCount: next, row.start, index.ends(of: run.chunk))
                done += next
            }
            positions[count] = UInt32(truncatingIfNeeded: run.start - row.start)
            blockCount += count
            return true
        }

        /// Reads the mcus that have been found into the buffer, which is all zeros.
        ///
        /// - Parameters:
        ///   - data: with their bytes in the window.
        ///   - coefficients: takes those that are wanted.
        mutating func readRow(_ data: EntropyCodedData, into coefficients: inout [Int16]) {
            let first = row.start / 8 - data.window.lowerBound
            unsafe data.bytes.withUnsafeBufferPointer { bytes in
                unsafe coefficients.withUnsafeMutableBufferPointer { target in
                    guard let bytes = bytes.baseAddress, let target = target.baseAddress else {
                        return
                    }
                    for block in mcuBlocks.indices { unsafe read(block, bytes + first, target) }
                }
            }
            var mcu = 0
            for restart in row.restarts + [row.mcuCount] {
                addPredictors(mcu..<restart, &coefficients)
                mcu = restart
                guard mcu < row.mcuCount else { break }
                for component in predictors.indices { predictors[component] = 0 }
            }
        }

        /// Finds where the next blocks of the run begin.
        ///
        /// - Parameters:
        ///   - first: the number of the first of them in the row.
        ///   - blockCount: how many.
        ///   - start: where the row begins.
        ///   - ends: where blocks of the run's chunk end.
        private mutating func findPositions(
            _ first: Int, blockCount: Int, _ start: Int, _ ends: [UInt16]
        ) {
            let low = UInt16(truncatingIfNeeded: start)
            let note = run.firstEnd
            let before = UInt32(truncatingIfNeeded: run.start - start)
            precondition(
                ends.count >= note + blockCount && positions.count >= first + blockCount,
                "a run is too short")
            let behind = unsafe ends.withUnsafeBufferPointer { ends in
                unsafe positions.withUnsafeMutableBufferPointer { positions in
                    guard let ends = ends.baseAddress, let positions = positions.baseAddress else {
                        return before
                    }
                    let row = unsafe positions + first
                    var position = before
                    // From one end to the next: a length that does not wait for the position.
                    var begin = low &+ UInt16(truncatingIfNeeded: position)
                    var block = 0
                    while block < blockCount {
                        unsafe row[block] = position
                        let end = unsafe ends[note &+ block]
                        position &+= UInt32(end &- begin)
                        begin = end
                        block &+= 1
                    }
                    return position
                }
            }
            run.start = start + Int(behind)
            run.firstEnd += blockCount
            run.blockCount -= blockCount
            run.isRestart = false
        }

        /// Decodes one block of each MCU of the row.
        ///
        /// - Parameters:
        ///   - index: the index of the block in the MCU.
        ///   - data: the byte in which the row begins.
        ///   - target: the buffer of coefficients.
        @unsafe private func read(
            _ index: Int, _ data: UnsafePointer<UInt8>, _ target: UnsafeMutablePointer<Int16>
        ) {
            let block = mcuBlocks[index]
            unsafe positions.withUnsafeBufferPointer { positions in
                guard let positions = positions.baseAddress else { return }
                unsafe withReader(of: block, data) { reader in
                    unsafe reader.read(
                        row.mcuCount, positions + index, mcuBlocks.count, target + block.start,
                        block.step)
                }
            }
        }

        /// Calls `body` with a reader of a block of the MCUs; it must not outlive the call.
        @unsafe private func withReader(
            of block: MCUBlock, _ data: UnsafePointer<UInt8>, _ body: (BlockReader) -> Void
        ) {
            let table = tables[block.component]
            unsafe entries.withUnsafeBufferPointer { entries in
                unsafe slots.withUnsafeBufferPointer { slots in
                    guard let slots = slots.baseAddress, let entries = entries.baseAddress else {
                        return
                    }
                    unsafe body(
                        BlockReader(
                            data: data, bit: row.start & 7, firstEntries: entries + table.first,
                            otherEntries: entries + table.other,
                            slots: slots + block.component * Self.slotCount,
                            lastKept: block.lastKept, dcTable: scanTables.dc[block.component],
                            acTable: scanTables.ac[block.component]))
                }
            }
        }

        /// First coefficients come as differences to that of the block before.
        private mutating func addPredictors(
            _ mcus: Range<Int>, _ coefficients: inout [Int16]
        ) {
            for component in predictors.indices {
                let predictor = predictors[component]
                predictors[component] = unsafe coefficients.withUnsafeMutableBufferPointer {
                    target in
                    unsafe blocksByComponent[component].withUnsafeBufferPointer { own in
                        guard let target = target.baseAddress, let own0 = own.baseAddress else {
                            return predictor
                        }
                        // Numbers that the compiler knows make straight code of the inner loop.
                        switch own.count {
                        case 1: return unsafe Self.sum(predictor, mcus, own0, 1, target)
                        case 2: return unsafe Self.sum(predictor, mcus, own0, 2, target)
                        case 4: return unsafe Self.sum(predictor, mcus, own0, 4, target)
                        default:
                            return unsafe Self.sum(predictor, mcus, own0, own.count, target)
                        }
                    }
                }
            }
        }

        /// Adds up the differences of a component, of which a mcu has `placeCount`.
        @unsafe @inline(always)
        private static func sum(
            _ predictor: Int16, _ mcus: Range<Int>, _ blocks: UnsafePointer<MCUBlock>,
            _ blockCount: Int, _ target: UnsafeMutablePointer<Int16>
        ) -> Int16 {
            var sum = predictor
            let step = unsafe blocks.pointee.step
            var next = unsafe target + mcus.lowerBound * step
            for _ in 0..<mcus.count {
                var block = 0
                while block < blockCount {
                    let coefficient = unsafe next + blocks[block].start
                    unsafe sum &+= coefficient.pointee
                    unsafe coefficient.pointee = sum
                    block &+= 1
                }
                unsafe next += step
            }
            return sum
        }
    }

    /// By the next 12 bits: a symbol and the value behind it.
    ///
    /// | bits | |
    /// |---|---|
    /// | 0–4 | length of the code and of the value behind it, 1 to 27; 0 for longer scanTables |
    /// | 5–8 | bits of the value, if they are not all among the 12; 15 for longer scanTables |
    /// | 9–15 | coefficients passed, this one counted; 64 at the end of the block |
    /// | 16–31 | the value, if its bits are among the 12 |
    struct ValueEntry {
        private let bits: UInt32

        /// - Parameters:
        ///   - window: the next 12 bits.
        ///   - entry: that of ``HuffmanTable/window``.
        ///   - isAC: whether it stands for a symbol behind a block's first.
        init(_ window: Int, _ entry: UInt16, isAC: Bool) {
            let length = Int(entry & 255)
            guard length > 0 else {
                bits = 15 << 5
                return
            }
            let entry = ValueEntry(symbol: Int(entry >> 8), length: length, isAC: isAC)
            guard entry.bitCount <= HuffmanTable.lookaheadBits else {
                bits = entry.bits
                return
            }
            let value = entry.value(UInt64(window) << UInt64(64 - HuffmanTable.lookaheadBits))
            bits = entry.bits & ~(15 << 5) | UInt32(UInt16(bitPattern: Int16(value))) << 16
        }

        /// A symbol whose value is still to be read.
        init(symbol: Int, length: Int, isAC: Bool) {
            let category = symbol & 15
            // A run of 16 is a coefficient of 0 behind 15 others.
            let isValue = category > 0 || symbol == 0xF0
            let passed = isAC ? isValue ? symbol >> 4 + 1 : 64 : 1
            bits = UInt32(passed << 9 | category << 5 | length + category)
        }

        /// Whether ``value`` is not all there is to it.
        var isOpen: Bool { @inline(always) get { bits & 15 << 5 != 0 } }
        /// Whether the code is not in the table.
        var isLong: Bool { @inline(always) get { bits & 31 == 0 } }
        var bitCount: Int { @inline(always) get { Int(bits & 31) } }
        var passed: Int { @inline(always) get { Int(bits &>> 9 & 127) } }
        var value: Int { @inline(always) get { Int(Int32(bitPattern: bits) &>> 16) } }

        /// The value behind the code at the start of `next`.
        func value(_ next: UInt64) -> Int {
            let category = Int(bits >> 5 & 15)
            return BitField.extend(next << UInt64(bitCount - category), category)
        }
    }

    /// Reads blocks of one place of a mcu.
    @unsafe private struct BlockReader {
        let data: UnsafePointer<UInt8>
        /// What positions are counted from, in bits of the data.
        let bit: Int
        let firstEntries: UnsafePointer<ValueEntry>
        let otherEntries: UnsafePointer<ValueEntry>
        let slots: UnsafePointer<Int32>
        let lastKept: Int
        let dcTable: HuffmanTable
        let acTable: HuffmanTable

        /// A block whose first coefficient has been read.
        @safe private struct Block {
            var position: Int
            /// The place in zigzag order of the last coefficient that has been read or passed.
            var index = 0
            let target: UnsafeMutablePointer<Int16>
        }

        /// - Parameters:
        ///   - count: how many blocks are read.
        ///   - positions: where they begin, each followed by where it ends.
        ///   - step: how many further the next block's position is.
        ///   - target: where the first block's first coefficient goes.
        ///   - targetStep: how much further the next block's goes.
        func read(
            _ count: Int, _ positions: UnsafePointer<UInt32>, _ step: Int,
            _ target: UnsafeMutablePointer<Int16>, _ targetStep: Int
        ) {
            var (positions, target, left) = unsafe (positions, target, count)
            if unsafe lastKept > 0 && meanLength(count, positions, step) < Self.sparseLength {
                while left > 0 {
                    var block = unsafe readFirst(positions.pointee, target)
                    let end = unsafe Int(positions[1]) &+ bit
                    if unsafe end &- block.position >= acTable.minimumACBits {
                        while unsafe block.index < lastKept { unsafe readTwo(&block) }
                    }
                    unsafe positions += step
                    unsafe target += targetStep
                    left &-= 1
                }
            }
            if unsafe lastKept > 4 {
                while left > 1 {
                    var block = unsafe readFirst(positions.pointee, target)
                    var other = unsafe readFirst(positions[step], target + targetStep)
                    unsafe readRest(&block, &other)
                    unsafe positions += 2 &* step
                    unsafe target += 2 &* targetStep
                    left &-= 2
                }
            }
            if unsafe lastKept == 0 {
                while left > 0 {
                    _ = unsafe readFirst(positions.pointee, target)
                    unsafe positions += step
                    unsafe target += targetStep
                    left &-= 1
                }
            }
            while left > 0 {
                var block = unsafe readFirst(positions.pointee, target)
                unsafe readRest(&block)
                unsafe positions += step
                unsafe target += targetStep
                left &-= 1
            }
        }

        /// Below so many bits a block is likely to have its first coefficient only, and that can be
        /// foretold so often that it is worth a look.
        private static let sparseLength = 12

        /// The bits of a block, of one in eight.
        private func meanLength(
            _ count: Int, _ positions: UnsafePointer<UInt32>, _ step: Int
        ) -> Int {
            var sum = 0
            var block = 0
            while block < count {
                let place = unsafe positions + block &* step
                sum &+= unsafe Int(place[1] &- place[0])
                block &+= 8
            }
            return sum / ((count + 7) / 8)
        }

        @inline(always)
        private func readFirst(
            _ position: UInt32, _ target: UnsafeMutablePointer<Int16>
        ) -> Block {
            let start = unsafe Int(position) &+ bit
            let bits = unsafe BitWindow.load(data, at: start)
            let entry = unsafe firstEntries[BitWindow.index(bits)]
            var (count, value) = (entry.bitCount, entry.value)
            if _slowPath(entry.isOpen) {
                unsafe (count, _, value) = read(entry, bits, isAC: false)
            }
            unsafe target.pointee = Int16(truncatingIfNeeded: value)
            return unsafe Block(position: start &+ count, target: target)
        }

        @inline(always)
        private func readRest(_ block: inout Block) {
            if unsafe lastKept == 4 {
                unsafe readTwo(&block)
                unsafe readTwo(&block)
                return
            }
            while unsafe block.index < lastKept { unsafe readTwo(&block) }
        }

        /// Reads two blocks side by side until neither wants more.
        ///
        /// When a block ends cannot be foretold; so it is asked once for both, and while one of
        /// them waits for its symbols the other is read.
        @inline(always)
        private func readRest(_ first: inout Block, _ second: inout Block) {
            while unsafe (first.index &- lastKept) | (second.index &- lastKept) < 0 {
                // One that waits for the other goes nowhere.
                first.index = first.index < 128 ? first.index : 128
                second.index = second.index < 128 ? second.index : 128
                unsafe readTwo(&first)
                unsafe readTwo(&second)
            }
        }

        /// Two symbols whose scanTables are in the table fit into the 57 bits of a load.
        @inline(always)
        private func readTwo(_ block: inout Block) {
            var bits = unsafe BitWindow.load(data, at: block.position)
            for _ in 0..<2 {
                let entry = unsafe otherEntries[BitWindow.index(bits)]
                var (count, passed, value) = (entry.bitCount, entry.passed, entry.value)
                if _slowPath(entry.isOpen) {
                    // Behind the wanted ones it may be anything, even no code at all.
                    guard unsafe block.index < lastKept else { return }
                    unsafe (count, passed, value) = read(entry, bits, isAC: true)
                }
                bits &<<= UInt64(truncatingIfNeeded: count)
                block.position &+= count
                block.index &+= passed
                let slot = unsafe Int(slots[block.index])
                unsafe block.target[slot] = Int16(truncatingIfNeeded: value)
            }
        }

        /// A symbol whose value is not in the table.
        @inline(never)
        private func read(
            _ entry: ValueEntry, _ bits: UInt64, isAC: Bool
        ) -> (count: Int, passed: Int, value: Int) {
            var entry = entry
            if entry.isLong {
                let code = unsafe isAC ? acTable : dcTable
                let found = code.decode(Int(bits >> 48)) ?? (0, 1)
                entry = ValueEntry(symbol: found.symbol, length: found.length, isAC: isAC)
            }
            return (entry.bitCount, entry.passed, entry.value(bits))
        }
    }
#endif

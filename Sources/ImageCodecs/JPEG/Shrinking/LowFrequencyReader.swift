// SPDX-License-Identifier: Apache-2.0

#if JPEG
/// Decodes the low-frequency coefficients of the blocks of a sequential scan, whose positions
/// are known.
///
/// Blocks are independent of each other, so the processor works on several at a time. Branches
/// are mostly predictable: for 2 × 2 coefficients a fixed number of symbols is decoded even
/// beyond the end of the block, and coefficients of higher frequency are stored in an array
/// that is not used.
struct LowFrequencyReader {
    /// A block of an MCU (T.81 A.2): its scan component and the destination of its
    /// coefficients.
    struct MCUBlock {
        var component: Int
        /// The offset of the DC coefficient in the buffer, for the first MCU of a row.
        var start: Int
        /// The distance to the same block of the next MCU; equal for all blocks of a component.
        var step: Int
        /// The zigzag index of the last coefficient to keep.
        var lastKept: Int
    }

    /// Four symbols after the last coefficient can pass 64 coefficients each.
    private static let slotCount = 384

    private let scanTables: ScanTables
    private let mcuBlocks: [MCUBlock]
    private let blocksByComponent: [[MCUBlock]]
    private let entries: [ValueEntry]
    /// By scan component: the offsets in ``entries`` of its DC table and, if it is needed, its
    /// AC table.
    private let tables: [(first: Int, other: Int)]
    /// By scan component and zigzag index: the offset of a coefficient from the DC coefficient.
    private let slots: [Int32]
    /// By scan component: the DC predictor (T.81 F.1.1.5.1).
    private var predictors: [Int16]
    /// The number of blocks located in all rows so far.
    private var blockCount = 0
    private var run = BlockIndex.Run(
        start: 0, blockCount: 0, chunk: 0, firstEnd: 0, isRestart: false)
    private var row = Row()
    /// The start of each block of the row and the end of the last one, in bits from the start
    /// of the row.
    private var positions: [UInt32] = []

    /// A row of MCUs whose blocks have been located.
    private struct Row {
        /// The position in bits from the start of the data.
        var start = 0
        var mcuCount = 0
        /// The MCUs at which the predictors are reset.
        var restarts: [Int] = []
        /// By scan component: the predictor before the row.
        var predictors: [Int16] = []
    }

    /// Creates the tables.
    ///
    /// - Parameters:
    ///   - scanTables: the Huffman tables of the scan.
    ///   - mcuBlocks: the blocks of an MCU, in order.
    ///   - rows: by scan component, the layout of the coefficients.
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
            // Components mostly share their Huffman tables.
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

    /// The start of the next row, or an earlier position, in bits from the start of the data.
    var position: Int { run.start }

    /// Locates the blocks of the next row of MCUs.
    ///
    /// - Parameters:
    ///   - mcuCount: MCUs in the row.
    ///   - index: the located blocks; runs are removed as they begin.
    /// - Returns: whether all of them have been found.
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

    /// Decodes the located MCUs into the buffer, which contains zeros.
    ///
    /// - Parameters:
    ///   - data: the window, which contains the row.
    ///   - isUsed: whether coefficients other than DC are needed.
    ///   - coefficients: receives the coefficients to keep.
    mutating func readRow(
        _ data: EntropyCodedData, isUsed: Bool, into coefficients: inout [Int16]
    ) {
        row.predictors = predictors
        let first = row.start / 8 - data.window.lowerBound
        unsafe data.bytes.withUnsafeBufferPointer { bytes in
            unsafe coefficients.withUnsafeMutableBufferPointer { target in
                guard let bytes = bytes.baseAddress, let target = target.baseAddress else {
                    return
                }
                for block in mcuBlocks.indices {
                    unsafe read(block, bytes + first, isUsed: isUsed, target)
                }
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

    /// Returns the position of an MCU of the row, in bits from the start of the data.
    func position(ofMCU mcu: Int) -> Int { row.start + Int(positions[mcu * mcuBlocks.count]) }

    /// Returns the DC predictors before an MCU of the row that has been read.
    ///
    /// - Parameters:
    ///   - mcu: the index of the MCU in the row.
    ///   - coefficients: the coefficients of the row.
    /// - Returns: the predictor of each scan component.
    func predictors(beforeMCU mcu: Int, _ coefficients: [Int16]) -> [Int16] {
        if row.restarts.contains(mcu) { return row.predictors.map { _ in 0 } }
        if mcu == 0 { return row.predictors }
        return blocksByComponent.map { blocks in
            let last = blocks[blocks.count - 1]
            return coefficients[last.start + (mcu - 1) * last.step]
        }
    }

    /// Computes the start positions of the next blocks of the run.
    ///
    /// - Parameters:
    ///   - first: the number of the first block in the row.
    ///   - blockCount: the number of blocks.
    ///   - start: the start of the row.
    ///   - ends: the block ends of the run's chunk.
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
                // The difference of two ends, which does not depend on `position`.
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
    ///   - isUsed: whether coefficients other than DC are needed.
    ///   - target: the buffer of coefficients.
    @unsafe private func read(
        _ index: Int, _ data: UnsafePointer<UInt8>, isUsed: Bool,
        _ target: UnsafeMutablePointer<Int16>
    ) {
        var block = mcuBlocks[index]
        if !isUsed { block.lastKept = 0 }
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
    @unsafe @inline(__always)
    private func withReader(
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

    /// Adds up the DC coefficients, which are coded as differences (T.81 F.1.1.5.1).
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
                    // Constant counts let the compiler unroll the inner loop.
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

    /// Adds up the differences of a component with `blockCount` blocks in an MCU.
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

/// By the next 12 bits: a symbol and its value.
///
/// | bits | |
/// |---|---|
/// | 0–4 | length of the code and the additional bits, 1 to 27; 0 for longer codes |
/// | 5–8 | SSSS if the additional bits are not all in the 12 bits; 15 for longer codes |
/// | 9–15 | coefficients passed, including this one; 64 for EOB |
/// | 16–31 | the value, if its bits are in the 12 bits |
struct ValueEntry {
    private let bits: UInt32

    /// Creates the entry of a lookup index.
    ///
    /// - Parameters:
    ///   - window: the next 12 bits.
    ///   - entry: the entry of ``HuffmanTable/lookup``.
    ///   - isAC: whether the symbol is an AC symbol.
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

    /// Creates an entry of a symbol whose value has not been read.
    init(symbol: Int, length: Int, isAC: Bool) {
        let category = symbol & 15
        // ZRL (T.81 F.1.2.2.1) is a zero coefficient after 15 others.
        let isValue = category > 0 || symbol == 0xF0
        let passed = isAC ? isValue ? symbol >> 4 + 1 : 64 : 1
        bits = UInt32(passed << 9 | category << 5 | length + category)
    }

    /// Whether ``value`` is incomplete.
    var isOpen: Bool { @inline(always) get { bits & 15 << 5 != 0 } }
    /// Whether the code is longer than the lookup index.
    var isLong: Bool { @inline(always) get { bits & 31 == 0 } }
    var bitCount: Int { @inline(always) get { Int(bits & 31) } }
    var passed: Int { @inline(always) get { Int(bits &>> 9 & 127) } }
    var value: Int { @inline(always) get { Int(Int32(bitPattern: bits) &>> 16) } }

    /// Returns the value that follows the code at the start of `next`.
    func value(_ next: UInt64) -> Int {
        let category = Int(bits >> 5 & 15)
        return BitField.extend(next << UInt64(bitCount - category), category)
    }
}

/// Decodes the blocks at one position of the MCUs.
@unsafe private struct BlockReader {
    let data: UnsafePointer<UInt8>
    /// The bit of the data from which positions are counted.
    let bit: Int
    let firstEntries: UnsafePointer<ValueEntry>
    let otherEntries: UnsafePointer<ValueEntry>
    let slots: UnsafePointer<Int32>
    let lastKept: Int
    let dcTable: HuffmanTable
    let acTable: HuffmanTable

    /// A block whose DC coefficient has been decoded.
    @safe private struct Block {
        var position: Int
        /// The zigzag index of the last coefficient that has been decoded or passed.
        var index = 0
        let target: UnsafeMutablePointer<Int16>
    }

    /// Decodes blocks.
    ///
    /// - Parameters:
    ///   - count: the number of blocks.
    ///   - positions: the starts of the blocks, each followed by the end.
    ///   - step: the distance to the position of the next block.
    ///   - target: the DC coefficient of the first block.
    ///   - targetStep: the distance to the DC coefficient of the next block.
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

    /// Below this mean number of bits, a block is likely to have a DC coefficient only, which
    /// is predictable enough to be worth a branch.
    private static let sparseLength = 12

    /// Returns the mean number of bits of a block, sampled from every eighth.
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

    /// Decodes two blocks side by side until both are complete.
    ///
    /// The end of a block is unpredictable. One branch covers both blocks, and while one waits
    /// for its symbols the other is decoded.
    @inline(always)
    private func readRest(_ first: inout Block, _ second: inout Block) {
        while unsafe (first.index &- lastKept) | (second.index &- lastKept) < 0 {
            // A block that is complete stays within the bounds of `slots`.
            first.index = first.index < 128 ? first.index : 128
            second.index = second.index < 128 ? second.index : 128
            unsafe readTwo(&first)
            unsafe readTwo(&second)
        }
    }

    /// Decodes two symbols; if their codes are in the table, both fit into the 57 bits of a
    /// load.
    @inline(always)
    private func readTwo(_ block: inout Block) {
        var bits = unsafe BitWindow.load(data, at: block.position)
        for _ in 0..<2 {
            let entry = unsafe otherEntries[BitWindow.index(bits)]
            var (count, passed, value) = (entry.bitCount, entry.passed, entry.value)
            if _slowPath(entry.isOpen) {
                // After the kept coefficients anything can follow, even an invalid code.
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

    /// Decodes a symbol whose value is not in the table.
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

// SPDX-License-Identifier: Apache-2.0

#if JPEG
/// Finds the block boundaries of a sequential scan without decoding values.
///
/// A lane is a state machine with two states for each block of an MCU (T.81 A.2): *DC symbol*
/// and *AC symbols*. A step is one lookup in ``SkipTables`` and a few additions. The table of
/// the next lookup is itself looked up by state, because the end of a block is unpredictable
/// and a mispredicted branch costs as much as four steps.
///
/// It must not outlive the buffers that it works on.
@safe struct BlockFinder {
    /// A position in the data that advances independently of others.
    struct Lane {
        /// The position in bits from the start of the data.
        var position: Int
        /// The lane stops at or soon after this bit.
        var limit: Int
        /// The coefficients of the block that have been passed.
        fileprivate(set) var passed = 0
        /// The state: twice the index of the block in its MCU, plus one after the DC symbol.
        fileprivate(set) var state = 0
        /// The number of blocks found.
        private(set) var block = 0
        /// The lane stops at or soon after this block.
        var blockLimit: Int
        /// Whether the lane has found an invalid code.
        fileprivate(set) var hasFailed = false
        /// The low 16 bits of the end of each block, which suffice because no block is longer.
        ///
        /// The capacity exceeds ``block``.
        private var ends: [UInt16]

        /// Creates a lane.
        ///
        /// - Parameters:
        ///   - position: the start, in bits.
        ///   - limit: the end, in bits.
        ///   - blockLimit: the block at which the lane stops.
        ///   - expectedBlocks: the initial capacity in blocks.
        init(position: Int, limit: Int, blockLimit: Int, expectedBlocks: Int) {
            self.position = position
            self.limit = limit
            self.blockLimit = blockLimit
            ends = Array(repeating: 0, count: expectedBlocks + Workspace.stateCount)
        }

        var isRunning: Bool { !hasFailed && position < limit && block < blockLimit }

        /// Returns the low 16 bits of the end of a block that has been found.
        func end(of block: Int) -> UInt16 { ends[block] }

        /// Moves to the start of an MCU elsewhere; keeps the blocks found.
        mutating func move(to position: Int, limit: Int) {
            self.position = position
            self.limit = limit
            (passed, state, hasFailed) = (0, 0, false)
        }

        /// Moves back to the end of the last block within ``blockLimit``.
        mutating func rewindToBlockLimit() {
            block = blockLimit
            position = lastEnd
            (passed, state, hasFailed) = (0, 0, false)
        }

        /// The end of the last block; at least one must have been found.
        var lastEnd: Int {
            position - Int(UInt16(truncatingIfNeeded: position) &- ends[block - 1])
        }

        /// Moves elsewhere and discards the blocks found.
        mutating func restart(at position: Int) {
            move(to: position, limit: limit)
            block = 0
        }

        /// Whether the lane is at the start of an MCU.
        var isAtMCUBoundary: Bool { state == 0 }

        /// Removes and returns the ends of all blocks found.
        mutating func takeEnds() -> [UInt16] {
            var taken: [UInt16] = []
            swap(&taken, &ends)
            taken.removeLast(taken.count - block)
            return taken
        }

        /// Releases the ends, so that a copy of the lane owns them uniquely.
        mutating func releaseEnds() { ends = [] }

        /// Discards the blocks found; keeps the position.
        mutating func resetBlocks(expectedBlocks: Int) {
            block = 0
            ends = Array(repeating: 0, count: expectedBlocks + Workspace.stateCount)
        }

        /// The number of rounds that cannot exceed a limit.
        fileprivate var roundCount: Int {
            hasFailed
                ? 0
                : min(
                    (limit - position) / Workspace.bitsPerRound,
                    (blockLimit - block) / Workspace.lookupsPerRound, Workspace.roundCount)
        }

        /// Records the ends of blocks.
        ///
        /// - Parameters:
        ///   - last: the state that the lane has reached.
        ///   - base: the position from which positions are counted.
        ///   - workspace: the positions recorded by the steps.
        ///   - number: the number of the lane.
        fileprivate mutating func record(
            upTo last: Int, _ base: Int, _ workspace: Workspace, _ number: Int
        ) {
            if block + Workspace.stateCount > ends.count {
                ends += Array(
                    repeating: 0, count: max(ends.count / 2, Workspace.stateCount))
            }
            let low = UInt16(truncatingIfNeeded: base)
            // A block ends where the next one begins.
            let first = (state | 1) + 1
            guard first <= last else { return }
            let count = (last - first) / 2 + 1
            unsafe ends.withUnsafeMutableBufferPointer { ends in
                guard let target = ends.baseAddress else { return }
                unsafe workspace.copyStarts(
                    from: first, count: count, number, low, to: target + block)
            }
            block += count
        }
    }

    /// The number of lanes that run side by side, so that the lookup latency of one is hidden
    /// by the others.
    static let laneCount = 4

    private let data: UnsafePointer<UInt8>
    private let firstByte: Int
    private let workspace: Workspace
    private let tables: ScanTables

    /// Creates a finder for a window.
    ///
    /// - Parameters:
    ///   - data: the bytes of the window.
    ///   - firstByte: the offset of the window in the data.
    ///   - tables: the Huffman tables of the scan.
    ///   - workspace: a workspace made with the same tables.
    @unsafe init(
        _ data: UnsafePointer<UInt8>, from firstByte: Int, _ tables: ScanTables,
        _ workspace: Workspace
    ) {
        unsafe self.data = unsafe data
        self.firstByte = firstByte
        self.workspace = workspace
        self.tables = tables
    }

    /// Runs at most ``laneCount`` lanes side by side until at least one of them has stopped.
    func run(_ lanes: inout [Lane]) {
        while lanes.allSatisfy(\.isRunning) {
            let rounds = lanes.reduce(Workspace.roundCount) { min($0, $1.roundCount) }
            if rounds > Workspace.roundCount / 4 {
                run(&lanes, rounds, isLimited: false)
            } else {
                run(&lanes, Workspace.roundCount, isLimited: true)
            }
        }
    }

    /// Runs one lane to the end of its block.
    func runBlock(_ lane: inout Lane) {
        let laneRun = unsafe LaneRun(lane, data, firstByte, number: 0)
        var accumulator = unsafe laneRun.accumulator
        let end = (accumulator >> SkipTables.stepShift | 1) + 1
        while accumulator >> SkipTables.stepShift < end {
            guard let next = unsafe singleStep(accumulator, laneRun) else {
                lane.hasFailed = true
                break
            }
            accumulator = next
        }
        unsafe laneRun.store(accumulator, &lane, workspace)
    }

    // MARK: Many steps

    /// Runs four lanes; missing lanes are copies of the first.
    ///
    /// - Parameters:
    ///   - lanes: at least one lane.
    ///   - rounds: the maximum number of rounds.
    ///   - isLimited: whether the run ends when a lane passes its limit.
    @inline(always)
    private func run(_ lanes: inout [Lane], _ rounds: Int, isLimited: Bool) {
        let run0 = unsafe LaneRun(lanes[0], data, firstByte, number: 0)
        let run1 = unsafe LaneRun(
            lanes.count > 1 ? lanes[1] : lanes[0], data, firstByte, number: 1)
        let run2 = unsafe LaneRun(
            lanes.count > 2 ? lanes[2] : lanes[0], data, firstByte, number: 2)
        let run3 = unsafe LaneRun(
            lanes.count > 3 ? lanes[3] : lanes[0], data, firstByte, number: 3)
        var (sum0, sum1) = unsafe (run0.accumulator, run1.accumulator)
        var (sum2, sum3) = unsafe (run2.accumulator, run3.accumulator)
        var left = rounds
        while left > 0 {
            if isLimited {
                let progress = unsafe (
                    run0.progress(sum0) & run1.progress(sum1),
                    run2.progress(sum2) & run3.progress(sum3)
                )
                guard progress.0 & progress.1 < 0 else { break }
            }
            left &-= 1
            let (start0, start1, start2, start3) = (sum0, sum1, sum2, sum3)
            var bits0 = unsafe run0.load(sum0)
            var bits1 = unsafe run1.load(sum1)
            var bits2 = unsafe run2.load(sum2)
            var bits3 = unsafe run3.load(sum3)
            // ``Workspace/lookupsPerRound`` times.
            workspace.step(&sum0, &bits0, 0)
            workspace.step(&sum1, &bits1, 1)
            workspace.step(&sum2, &bits2, 2)
            workspace.step(&sum3, &bits3, 3)
            workspace.step(&sum0, &bits0, 0)
            workspace.step(&sum1, &bits1, 1)
            workspace.step(&sum2, &bits2, 2)
            workspace.step(&sum3, &bits3, 3)
            workspace.step(&sum0, &bits0, 0)
            workspace.step(&sum1, &bits1, 1)
            workspace.step(&sum2, &bits2, 2)
            workspace.step(&sum3, &bits3, 3)
            guard
                _fastPath((sum0 | sum1 | sum2 | sum3) & Workspace.incomplete == 0)
            else {
                let (next0, fails0) = unsafe recovered(sum0, start0, run0)
                let (next1, fails1) = unsafe recovered(sum1, start1, run1)
                let (next2, fails2) = unsafe recovered(sum2, start2, run2)
                let (next3, fails3) = unsafe recovered(sum3, start3, run3)
                (sum0, sum1, sum2, sum3) = (next0, next1, next2, next3)
                guard fails0 || fails1 || fails2 || fails3 else { continue }
                let fails = [fails0, fails1, fails2, fails3]
                for number in lanes.indices { lanes[number].hasFailed = fails[number] }
                break
            }
        }
        unsafe run0.store(sum0, &lanes[0], workspace)
        if lanes.count > 1 { unsafe run1.store(sum1, &lanes[1], workspace) }
        if lanes.count > 2 { unsafe run2.store(sum2, &lanes[2], workspace) }
        if lanes.count > 3 { unsafe run3.store(sum3, &lanes[3], workspace) }
    }

    /// A lane during a run, whose positions are counted from a base so that they fit into an
    /// accumulator.
    @unsafe private struct LaneRun {
        let data: UnsafePointer<UInt8>
        /// The position, the coefficients passed and the state, in the layout of
        /// ``SkipTables``.
        let accumulator: UInt64
        /// The position from which positions are counted.
        let base: Int
        /// The number of the lane.
        let number: Int
        /// The limits of the lane, as a position and a state.
        let positionLimit: Int
        let stateLimit: Int

        init(
            _ lane: Lane, _ data: UnsafePointer<UInt8>, _ firstByte: Int, number: Int
        ) {
            unsafe self.data = unsafe data + (lane.position >> 3 - firstByte)
            unsafe base = lane.position & ~7
            unsafe accumulator =
                UInt64(lane.position & 7) | UInt64(lane.passed) << SkipTables.passedShift
                | UInt64(lane.state) << SkipTables.stepShift
            unsafe self.number = number
            unsafe positionLimit = lane.limit - base
            unsafe stateLimit = (lane.state & ~1) + 2 * (lane.blockLimit - lane.block)
        }

        /// Returns a negative number until a limit is reached.
        @inline(always)
        func progress(_ accumulator: UInt64) -> Int {
            let position = Int(truncatingIfNeeded: accumulator & SkipTables.positionMask)
            let state = Int(truncatingIfNeeded: accumulator &>> SkipTables.stepShift)
            return unsafe (position &- positionLimit) & (state &- stateLimit)
        }

        /// Returns at least the next 57 bits, left-aligned.
        @inline(always)
        func load(_ accumulator: UInt64) -> UInt64 {
            unsafe BitWindow.load(
                data, at: Int(truncatingIfNeeded: accumulator & SkipTables.positionMask))
        }

        func store(_ accumulator: UInt64, _ lane: inout Lane, _ workspace: Workspace) {
            let state = Int(accumulator >> SkipTables.stepShift)
            unsafe workspace.record(accumulator, number)
            unsafe lane.record(upTo: state, base, workspace, number)
            lane.position = unsafe base + Int(accumulator & SkipTables.positionMask)
            lane.state = state % workspace.period
            lane.passed =
                state & 1 == 0
                ? 0 : Int((accumulator & SkipTables.passedMask) >> SkipTables.passedShift)
        }
    }

    // MARK: Single steps

    /// Decodes what the lookups of a round left out.
    ///
    /// - Parameters:
    ///   - accumulator: the accumulator after the round.
    ///   - start: the accumulator before the round.
    ///   - laneRun: the lane.
    /// - Returns: the new accumulator, and whether an invalid code follows.
    @unsafe @inline(never)
    private func recovered(
        _ accumulator: UInt64, _ start: UInt64, _ laneRun: LaneRun
    ) -> (accumulator: UInt64, hasFailed: Bool) {
        guard accumulator & Workspace.incomplete > 0 else { return (accumulator, false) }
        if accumulator & SkipTables.overflow == 0 {
            // Lookups that find nothing change nothing.
            let accumulator = accumulator & ~SkipTables.missingMask
            let next = unsafe decodeSymbol(accumulator, laneRun)
            return (next ?? accumulator, next == nil)
        }
        // What was consumed after the end of the block is invalid.
        var accumulator = start
        for _ in 0..<Workspace.lookupsPerRound {
            guard let next = unsafe singleStep(accumulator, laneRun) else {
                return (accumulator, true)
            }
            accumulator = next
        }
        return (accumulator, false)
    }

    /// Advances by one lookup, or by one symbol where a lookup is not possible.
    @unsafe private func singleStep(_ accumulator: UInt64, _ laneRun: LaneRun) -> UInt64? {
        var next = accumulator
        var bits = unsafe laneRun.load(accumulator)
        unsafe workspace.step(&next, &bits, laneRun.number)
        return next & Workspace.incomplete == 0
            ? next : unsafe decodeSymbol(accumulator, laneRun)
    }

    /// Advances by one symbol: a code that is not in the table, or one of several symbols of
    /// which not the last fills the block.
    @unsafe private func decodeSymbol(_ accumulator: UInt64, _ laneRun: LaneRun) -> UInt64? {
        let state = Int(accumulator >> SkipTables.stepShift)
        let isFirst = state & 1 == 0
        let component = tables.order[state / 2 % tables.order.count]
        let bits = unsafe laneRun.load(accumulator)
        unsafe workspace.record(accumulator, laneRun.number)
        guard
            let (symbol, length) = (isFirst ? tables.dc : tables.ac)[component].decode(
                Int(bits >> 48))
        else { return nil }
        let category = isFirst ? symbol : symbol & 15
        let run = isFirst ? 0 : symbol >> 4
        var next = accumulator + UInt64(length + category)
        if isFirst {
            next &= ~SkipTables.passedMask
            return next + (1 << SkipTables.passedShift | 1 << SkipTables.stepShift)
        }
        let passed =
            Int((accumulator & SkipTables.passedMask) >> SkipTables.passedShift) + run + 1
        if category == 0 && run < 15 || passed > 63 {
            next += 1 << SkipTables.stepShift
        } else {
            next += UInt64(run + 1) << SkipTables.passedShift
        }
        return next
    }
}

/// The Huffman tables of a scan.
struct ScanTables {
    /// The tables of the scan components.
    var dc: [HuffmanTable]
    var ac: [HuffmanTable]
    /// The scan component of each block of an MCU.
    var order: [Int]
}
#endif

// SPDX-License-Identifier: Apache-2.0

#if JPEG
    /// Finds where the blocks of a sequential scan begin, without decoding them.
    ///
    /// A reader goes through the bits as a machine of two states for each block of a unit: *first
    /// symbol* and *other symbols*. A step is one look into a ``SkipTables`` and a handful of
    /// additions; which table the next step looks into is itself looked up, because the end of a
    /// block cannot be foretold and a mispredicted branch costs as much as four steps.
    ///
    /// It must not outlive the buffers that it works on.
    @safe struct BlockFinder {
        /// One reader's place in the data.
        struct Lane {
            /// In bits from the start of the data.
            var position: Int
            /// At this bit, or soon behind it, the lane ends.
            var limit: Int
            /// Coefficients of the block that have been passed.
            fileprivate(set) var passed = 0
            /// The machine's state: twice the place of the block in its unit, one more behind the
            /// block's first symbol.
            fileprivate(set) var state = 0
            /// Blocks that have been found.
            private(set) var block = 0
            /// At this block, or soon behind it, the lane ends.
            var blockLimit: Int
            /// Whether it met a code that does not exist.
            fileprivate(set) var hasFailed = false
            /// The low 16 bits of the position behind each block.
            ///
            /// That is enough, as no block is longer. Behind those of ``block`` blocks there is room.
            private var ends: [UInt16]

            /// - Parameters:
            ///   - position: where it begins, in bits.
            ///   - limit: where it ends.
            ///   - blockLimit: at which block it ends.
            ///   - expectedBlocks: for how many blocks there is to be room at first.
            init(position: Int, limit: Int, blockLimit: Int, expectedBlocks: Int) {
                self.position = position
                self.limit = limit
                self.blockLimit = blockLimit
                ends = Array(repeating: 0, count: expectedBlocks + Workspace.stateCount)
            }

            var isRunning: Bool { !hasFailed && position < limit && block < blockLimit }

            /// The low 16 bits of the position behind a block that has been found.
            func end(of block: Int) -> UInt16 { ends[block] }

            /// Goes on elsewhere, at the start of a unit; what has been found so far stays.
            mutating func move(to position: Int, limit: Int) {
                self.position = position
                self.limit = limit
                (passed, state, hasFailed) = (0, 0, false)
            }

            /// Goes back to the end of the last block within ``blockLimit``.
            mutating func settle() {
                block = blockLimit
                position = lastEnd
                (passed, state, hasFailed) = (0, 0, false)
            }

            /// Where the last block ends, of which there is one at least.
            var lastEnd: Int {
                position - Int(UInt16(truncatingIfNeeded: position) &- ends[block - 1])
            }

            /// Goes on elsewhere, as if nothing had been found.
            mutating func startAnew(at position: Int) {
                move(to: position, limit: limit)
                block = 0
            }

            /// Whether it is between two units.
            var isAtUnit: Bool { state == 0 }

            /// The ends of all blocks that have been found, without the room behind them.
            mutating func takeEnds() -> [UInt16] {
                var taken: [UInt16] = []
                swap(&taken, &ends)
                taken.removeLast(taken.count - block)
                return taken
            }

            /// Leaves the ends to a copy of the lane, which then is their only owner.
            mutating func giveUpEnds() { ends = [] }

            /// Begins to count blocks anew, where it is.
            mutating func startCounting(expectedBlocks: Int) {
                block = 0
                ends = Array(repeating: 0, count: expectedBlocks + Workspace.stateCount)
            }

            /// Rounds that can be gone without passing a limit.
            fileprivate var roundCount: Int {
                hasFailed
                    ? 0
                    : min(
                        (limit - position) / Workspace.bitsPerRound,
                        (blockLimit - block) / Workspace.looksPerRound, Workspace.roundCount)
            }

            /// Notes where blocks ended.
            ///
            /// - Parameters:
            ///   - last: the state that the lane has come to.
            ///   - base: what the positions are counted from.
            ///   - workspace: where the steps noted them.
            ///   - number: which lane it was.
            fileprivate mutating func note(
                upTo last: Int, _ base: Int, _ workspace: Workspace, _ number: Int
            ) {
                if block + Workspace.stateCount > ends.count {
                    ends += Array(
                        repeating: 0, count: max(ends.count / 2, Workspace.stateCount))
                }
                let low = UInt16(truncatingIfNeeded: base)
                // A block ends where the next one is begun.
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

        /// Lanes that run side by side: the looks of one fill the time in which another waits.
        static let laneCount = 4

        private let data: UnsafePointer<UInt8>
        private let firstByte: Int
        private let workspace: Workspace
        private let codes: BlockCodes

        /// - Parameters:
        ///   - data: a window of the data.
        ///   - firstByte: which byte of the data it begins with.
        ///   - codes: those of the scan.
        ///   - workspace: made with the tables of these codes.
        @unsafe init(
            _ data: UnsafePointer<UInt8>, from firstByte: Int, _ codes: BlockCodes,
            _ workspace: Workspace
        ) {
            unsafe self.data = unsafe data
            self.firstByte = firstByte
            self.workspace = workspace
            self.codes = codes
        }

        /// Runs at most ``laneCount`` lanes side by side until at least one of them has ended.
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
            let stretch = unsafe Stretch(lane, data, firstByte, number: 0)
            var tally = unsafe stretch.tally
            let end = (tally >> SkipTables.stepShift | 1) + 1
            while tally >> SkipTables.stepShift < end {
                guard let next = unsafe slowStep(tally, stretch) else {
                    lane.hasFailed = true
                    break
                }
                tally = next
            }
            unsafe stretch.leave(tally, &lane, workspace)
        }

        // MARK: Many steps

        /// Runs four lanes; where there are fewer, the others do what the first one does.
        ///
        /// - Parameters:
        ///   - lanes: at least one.
        ///   - rounds: at most so many.
        ///   - isLimited: whether a lane that passes its limit ends the run.
        @inline(always)
        private func run(_ lanes: inout [Lane], _ rounds: Int, isLimited: Bool) {
            let stretch0 = unsafe Stretch(lanes[0], data, firstByte, number: 0)
            let stretch1 = unsafe Stretch(
                lanes.count > 1 ? lanes[1] : lanes[0], data, firstByte, number: 1)
            let stretch2 = unsafe Stretch(
                lanes.count > 2 ? lanes[2] : lanes[0], data, firstByte, number: 2)
            let stretch3 = unsafe Stretch(
                lanes.count > 3 ? lanes[3] : lanes[0], data, firstByte, number: 3)
            var (tally0, tally1) = unsafe (stretch0.tally, stretch1.tally)
            var (tally2, tally3) = unsafe (stretch2.tally, stretch3.tally)
            var left = rounds
            while left > 0 {
                if isLimited {
                    let progress = unsafe (
                        stretch0.progress(tally0) & stretch1.progress(tally1),
                        stretch2.progress(tally2) & stretch3.progress(tally3)
                    )
                    guard progress.0 & progress.1 < 0 else { break }
                }
                left &-= 1
                let (start0, start1, start2, start3) = (tally0, tally1, tally2, tally3)
                var bits0 = unsafe stretch0.load(tally0)
                var bits1 = unsafe stretch1.load(tally1)
                var bits2 = unsafe stretch2.load(tally2)
                var bits3 = unsafe stretch3.load(tally3)
                // As many as ``Workspace/looksPerRound``.
                workspace.step(&tally0, &bits0, 0)
                workspace.step(&tally1, &bits1, 1)
                workspace.step(&tally2, &bits2, 2)
                workspace.step(&tally3, &bits3, 3)
                workspace.step(&tally0, &bits0, 0)
                workspace.step(&tally1, &bits1, 1)
                workspace.step(&tally2, &bits2, 2)
                workspace.step(&tally3, &bits3, 3)
                workspace.step(&tally0, &bits0, 0)
                workspace.step(&tally1, &bits1, 1)
                workspace.step(&tally2, &bits2, 2)
                workspace.step(&tally3, &bits3, 3)
                guard
                    _fastPath((tally0 | tally1 | tally2 | tally3) & Workspace.notDone == 0)
                else {
                    let (next0, fails0) = unsafe mended(tally0, start0, stretch0)
                    let (next1, fails1) = unsafe mended(tally1, start1, stretch1)
                    let (next2, fails2) = unsafe mended(tally2, start2, stretch2)
                    let (next3, fails3) = unsafe mended(tally3, start3, stretch3)
                    (tally0, tally1, tally2, tally3) = (next0, next1, next2, next3)
                    guard fails0 || fails1 || fails2 || fails3 else { continue }
                    let fails = [fails0, fails1, fails2, fails3]
                    for number in lanes.indices { lanes[number].hasFailed = fails[number] }
                    break
                }
            }
            unsafe stretch0.leave(tally0, &lanes[0], workspace)
            if lanes.count > 1 { unsafe stretch1.leave(tally1, &lanes[1], workspace) }
            if lanes.count > 2 { unsafe stretch2.leave(tally2, &lanes[2], workspace) }
            if lanes.count > 3 { unsafe stretch3.leave(tally3, &lanes[3], workspace) }
        }

        /// A part of the data within which a tally can count positions.
        @unsafe private struct Stretch {
            let data: UnsafePointer<UInt8>
            /// The layout of ``SkipTables``: position, coefficients passed, and the state.
            let tally: UInt64
            /// What positions are counted from.
            let base: Int
            /// Which lane it is of those that run.
            let number: Int
            /// The position and the state that the lane's limits stand for.
            let positionLimit: Int
            let stateLimit: Int

            init(
                _ lane: Lane, _ data: UnsafePointer<UInt8>, _ firstByte: Int, number: Int
            ) {
                unsafe self.data = unsafe data + (lane.position >> 3 - firstByte)
                unsafe base = lane.position & ~7
                unsafe tally =
                    UInt64(lane.position & 7) | UInt64(lane.passed) << SkipTables.passedShift
                    | UInt64(lane.state) << SkipTables.stepShift
                unsafe self.number = number
                unsafe positionLimit = lane.limit - base
                unsafe stateLimit = (lane.state & ~1) + 2 * (lane.blockLimit - lane.block)
            }

            /// Below 0 as long as no limit is reached.
            @inline(always)
            func progress(_ tally: UInt64) -> Int {
                let position = Int(truncatingIfNeeded: tally & SkipTables.positionMask)
                let state = Int(truncatingIfNeeded: tally &>> SkipTables.stepShift)
                return unsafe (position &- positionLimit) & (state &- stateLimit)
            }

            /// At least the next 57 bits, from the left.
            @inline(always)
            func load(_ tally: UInt64) -> UInt64 {
                unsafe BitWindow.load(
                    data, at: Int(truncatingIfNeeded: tally & SkipTables.positionMask))
            }

            func leave(_ tally: UInt64, _ lane: inout Lane, _ workspace: Workspace) {
                let state = Int(tally >> SkipTables.stepShift)
                unsafe workspace.note(tally, number)
                unsafe lane.note(upTo: state, base, workspace, number)
                lane.position = unsafe base + Int(tally & SkipTables.positionMask)
                lane.state = state % workspace.period
                lane.passed =
                    state & 1 == 0
                    ? 0 : Int((tally & SkipTables.passedMask) >> SkipTables.passedShift)
            }
        }

        // MARK: Single steps

        /// Makes up for what a round did not find.
        ///
        /// - Parameters:
        ///   - tally: behind the round.
        ///   - start: before it.
        ///   - stretch: what the lane reads.
        /// - Returns: how far it came, and whether a code that does not exist is behind.
        @unsafe @inline(never)
        private func mended(
            _ tally: UInt64, _ start: UInt64, _ stretch: Stretch
        ) -> (tally: UInt64, hasFailed: Bool) {
            guard tally & Workspace.notDone > 0 else { return (tally, false) }
            if tally & SkipTables.overfull == 0 {
                // Looks that find nothing change nothing.
                let tally = tally & ~SkipTables.missingMask
                let next = unsafe symbol(tally, stretch)
                return (next ?? tally, next == nil)
            }
            // All that was read behind the end of the block is nonsense.
            var tally = start
            for _ in 0..<Workspace.looksPerRound {
                guard let next = unsafe slowStep(tally, stretch) else { return (tally, true) }
                tally = next
            }
            return (tally, false)
        }

        /// A look, or a symbol where a look is too much.
        @unsafe private func slowStep(_ tally: UInt64, _ stretch: Stretch) -> UInt64? {
            var next = tally
            var bits = unsafe stretch.load(tally)
            unsafe workspace.step(&next, &bits, stretch.number)
            return next & Workspace.notDone == 0 ? next : unsafe symbol(tally, stretch)
        }

        /// A step of one symbol, for what the tables leave out: long codes, and several symbols of
        /// which not the last one fills the block.
        @unsafe private func symbol(_ tally: UInt64, _ stretch: Stretch) -> UInt64? {
            let state = Int(tally >> SkipTables.stepShift)
            let isFirst = state & 1 == 0
            let part = codes.order[state / 2 % codes.order.count]
            let bits = unsafe stretch.load(tally)
            unsafe workspace.note(tally, stretch.number)
            guard
                let (symbol, length) = (isFirst ? codes.dc : codes.ac)[part].symbol(Int(bits >> 48))
            else { return nil }
            let magnitude = isFirst ? symbol : symbol & 15
            let run = isFirst ? 0 : symbol >> 4
            var next = tally + UInt64(length + magnitude)
            if isFirst {
                next &= ~SkipTables.passedMask
                return next + (1 << SkipTables.passedShift | 1 << SkipTables.stepShift)
            }
            let passed = Int((tally & SkipTables.passedMask) >> SkipTables.passedShift) + run + 1
            if magnitude == 0 && run < 15 || passed > 63 {
                next += 1 << SkipTables.stepShift
            } else {
                next += UInt64(run + 1) << SkipTables.passedShift
            }
            return next
        }
    }

    /// The codes of a scan.
    struct BlockCodes {
        /// By part.
        var dc: [HuffmanCode]
        var ac: [HuffmanCode]
        /// To which part each block of a unit belongs.
        var order: [Int]
    }
#endif

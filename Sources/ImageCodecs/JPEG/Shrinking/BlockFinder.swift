// SPDX-License-Identifier: Apache-2.0

#if JPEG
    /// Finds where the blocks of a sequential scan begin, without decoding them.
    ///
    /// A reader goes through the bits as a machine of two states for each block of a unit: *first
    /// symbol* and *other symbols*. A step is one look into a ``SkipTables`` and a handful of
    /// additions; which table the next step looks into is chosen by masks, because the end of a
    /// block cannot be foretold and a mispredicted branch costs as much as three steps.
    ///
    /// It must not outlive the buffers that it works on.
    @safe struct BlockFinder {
        /// What a step needs to know of the block that it is in.
        struct Phase {
            /// The machine's state behind the block's first symbol.
            var state: UInt64
            /// Changes ``state`` into that of the next block's first symbol, by exclusive or.
            var change: UInt64

            /// A state as one number.
            ///
            /// - Parameters:
            ///   - phase: the place of a block in its unit.
            ///   - table: where the table for its next symbol begins.
            /// - Returns: the phase in the upper half, as an offset in bytes, and the table in the lower.
            static func state(phase: Int, table: Int) -> UInt64 {
                UInt64(phase * MemoryLayout<Phase>.stride) << 32 | UInt64(table)
            }

            /// Which block of the unit a state belongs to.
            static func phase(of state: UInt64) -> Int {
                Int(state >> 32) / MemoryLayout<Phase>.stride
            }
        }

        /// One reader's place in the data.
        struct Lane {
            /// In bits from the start of the data.
            var position: Int
            /// At this bit, or soon behind it, the lane ends.
            var limit: Int
            /// Coefficients of the block that have been passed.
            var passed = 0
            /// The phase, and which table the next step looks into.
            var state: UInt64
            /// Where the end of the block will be noted.
            var block: Int
            /// At this block, or soon behind it, the lane ends.
            var blockLimit: Int
            /// Whether it met a code that does not exist.
            var hasFailed = false

            var isRunning: Bool { !hasFailed && position < limit && block < blockLimit }
        }

        /// Blocks that a lane may note beyond its limit, at most one a step.
        static let overrun = 3

        private let data: UnsafePointer<UInt8>
        private let entries: UnsafePointer<Int32>
        private let phases: UnsafePointer<Phase>
        /// The low 16 bits of the position behind each block, which is enough: no block is longer.
        private let ends: UnsafeMutablePointer<UInt16>
        private let codes: BlockCodes

        @unsafe init(
            _ data: UnsafePointer<UInt8>, _ codes: BlockCodes, _ entries: UnsafePointer<Int32>,
            _ phases: UnsafePointer<Phase>, ends: UnsafeMutablePointer<UInt16>
        ) {
            unsafe self.data = unsafe data
            unsafe self.entries = unsafe entries
            unsafe self.phases = unsafe phases
            unsafe self.ends = unsafe ends
            self.codes = codes
        }

        /// The low 16 bits of the position behind a block that a lane has noted.
        func end(of block: Int) -> UInt16 { unsafe ends[block] }

        /// Runs two lanes side by side until one of them ends.
        ///
        /// The steps of a lane wait for each other; those of another lane fill the time.
        func run(_ first: inout Lane, _ second: inout Lane) {
            while first.isRunning && second.isRunning {
                let (stretchA, stretchB) = unsafe (stretch(first), stretch(second))
                var (a, b) = unsafe (stretchA.start, stretchB.start)
                while unsafe stretchA.progress(a) & stretchB.progress(b) < 0 {
                    var bitsA = unsafe stretchA.load(a)
                    var bitsB = unsafe stretchB.load(b)
                    unsafe step(&a, &bitsA, stretchA)
                    unsafe step(&b, &bitsB, stretchB)
                    unsafe step(&a, &bitsA, stretchA)
                    unsafe step(&b, &bitsB, stretchB)
                    unsafe step(&a, &bitsA, stretchA)
                    unsafe step(&b, &bitsB, stretchB)
                }
                unsafe stretchA.leave(a, &first)
                unsafe stretchB.leave(b, &second)
            }
        }

        /// Runs one lane to its end.
        func run(_ lane: inout Lane) {
            while lane.isRunning {
                let stretch = unsafe stretch(lane)
                var a = unsafe stretch.start
                while unsafe stretch.progress(a) < 0 {
                    var bits = unsafe stretch.load(a)
                    unsafe step(&a, &bits, stretch)
                    unsafe step(&a, &bits, stretch)
                    unsafe step(&a, &bits, stretch)
                }
                unsafe stretch.leave(a, &lane)
            }
        }

        /// Runs one lane to the end of its block.
        func runBlock(_ lane: inout Lane) {
            let block = lane.block
            while lane.block == block && lane.isRunning {
                let stretch = unsafe stretch(lane)
                var a = unsafe stretch.start
                var bits = unsafe stretch.load(a)
                unsafe step(&a, &bits, stretch)
                unsafe stretch.leave(a, &lane)
            }
        }

        // MARK: A step

        /// What changes from step to step, in as few registers as possible.
        private struct Machine {
            /// The layout of ``SkipTables``: position, coefficients passed, and minus the blocks ended.
            var tally: Int
            var state: UInt64
            /// 0, or behind a code that does not exist a number that stops the lane.
            var failure = 0
        }

        /// A part of the data within which a ``Machine`` can count positions.
        @unsafe private struct Stretch {
            let data: UnsafePointer<UInt8>
            let entries: UnsafePointer<Int32>
            let phases: UnsafeRawPointer
            let ends: UnsafeMutablePointer<UInt16>
            let start: Machine
            /// What the bits of the data's start are counted from; the low 16 are 0.
            let base: Int
            let limit: Int
            let blockLimit: Int

            /// Below 0 as long as there is something to do.
            @inline(always)
            func progress(_ machine: Machine) -> Int {
                let block = 0 &- machine.tally &>> SkipTables.endShift
                return
                    unsafe ((machine.tally & SkipTables.positionMask) &+ machine.failure &- limit)
                    & (block &- blockLimit)
            }

            /// At least the next 57 bits, from the left.
            @inline(always)
            func load(_ machine: Machine) -> UInt64 {
                unsafe BitWindow.load(data, at: machine.tally & SkipTables.positionMask)
            }

            func leave(_ machine: Machine, _ lane: inout Lane) {
                unsafe lane.position = base + machine.tally & SkipTables.positionMask
                lane.passed = machine.tally >> SkipTables.passedShift & 63
                lane.block -= machine.tally >> SkipTables.endShift
                lane.state = machine.state
                lane.hasFailed = machine.failure != 0
            }
        }

        private func stretch(_ lane: Lane) -> Stretch {
            let base = lane.position & ~0xFFFF
            let tally = lane.position - base | lane.passed << SkipTables.passedShift
            return unsafe Stretch(
                data: data + base / 8, entries: entries, phases: UnsafeRawPointer(phases),
                ends: ends + lane.block,
                start: Machine(tally: tally, state: lane.state), base: base,
                limit: min(lane.limit - base, SkipTables.positionMask / 2),
                blockLimit: lane.blockLimit - lane.block)
        }

        @inline(always)
        private func step(_ machine: inout Machine, _ bits: inout UInt64, _ stretch: Stretch) {
            let window = BitWindow.index(bits)
            let table = Int(UInt32(truncatingIfNeeded: machine.state))
            let entry = unsafe Int(stretch.entries[table &+ window])
            let sum = machine.tally &+ entry
            guard _fastPath(sum & SkipTables.overflow == 0) else {
                machine = unsafe oneSymbol(machine, stretch.load(machine), stretch.ends)
                bits = unsafe stretch.load(machine)
                return
            }
            bits &<<= UInt64(truncatingIfNeeded: entry)
            let block = 0 &- machine.tally &>> SkipTables.endShift
            unsafe stretch.ends[block] = UInt16(truncatingIfNeeded: sum)
            let isEnd = entry &>> 63
            machine.tally = sum & ~(isEnd & SkipTables.passedMask)
            let phase = unsafe (stretch.phases + Int(truncatingIfNeeded: machine.state &>> 32))
                .load(as: Phase.self)
            machine.state = phase.state ^ (phase.change & UInt64(bitPattern: Int64(isEnd)))
        }

        /// A step of one symbol, for what the tables leave out: long codes, and several symbols of
        /// which not the last one fills the block.
        @unsafe @inline(never)
        private func oneSymbol(
            _ machine: Machine, _ bits: UInt64, _ ends: UnsafeMutablePointer<UInt16>
        ) -> Machine {
            var machine = machine
            let index = Phase.phase(of: machine.state)
            let phase = unsafe phases[index]
            let passed = machine.tally >> SkipTables.passedShift & 63
            let isFirst = passed == 0
            let part = codes.order[index]
            guard
                let (symbol, length) = (isFirst ? codes.dc : codes.ac)[part].symbol(Int(bits >> 48))
            else {
                machine.failure = SkipTables.positionMask
                return machine
            }
            let magnitude = isFirst ? symbol : symbol & 15
            let run = isFirst ? 0 : symbol >> 4
            let sum = passed + run + 1
            let block = -(machine.tally >> SkipTables.endShift)
            machine.tally += length + magnitude
            unsafe ends[block] = UInt16(truncatingIfNeeded: machine.tally)
            machine.state = phase.state
            if !isFirst && magnitude == 0 && run < 15 || sum > 63 {
                machine.tally &= ~SkipTables.passedMask
                machine.tally -= 1 << SkipTables.endShift
                machine.state ^= phase.change
            } else {
                machine.tally += (run + 1) << SkipTables.passedShift
            }
            return machine
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

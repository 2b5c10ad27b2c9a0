// SPDX-License-Identifier: Apache-2.0

#if JPEG
    /// Reads the low coefficients of the blocks of a sequential scan, whose places are known.
    ///
    /// No block has to wait for the one before it, so the processor works on several at a time;
    /// and there is hardly a branch to mispredict: for 2 × 2 coefficients a fixed number of symbols
    /// is read, whether they still belong to the block or not, and what is too high a coefficient
    /// goes to a place where nobody looks.
    struct LowFrequencyReader {
        /// A block of a unit: which part of the scan it belongs to, and where its coefficients go.
        struct Place {
            var part: Int
            /// Where the first of them goes in the buffer, for the first unit of a row.
            var start: Int
            /// How much further it goes from one unit to the next.
            var step: Int
            /// The position in zigzag order of the last coefficient that is wanted.
            var lastKept: Int
        }

        /// Four symbols behind the last coefficient can pass 64 coefficients each.
        fileprivate static let slotCount = 384

        private let codes: BlockCodes
        private let places: [Place]
        /// By part: the table of first symbols, then that of the others.
        private let entries: [ValueEntry]
        /// By part and place in zigzag order: how far behind the first coefficient it goes.
        private let slots: [Int32]
        /// By part: the value of the last block's first coefficient.
        private var predictions: [Int]
        private var nextRun = 0
        private var run = Run()

        /// Blocks that follow without a break.
        fileprivate struct Run {
            var left = 0
            /// Where the next one begins, in bits.
            var position = 0
            var note = 0

            @unsafe @inline(always)
            mutating func step(_ ends: UnsafePointer<UInt16>) {
                let low = UInt16(truncatingIfNeeded: position)
                position &+= unsafe Int(ends[note] &- low)
                note &+= 1
            }
        }

        /// - Parameters:
        ///   - codes: the codes of the scan's parts.
        ///   - places: the blocks of a unit, in order.
        ///   - rows: by part, how coefficients are kept.
        init(_ codes: BlockCodes, places: [Place], rows: [LowFrequencyRow]) {
            self.codes = codes
            self.places = places
            predictions = Array(repeating: 0, count: rows.count)
            entries = rows.indices.flatMap { part in
                codes.dc[part].window.map { ValueEntry($0, isAC: false) }
                    + codes.ac[part].window.map { ValueEntry($0, isAC: true) }
            }
            slots = rows.indices.flatMap { part in
                (0..<Self.slotCount).map { Int32(rows[part].offset(ofZigzag: $0)) }
            }
        }

        /// Reads the next units of the scan into the buffer, which is all zeros.
        mutating func readRow(
            unitCount: Int, _ data: EntropyCodedData, _ index: BlockIndex,
            into coefficients: inout [Int16]
        ) {
            var done = 0
            while done < unitCount {
                if run.left == 0 { startRun(index) }
                let count = min(run.left / places.count, unitCount - done)
                precondition(count > 0, "runs are made of whole units")
                unsafe data.bytes.withUnsafeBufferPointer { data in
                    unsafe entries.withUnsafeBufferPointer { entries in
                        unsafe slots.withUnsafeBufferPointer { slots in
                            guard let data = data.baseAddress, let entries = entries.baseAddress,
                                let slots = slots.baseAddress
                            else { return }
                            let reader = unsafe BlockReader(
                                data: data, entries: entries, slots: slots, codes: codes)
                            unsafe read(done..<done + count, reader, index, &coefficients)
                        }
                    }
                }
                done += count
            }
        }

        @unsafe private mutating func read(
            _ units: Range<Int>, _ reader: BlockReader, _ index: BlockIndex,
            _ coefficients: inout [Int16]
        ) {
            var run = run
            unsafe coefficients.withUnsafeMutableBufferPointer { target in
                unsafe places.withUnsafeBufferPointer { places in
                    unsafe index.ends.withUnsafeBufferPointer { ends in
                        unsafe predictions.withUnsafeMutableBufferPointer { predictions in
                            guard let target = target.baseAddress, let ends = ends.baseAddress,
                                let predictions = predictions.baseAddress
                            else { return }
                            for unit in units {
                                var index = 0
                                while index < places.count {
                                    let place = unsafe places[index]
                                    var block = unsafe reader.readFirst(
                                        at: run.position, place, predictions + place.part,
                                        target + (place.start &+ unit &* place.step))
                                    unsafe run.step(ends)
                                    index &+= 1
                                    if place.lastKept <= 4 || index == places.count {
                                        if place.lastKept > 0 { unsafe reader.readRest(&block) }
                                        continue
                                    }
                                    let next = unsafe places[index]
                                    var other = unsafe reader.readFirst(
                                        at: run.position, next, predictions + next.part,
                                        target + (next.start &+ unit &* next.step))
                                    unsafe run.step(ends)
                                    index &+= 1
                                    unsafe reader.readRest(&block, &other)
                                }
                            }
                        }
                    }
                }
            }
            run.left -= units.count * places.count
            self.run = run
        }

        private mutating func startRun(_ index: BlockIndex) {
            let next = index.runs[nextRun]
            nextRun += 1
            run = Run(left: next.blockCount, position: next.start, note: next.firstEnd)
            guard next.isRestart else { return }
            for part in predictions.indices { predictions[part] = 0 }
        }
    }

    /// By the next 12 bits: what a symbol is, for reading its value.
    ///
    /// | bits | |
    /// |---|---|
    /// | 0–4 | length of the code and of the value behind it, 1 to 27; 0 stands for longer codes |
    /// | 5–8 | bits of the value |
    /// | 9–15 | coefficients passed, this one counted; 64 at the end of the block |
    struct ValueEntry {
        private let bits: UInt16

        /// From an entry of ``HuffmanCode/window``.
        init(_ entry: UInt16, isAC: Bool) {
            self.init(symbol: Int(entry >> 8), length: Int(entry & 255), isAC: isAC)
        }

        init(symbol: Int, length: Int, isAC: Bool) {
            let magnitude = symbol & 15
            // A run of 16 is a coefficient of 0 behind 15 others.
            let isValue = magnitude > 0 || symbol == 0xF0
            let passed = isAC ? isValue ? symbol >> 4 + 1 : 64 : 1
            bits = length == 0 ? 0 : UInt16(passed << 9 | magnitude << 5 | length + magnitude)
        }

        var isLong: Bool { @inline(always) get { bits == 0 } }
        var bitCount: Int { @inline(always) get { Int(bits & 31) } }
        var magnitude: Int { @inline(always) get { Int(bits &>> 5 & 15) } }
        var passed: Int { @inline(always) get { Int(bits &>> 9) } }
    }

    /// Reads one block.
    @unsafe private struct BlockReader {
        let data: UnsafePointer<UInt8>
        let entries: UnsafePointer<ValueEntry>
        let slots: UnsafePointer<Int32>
        let codes: BlockCodes

        /// A block whose first coefficient has been read.
        @safe struct Block {
            var position: Int
            /// The place in zigzag order of the last coefficient that has been read or passed.
            var index = 0
            let lastKept: Int
            let part: Int
            let slots: UnsafePointer<Int32>
            let target: UnsafeMutablePointer<Int16>
        }

        @inline(always)
        func readFirst(
            at start: Int, _ place: LowFrequencyReader.Place,
            _ prediction: UnsafeMutablePointer<Int>, _ target: UnsafeMutablePointer<Int16>
        ) -> Block {
            let part = place.part
            let table = part &* (2 * SkipTables.entryCount)
            var bits = unsafe BitWindow.load(data, at: start)
            var entry = unsafe entries[table &+ BitWindow.index(bits)]
            if _slowPath(entry.isLong) { entry = unsafe longEntry(part, bits, isAC: false) }
            bits = unsafe rotated(bits, entry.bitCount)
            unsafe prediction.pointee &+= value(bits, entry.magnitude)
            unsafe target.pointee = Int16(truncatingIfNeeded: prediction.pointee)
            return unsafe Block(
                position: start &+ entry.bitCount, lastKept: place.lastKept, part: part,
                slots: slots + part &* LowFrequencyReader.slotCount, target: target)
        }

        @inline(always)
        func readRest(_ block: inout Block) {
            if block.lastKept == 4 {
                unsafe readTwo(&block)
                unsafe readTwo(&block)
                return
            }
            while block.index < block.lastKept { unsafe readTwo(&block) }
        }

        /// Reads two blocks side by side until neither wants more.
        ///
        /// When a block ends cannot be foretold; so it is asked once for both, and while one of
        /// them waits for its symbols the other is read.
        @inline(always)
        func readRest(_ first: inout Block, _ second: inout Block) {
            while (first.index &- first.lastKept) | (second.index &- second.lastKept) < 0 {
                // One that waits for the other goes nowhere.
                first.index = first.index < 128 ? first.index : 128
                second.index = second.index < 128 ? second.index : 128
                unsafe readTwo(&first)
                unsafe readTwo(&second)
            }
        }

        /// Two symbols whose codes are in the table fit into the 57 bits of a load.
        @inline(always)
        private func readTwo(_ block: inout Block) {
            var bits = unsafe BitWindow.load(data, at: block.position)
            let table = (block.part &* 2 &+ 1) &* SkipTables.entryCount
            for _ in 0..<2 {
                var entry = unsafe entries[table &+ BitWindow.index(bits)]
                if _slowPath(entry.isLong) {
                    // Behind the wanted ones it may be anything, even no code at all.
                    guard block.index < block.lastKept else { return }
                    entry = unsafe longEntry(block.part, bits, isAC: true)
                }
                bits = unsafe rotated(bits, entry.bitCount)
                block.position &+= entry.bitCount
                block.index &+= entry.passed
                let slot = unsafe Int(block.slots[block.index])
                unsafe block.target[slot] = Int16(truncatingIfNeeded: value(bits, entry.magnitude))
            }
        }

        /// Brings the next bits to the left, and to the right those that were there.
        @inline(always)
        private func rotated(_ bits: UInt64, _ count: Int) -> UInt64 {
            let count = UInt64(truncatingIfNeeded: count)
            return bits &<< count | bits &>> (0 &- count)
        }

        /// The number in the bits on the right: of those of as many bits, the lower half stands for
        /// negatives.
        @inline(always)
        private func value(_ bits: UInt64, _ magnitude: Int) -> Int {
            let mask = 1 &<< magnitude &- 1
            let number = Int(truncatingIfNeeded: bits) & mask
            let isNegative = (number &+ number &- mask &- 1) &>> 63
            return number &- (mask & isNegative)
        }

        @inline(never)
        private func longEntry(_ part: Int, _ bits: UInt64, isAC: Bool) -> ValueEntry {
            let code = unsafe (isAC ? codes.ac : codes.dc)[part]
            let found = code.symbol(Int(bits >> 48)) ?? (0, 1)
            return ValueEntry(symbol: found.symbol, length: found.length, isAC: isAC)
        }
    }
#endif

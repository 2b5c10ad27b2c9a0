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

        private let codes: BlockCodes
        private let places: [Place]
        /// By part: the table of first symbols, then that of the others.
        private let entries: [ValueEntry]
        private let slots: [CoefficientSlot]
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
        }

        /// - Parameters:
        ///   - codes: the codes of the scan's parts.
        ///   - places: the blocks of a unit, in order.
        ///   - rows: by part, how coefficients are kept.
        ///   - quantization: by part, factors in zigzag order.
        init(
            _ codes: BlockCodes, places: [Place], rows: [LowFrequencyRow],
            quantization: [[UInt16]]
        ) {
            self.codes = codes
            self.places = places
            predictions = Array(repeating: 0, count: rows.count)
            entries = rows.indices.flatMap { part in
                codes.dc[part].window.map { ValueEntry($0, isAC: false) }
                    + codes.ac[part].window.map { ValueEntry($0, isAC: true) }
            }
            slots = rows.indices.flatMap { part in
                (0..<CoefficientSlot.count).map { place in
                    CoefficientSlot(
                        offset: Int32(rows[part].offset(ofZigzag: place)),
                        factor: place < 64 ? Float(quantization[part][place]) : 0)
                }
            }
        }

        /// Reads the next units of the scan into the buffer, which is all zeros.
        mutating func readRow(
            unitCount: Int, _ data: EntropyCodedData, _ index: BlockIndex,
            into coefficients: inout [Float]
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
            _ coefficients: inout [Float]
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
                                for index in 0..<places.count {
                                    let place = unsafe places[index]
                                    unsafe reader.read(
                                        at: run.position, place, predictions + place.part,
                                        target + (place.start &+ unit &* place.step))
                                    let low = UInt16(truncatingIfNeeded: run.position)
                                    run.position &+= unsafe Int(ends[run.note] &- low)
                                    run.note &+= 1
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

    /// Where a coefficient goes, and what it is multiplied with.
    struct CoefficientSlot {
        /// Four symbols behind the last one that is kept can pass 65 coefficients each.
        static let count = 384

        var offset: Int32
        var factor: Float
    }

    /// By the next 12 bits: what a symbol is, for reading its value.
    ///
    /// | bits | |
    /// |---|---|
    /// | 0–3 | length of the code, 1 to 12; 0 stands for longer codes |
    /// | 4–7 | bits of the value behind it |
    /// | 8–14 | coefficients to pass before; 64 at the end of the block |
    struct ValueEntry {
        private let bits: UInt16

        /// From an entry of ``HuffmanCode/window``.
        init(_ symbol: UInt16, isAC: Bool) {
            let magnitude = symbol >> 8 & 15
            let run = isAC && symbol != 0 ? Self.pass(Int(symbol >> 8)) : 0
            bits = UInt16(run) << 8 | magnitude << 4 | symbol & 15
        }

        /// A run of 16 is 15 and a coefficient of 0.
        static func pass(_ symbol: Int) -> Int {
            symbol & 15 > 0 || symbol == 0xF0 ? symbol >> 4 : 64
        }

        var length: Int { @inline(always) get { Int(bits & 15) } }
        var magnitude: Int { @inline(always) get { Int(bits >> 4 & 15) } }
        var pass: Int { @inline(always) get { Int(bits >> 8) } }
    }

    /// Reads one block.
    @unsafe private struct BlockReader {
        let data: UnsafePointer<UInt8>
        let entries: UnsafePointer<ValueEntry>
        let slots: UnsafePointer<CoefficientSlot>
        let codes: BlockCodes

        @inline(always)
        func read(
            at start: Int, _ place: LowFrequencyReader.Place,
            _ prediction: UnsafeMutablePointer<Int>, _ target: UnsafeMutablePointer<Float>
        ) {
            let (part, lastKept) = (place.part, place.lastKept)
            let table = part &* (2 * SkipTables.entryCount)
            let bits = unsafe load(start)
            let entry = unsafe entries[table &+ window(bits)]
            var (length, magnitude) = (entry.length, entry.magnitude)
            if _slowPath(length == 0) {
                (length, magnitude) = unsafe longSymbol(codes.dc[part], bits)
            }
            unsafe prediction.pointee &+= value(bits, length, magnitude)
            let slots = unsafe slots + part &* CoefficientSlot.count
            unsafe target.pointee = Float(prediction.pointee) * slots[0].factor
            if lastKept == 0 { return }
            var position = start &+ length &+ magnitude
            var place = 1
            let acTable = table &+ SkipTables.entryCount
            if lastKept == 4 {
                unsafe readTwo(&position, &place, acTable, part, 4, slots, target)
                unsafe readTwo(&position, &place, acTable, part, 4, slots, target)
                return
            }
            while place <= lastKept {
                unsafe readTwo(&position, &place, acTable, part, lastKept, slots, target)
            }
        }

        /// Two symbols fit into the 57 bits of a load, whatever they are.
        @inline(always)
        private func readTwo(
            _ position: inout Int, _ place: inout Int, _ table: Int, _ part: Int, _ lastKept: Int,
            _ slots: UnsafePointer<CoefficientSlot>, _ target: UnsafeMutablePointer<Float>
        ) {
            var bits = unsafe load(position)
            for _ in 0..<2 {
                let entry = unsafe entries[table &+ window(bits)]
                var (length, magnitude, pass) = (entry.length, entry.magnitude, entry.pass)
                if _slowPath(length == 0) {
                    // Behind the wanted ones it may be anything, even no code at all.
                    guard place <= lastKept else { return }
                    (length, magnitude, pass) = unsafe longACSymbol(codes.ac[part], bits)
                }
                place &+= pass
                let slot = unsafe slots[place]
                let value = Float(unsafe value(bits, length, magnitude))
                unsafe target[Int(slot.offset)] = value * slot.factor
                place &+= 1
                bits &<<= UInt64(truncatingIfNeeded: length &+ magnitude)
                position &+= length &+ magnitude
            }
        }

        @inline(always)
        private func load(_ position: Int) -> UInt64 {
            let bytes = unsafe UnsafeRawPointer(data + position &>> 3)
            return unsafe UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
                &<< UInt64(truncatingIfNeeded: position & 7)
        }

        @inline(always)
        private func window(_ bits: UInt64) -> Int {
            Int(truncatingIfNeeded: bits &>> UInt64(64 - HuffmanCode.windowBits))
        }

        /// The number behind a code: of those of as many bits, the lower half stands for negatives.
        @inline(always)
        private func value(_ bits: UInt64, _ length: Int, _ magnitude: Int) -> Int {
            let rest = bits &<< UInt64(truncatingIfNeeded: length)
            // Two shifts, as one by 64 would be one by 0.
            let number = Int(truncatingIfNeeded: (rest &>> 1) &>> UInt64(63 &- magnitude))
            let isNegative = ~(Int(truncatingIfNeeded: rest) &>> 63)
            return number &- ((1 &<< magnitude &- 1) & isNegative)
        }

        @inline(never)
        private func longSymbol(_ code: HuffmanCode, _ bits: UInt64) -> (Int, Int) {
            guard let (symbol, length) = code.symbol(Int(bits >> 48)) else { return (0, 0) }
            return (length, symbol)
        }

        @inline(never)
        private func longACSymbol(_ code: HuffmanCode, _ bits: UInt64) -> (Int, Int, Int) {
            guard let (symbol, length) = code.symbol(Int(bits >> 48)) else { return (0, 0, 64) }
            return (length, symbol & 15, ValueEntry.pass(symbol))
        }
    }
#endif

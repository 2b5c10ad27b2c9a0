// SPDX-License-Identifier: Apache-2.0

#if JPEG
    /// Reads a scan that brings a band of a component's other coefficients.
    struct ProgressiveBand {
        private let code: HuffmanCode?
        private let band: ClosedRange<Int>
        private let isFirst: Bool
        private let low: Int
        private let component: ProgressivePicture.Component
        /// Which coefficients are kept, in zigzag order.
        private let kept: UInt64
        private let unitsAcross: Int
        /// From here on nothing is kept, and ``table`` is what reads the band.
        private let firstSkipped: Int
        private let table: BandTable?
        /// What reads the band instead, where nearly all of it is kept.
        private let short: ShortBand?

        /// - Parameters:
        ///   - scan: has one component; a unit is a block.
        ///   - picture: what is read.
        ///   - unitsAcross: units in a row.
        ///   - makesTable: whether there are so many that a table is worth its making.
        init(
            _ scan: JPEGScan, _ picture: ProgressivePicture, unitsAcross: Int, makesTable: Bool
        ) {
            code = scan.parts[0].acCode
            band = scan.band
            isFirst = scan.high == 0
            low = scan.low
            let component = picture.components[scan.parts[0].component]
            self.component = component
            kept = component.places.indices.reduce(0) {
                component.places[$1] >= 0 ? $0 | 1 << UInt64($1) : $0
            }
            self.unitsAcross = unitsAcross
            let behindKept = max(64 - kept.leadingZeroBitCount, band.lowerBound)
            firstSkipped = makesTable ? behindKept : 64
            if let code, makesTable, isFirst, band.upperBound <= behindKept + 1 {
                short = ShortBand(code, band, low: low, places: component.places)
                table = nil
            } else if let code, makesTable, behindKept <= band.upperBound {
                short = nil
                table = BandTable(code, isFirst: isFirst)
            } else {
                (short, table) = (nil, nil)
            }
        }

        /// - Returns: whether all of it was there and made sense.
        func read(
            _ units: Range<Int>, _ cursor: inout BitCursor,
            into picture: inout ProgressivePicture
        ) -> Bool {
            unsafe picture.coefficients.withUnsafeMutableBufferPointer { coefficients in
                unsafe picture.nonZero.withUnsafeMutableBufferPointer { nonZero in
                    guard let coefficients = coefficients.baseAddress,
                        let nonZero = nonZero.baseAddress
                    else { return false }
                    return unsafe withTables { reader, places, table in
                        let blocks = unsafe BlockPointers(
                            reader: reader, places: places, table: table,
                            coefficients: coefficients + component.start,
                            nonZero: nonZero + component.firstBlock,
                            size: component.blockSide * component.blockSide)
                        return unsafe isFirst
                            ? readFirst(units, &cursor, blocks) : refine(units, &cursor, blocks)
                    }
                }
            }
        }

        /// - Returns: what `body` returns, or false if there is no code.
        @unsafe private func withTables(
            _ body: (SymbolReader, UnsafePointer<Int>, UnsafePointer<UInt32>) -> Bool
        ) -> Bool {
            guard let code else { return false }
            // Where there is no table, nobody looks into it.
            return unsafe (table?.entries ?? [0]).withUnsafeBufferPointer { table in
                unsafe component.places.withUnsafeBufferPointer { places in
                    unsafe code.window.withUnsafeBufferPointer { window in
                        guard let window = window.baseAddress, let places = places.baseAddress,
                            let table = table.baseAddress
                        else { return false }
                        return unsafe body(SymbolReader(code, window), places, table)
                    }
                }
            }
        }

        @unsafe private struct BlockPointers {
            let reader: SymbolReader
            let places: UnsafePointer<Int>
            let table: UnsafePointer<UInt32>
            let coefficients: UnsafeMutablePointer<Int16>
            let nonZero: UnsafeMutablePointer<UInt64>
            let size: Int
        }

        /// Reads what ``BandTable`` can of the rest of a block's band, of which nothing is kept.
        ///
        /// - Parameters:
        ///   - place: where in the band it is; behind the band if it comes to the end.
        ///   - nonZero: the coefficients that are not 0 are added to it.
        ///   - cursor: where in the data it is.
        ///   - table: the entries of ``table``.
        @unsafe @inline(always)
        private func skip(
            _ place: inout Int, _ nonZero: inout UInt64, _ cursor: inout BitCursor,
            _ table: UnsafePointer<UInt32>
        ) {
            let last = band.upperBound
            while true {
                var bits = cursor.peek()
                var used = 0
                for _ in 0..<2 {
                    let entry = unsafe table[BitWindow.index(bits)]
                    let next = place &+ BandTable.passed(entry)
                    let isEnd = BandTable.isEnd(entry)
                    // What stands behind the last coefficient is the next block's.
                    guard entry != 0, next &+ isEnd <= last &+ 1 else {
                        cursor.skip(used)
                        return
                    }
                    bits &<<= UInt64(truncatingIfNeeded: entry)
                    used &+= BandTable.bitCount(entry)
                    nonZero |= BandTable.nonZero(entry) &<< UInt64(truncatingIfNeeded: place)
                    place = next
                    guard isEnd == 0, place <= last else {
                        place = last &+ 1
                        cursor.skip(used)
                        return
                    }
                }
                cursor.skip(used)
            }
        }

        /// The number of a unit's block.
        private func block(of unit: Int) -> Int {
            let (y, x) = unit.quotientAndRemainder(dividingBy: unitsAcross)
            return y * component.blocksAcross + x
        }

        @unsafe private func readFirst(
            _ units: Range<Int>, _ cursor: inout BitCursor, _ blocks: BlockPointers
        ) -> Bool {
            let last = band.upperBound
            var at = cursor
            defer { cursor = at }
            var unit = units.lowerBound
            while unit < units.upperBound {
                let block = block(of: unit)
                let rowEnd = min((unit / unitsAcross + 1) * unitsAcross, units.upperBound)
                if let short {
                    let end = unsafe short.read(
                        block..<block + rowEnd - unit, &at, blocks.coefficients, blocks.nonZero,
                        size: blocks.size)
                    guard let end else { return false }
                    unit += end - block
                    continue
                }
                let start = unit
                while unit < rowEnd {
                    let target = unsafe blocks.coefficients + (block + unit - start) * blocks.size
                    var place = band.lowerBound
                    var nonZero: UInt64 = 0
                    // Blocks in which the band is empty, from here on.
                    var emptyBlocks = 0
                    while place <= last {
                        if place >= firstSkipped {
                            unsafe skip(&place, &nonZero, &at, blocks.table)
                            guard place <= last else { break }
                        }
                        let bits = at.peek()
                        let entry = unsafe blocks.reader.entry(bits)
                        guard entry != 0, at.isInside else { return false }
                        let length = entry & 255
                        let (run, magnitude) = (entry &>> 12, entry &>> 8 & 15)
                        let rest = bits &<< UInt64(truncatingIfNeeded: length)
                        if magnitude > 0 {
                            place &+= run
                            guard place < 64 else { return false }
                            at.skip(length &+ magnitude)
                            nonZero |= 1 &<< UInt64(truncatingIfNeeded: place)
                            let kept = unsafe blocks.places[place]
                            if kept >= 0 {
                                unsafe target[kept] = Int16(
                                    truncatingIfNeeded: BitNumber.signed(rest, magnitude) &<< low)
                            }
                            place &+= 1
                        } else if run == 15 {
                            at.skip(length)
                            place &+= 16
                        } else {
                            at.skip(length &+ run)
                            emptyBlocks = 1 &<< run &+ BitNumber.unsigned(rest, run)
                            break
                        }
                    }
                    unsafe blocks.nonZero[block + unit - start] |= nonZero
                    guard at.isInside else { return false }
                    guard emptyBlocks <= 1 else {
                        unit += emptyBlocks
                        break
                    }
                    unit += 1
                }
            }
            return true
        }

        /// One more bit for each coefficient of the band that is not 0, and coefficients that
        /// come to be ±1 among those that are.
        ///
        /// Which of them are not 0 is known by a mask, so that bits of those that are not kept
        /// need only be counted.
        @unsafe private func refine(
            _ units: Range<Int>, _ cursor: inout BitCursor, _ blocks: BlockPointers
        ) -> Bool {
            let last = band.upperBound
            let bandMask = Self.mask(from: band.lowerBound) & ~Self.mask(from: last + 1)
            let lastKept = 63 - kept.leadingZeroBitCount
            let one = 1 << low
            var at = cursor
            defer { cursor = at }
            var emptyBlocks = 0
            var block = 0
            var left = 0
            for unit in units {
                if left == 0 {
                    block = self.block(of: unit)
                    left = unitsAcross - unit % unitsAcross
                }
                let old = unsafe blocks.nonZero[block] & bandMask
                let target = unsafe blocks.coefficients + block * blocks.size
                var new: UInt64 = 0
                var place = band.lowerBound
                // The run of a symbol counts only coefficients that were 0.
                var zeros = ~old & bandMask
                let firstSkipped = max(firstSkipped, 64 &- old.leadingZeroBitCount)
                while place <= last, emptyBlocks == 0 {
                    if place >= firstSkipped {
                        unsafe skip(&place, &new, &at, blocks.table)
                        guard place <= last else { break }
                        zeros = bandMask & Self.mask(from: place)
                    }
                    let bits = at.peek()
                    let entry = unsafe blocks.reader.entry(bits)
                    guard entry != 0, at.isInside else { return false }
                    let length = entry & 255
                    let (run, magnitude) = (entry &>> 12, entry &>> 8 & 15)
                    let rest = bits &<< UInt64(truncatingIfNeeded: length)
                    if magnitude == 0 && run < 15 {
                        at.skip(length &+ run)
                        emptyBlocks = 1 &<< run &+ BitNumber.unsigned(rest, run)
                        break
                    }
                    at.skip(length &+ (magnitude > 0 ? 1 : 0))
                    zeros = Self.dropping(run, of: zeros)
                    guard zeros != 0 else {
                        // None is left for the run to end at.
                        unsafe refine(old & Self.mask(from: place), one, &at, blocks, target)
                        place = last + 1
                        break
                    }
                    let end = zeros.trailingZeroBitCount
                    zeros &= zeros &- 1
                    if place <= lastKept {
                        let passed = old & Self.mask(from: place) & ~Self.mask(from: end)
                        unsafe refine(passed, kept, one, at, blocks, target)
                        let keptPlace = unsafe blocks.places[end]
                        if keptPlace >= 0, magnitude > 0 {
                            unsafe target[keptPlace] = Int16(
                                truncatingIfNeeded: Int(rest &>> 63) == 1 ? one : -one)
                        }
                    }
                    // All on the way have a bit but the zeros of the run.
                    at.skip(end &- place &- run)
                    place = end &+ 1
                    new |= (magnitude > 0 ? 1 : 0) &<< UInt64(truncatingIfNeeded: end)
                }
                if emptyBlocks > 0 {
                    emptyBlocks &-= 1
                    if place <= last {
                        unsafe refine(old & Self.mask(from: place), one, &at, blocks, target)
                    }
                }
                unsafe blocks.nonZero[block] |= new
                guard at.isInside else { return false }
                block &+= 1
                left &-= 1
            }
            return true
        }

        /// Takes a bit for each coefficient in `passed`.
        @unsafe @inline(always)
        private func refine(
            _ passed: UInt64, _ one: Int, _ cursor: inout BitCursor, _ blocks: BlockPointers,
            _ target: UnsafeMutablePointer<Int16>
        ) {
            guard passed != 0 else { return }
            unsafe refine(passed, kept, one, cursor, blocks, target)
            cursor.skip(passed.nonzeroBitCount)
        }

        /// Reads the bits of those coefficients in `passed` that are kept.
        @unsafe @inline(always)
        private func refine(
            _ passed: UInt64, _ kept: UInt64, _ one: Int, _ cursor: BitCursor,
            _ blocks: BlockPointers, _ target: UnsafeMutablePointer<Int16>
        ) {
            var wanted = passed & kept
            guard wanted != 0 else { return }
            let bits = cursor.peek()
            guard unsafe blocks.size > 4 else {
                // At the places 1, 2 and 4, without a branch to mispredict.
                let (p1, p2, p3) = (passed &>> 1 & 1, passed &>> 2 & 1, passed &>> 3 & 1)
                unsafe add(p1 & bits &>> 63, one, target + blocks.places[1])
                unsafe add(p2 & bits &>> (63 &- p1), one, target + blocks.places[2])
                unsafe add(
                    passed &>> 4 & bits &>> (63 &- p1 &- p2 &- p3) & 1, one,
                    target + blocks.places[4])
                return
            }
            var later = cursor
            later.skip(56)
            // Of 8 × 8 coefficients there can be more than one look brings.
            let laterBits = later.peek()
            while wanted != 0 {
                let place = wanted.trailingZeroBitCount
                wanted &= wanted &- 1
                let rank = (passed & ~Self.mask(from: place)).nonzeroBitCount
                let bit = rank < 56 ? bits << UInt64(rank) : laterBits << UInt64(rank - 56)
                unsafe add(bit >> 63, one, target + blocks.places[place])
            }
        }

        /// Takes a coefficient further from 0 by `one` if the bit is 1.
        @unsafe @inline(always)
        private func add(_ bit: UInt64, _ one: Int, _ coefficient: UnsafeMutablePointer<Int16>) {
            let value = unsafe Int(coefficient.pointee)
            let sign = value &>> 63
            let change = one & (0 &- Int(truncatingIfNeeded: bit))
            unsafe coefficient.pointee = Int16(truncatingIfNeeded: value &+ (change ^ sign) &- sign)
        }

        /// The set without its lowest members.
        ///
        /// Runs are mostly short and of no length that could be foretold, so there is no loop for
        /// up to three.
        @inline(always)
        private static func dropping(_ count: Int, of set: UInt64) -> UInt64 {
            let one = set & (set &- 1)
            let two = one & (one &- 1)
            let three = two & (two &- 1)
            let isOne = UInt64(bitPattern: Int64((0 &- count) &>> 63))
            let isTwo = UInt64(bitPattern: Int64((1 &- count) &>> 63))
            let isThree = UInt64(bitPattern: Int64((2 &- count) &>> 63))
            var rest =
                set ^ ((set ^ one) & isOne) ^ ((one ^ two) & isTwo) ^ ((two ^ three) & isThree)
            if count > 3 { for _ in 3..<count { rest &= rest &- 1 } }
            return rest
        }

        /// The places from one on; none from 64 on.
        @inline(always)
        private static func mask(from place: Int) -> UInt64 {
            // Two shifts, as one by 64 would be one by 0.
            (.max &<< UInt64(place &>> 1)) &<< UInt64(place &- place &>> 1)
        }
    }
#endif

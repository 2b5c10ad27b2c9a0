// SPDX-License-Identifier: Apache-2.0

#if JPEG
    /// Reads one scan of a progressive file (ITU-T T.81, annex G).
    struct ProgressiveScan {
        private let scan: JPEGScan
        private let data: EntropyCodedData
        private let unitsAcross: Int
        private let unitCount: Int
        /// The blocks of a unit.
        private let places: [Place]

        /// A block of a unit.
        private struct Place {
            var part: Int
            /// Its number among the component's blocks, for the first unit.
            var block: Int
            /// How much higher that number is for the next unit, and for the one below.
            var step: Int
            var rowStep: Int
        }

        init(
            _ scan: JPEGScan, _ frame: JPEGFrame, _ picture: ProgressivePicture,
            _ data: EntropyCodedData
        ) {
            self.scan = scan
            self.data = data
            let isAlone = scan.parts.count == 1
            let first = frame.components[scan.parts[0].component]
            unitsAcross = isAlone ? first.blocksAcross : frame.unitsAcross
            unitCount = unitsAcross * (isAlone ? first.blocksDown : frame.unitsDown)
            var places: [Place] = []
            for (index, part) in scan.parts.enumerated() {
                let component = frame.components[part.component]
                let stride = picture.components[part.component].blocksAcross
                let across = isAlone ? 1 : component.horizontalSampling
                let down = isAlone ? 1 : component.verticalSampling
                for row in 0..<down {
                    for column in 0..<across {
                        places.append(
                            .init(
                                part: index, block: row * stride + column, step: across,
                                rowStep: down * stride))
                    }
                }
            }
            self.places = places
        }

        /// - Throws: ``ShrinkingStop/notHandled`` if the data is damaged or cut short.
        func read(into picture: inout ProgressivePicture) throws(ShrinkingStop) {
            let interval = scan.restartInterval == 0 ? unitCount : scan.restartInterval
            guard data.segments.count == (unitCount + interval - 1) / interval,
                !data.hasLostMarkers
            else { throw .notHandled }
            for (index, segment) in data.segments.enumerated() {
                let units = index * interval..<min((index + 1) * interval, unitCount)
                let isGood = unsafe data.bytes.withUnsafeBufferPointer { bytes in
                    guard let bytes = bytes.baseAddress else { return false }
                    var cursor = unsafe BitCursor(bytes, segment)
                    switch (scan.band.lowerBound, scan.high) {
                    case (0, 0): return readDC(units, &cursor, &picture)
                    case (0, _): return refineDC(units, &cursor, &picture)
                    case (_, 0): return readAC(units, &cursor, &picture)
                    default: return refineAC(units, &cursor, &picture)
                    }
                }
                guard isGood else { throw .notHandled }
            }
        }

        // MARK: First coefficients

        private func readDC(
            _ units: Range<Int>, _ cursor: inout BitCursor, _ picture: inout ProgressivePicture
        ) -> Bool {
            var predictions = [Int](repeating: 0, count: scan.parts.count)
            let readers = scan.parts.compactMap { $0.dcCode.map { SymbolReader(code: $0) } }
            return forEachBlock(units, &cursor, &picture) { cursor, place, first in
                guard let (symbol, rest) = cursor.symbol(readers[place.part]) else { return false }
                predictions[place.part] &+= BitCursor.signed(rest, symbol)
                cursor.skip(symbol)
                first = Int16(truncatingIfNeeded: predictions[place.part] << scan.low)
                return true
            }
        }

        private func refineDC(
            _ units: Range<Int>, _ cursor: inout BitCursor, _ picture: inout ProgressivePicture
        ) -> Bool {
            forEachBlock(units, &cursor, &picture) { cursor, _, first in
                first |= Int16(truncatingIfNeeded: cursor.bits(1) << scan.low)
                return true
            }
        }

        @inline(always)
        private func forEachBlock(
            _ units: Range<Int>, _ cursor: inout BitCursor, _ picture: inout ProgressivePicture,
            _ body: (inout BitCursor, Place, inout Int16) -> Bool
        ) -> Bool {
            let components = scan.parts.map { picture.components[$0.component] }
            var (y, x) = units.lowerBound.quotientAndRemainder(dividingBy: unitsAcross)
            for _ in units {
                for place in places {
                    let component = components[place.part]
                    let block = place.block + x * place.step + y * place.rowStep
                    let index = component.start + block * component.blockSide * component.blockSide
                    guard body(&cursor, place, &picture.coefficients[index]) else { return false }
                }
                guard cursor.isInside else { return false }
                x += 1
                if x == unitsAcross { (x, y) = (0, y + 1) }
            }
            return true
        }

        // MARK: Other coefficients

        private func readAC(
            _ units: Range<Int>, _ cursor: inout BitCursor, _ picture: inout ProgressivePicture
        ) -> Bool {
            guard let code = scan.parts[0].acCode else { return false }
            let reader = SymbolReader(code: code)
            let component = picture.components[scan.parts[0].component]
            let size = component.blockSide * component.blockSide
            // Blocks that are left of a run in which the band is empty.
            var emptyBlocks = 0
            var unit = units.lowerBound
            while unit < units.upperBound {
                if emptyBlocks > 0 {
                    let count = min(emptyBlocks, units.upperBound - unit)
                    emptyBlocks -= count
                    unit += count
                    continue
                }
                let (y, x) = unit.quotientAndRemainder(dividingBy: unitsAcross)
                let block = y * places[0].rowStep + x
                var place = scan.band.lowerBound
                var nonZero: UInt64 = 0
                while place <= scan.band.upperBound {
                    guard let (symbol, rest) = cursor.symbol(reader), cursor.isInside else {
                        return false
                    }
                    let (run, magnitude) = (symbol >> 4, symbol & 15)
                    if magnitude > 0 {
                        place += run
                        guard place < 64 else { return false }
                        cursor.skip(magnitude)
                        nonZero |= 1 << UInt64(place)
                        let kept = component.places[place]
                        if kept >= 0 {
                            picture.coefficients[component.start + block * size + kept] = Int16(
                                truncatingIfNeeded: BitCursor.signed(rest, magnitude) << scan.low)
                        }
                        place += 1
                    } else if run == 15 {
                        place += 16
                    } else {
                        emptyBlocks = 1 << run + BitCursor.number(rest, run) - 1
                        cursor.skip(run)
                        break
                    }
                }
                picture.nonZero[component.firstBlock + block] |= nonZero
                unit += 1
            }
            return cursor.isInside
        }

        /// One more bit for each coefficient of the band that is not 0, and coefficients that
        /// come to be ±1 among those that are.
        ///
        /// Of the bits only those of kept coefficients are looked at; the others are counted.
        private func refineAC(
            _ units: Range<Int>, _ cursor: inout BitCursor, _ picture: inout ProgressivePicture
        ) -> Bool {
            guard let code = scan.parts[0].acCode else { return false }
            let reader = SymbolReader(code: code)
            let component = picture.components[scan.parts[0].component]
            let size = component.blockSide * component.blockSide
            let last = scan.band.upperBound
            let one = 1 << scan.low
            let kept = component.places.indices.reduce(0 as UInt64) {
                component.places[$1] >= 0 ? $0 | 1 << UInt64($1) : $0
            }
            var emptyBlocks = 0
            for unit in units {
                let (y, x) = unit.quotientAndRemainder(dividingBy: unitsAcross)
                let block = y * places[0].rowStep + x
                let old = picture.nonZero[component.firstBlock + block]
                var new = old
                var place = scan.band.lowerBound
                let start = component.start + block * size
                while place <= last, emptyBlocks == 0 {
                    guard let (symbol, rest) = cursor.symbol(reader), cursor.isInside else {
                        return false
                    }
                    let (run, magnitude) = (symbol >> 4, symbol & 15)
                    var value = 0
                    if magnitude > 0 {
                        value = Int(rest >> 63) == 1 ? one : -one
                        cursor.skip(1)
                    } else if run < 15 {
                        emptyBlocks = 1 << run + BitCursor.number(rest, run)
                        cursor.skip(run)
                        break
                    }
                    // The run counts only coefficients that were 0; all others on the way get a bit.
                    var zeros = ~old & Self.mask(place...last)
                    for _ in 0..<run { zeros &= zeros &- 1 }
                    let target = zeros == 0 ? last + 1 : zeros.trailingZeroBitCount
                    let passed = old & Self.mask(place..<target)
                    refine(passed, kept, one, &cursor, &picture, start, component)
                    place = target + 1
                    guard value != 0, target <= last else { continue }
                    new |= 1 << UInt64(target)
                    if component.places[target] >= 0 {
                        picture.coefficients[start + component.places[target]] = Int16(
                            truncatingIfNeeded: value)
                    }
                }
                if emptyBlocks > 0 {
                    emptyBlocks -= 1
                    let rest = place <= last ? old & Self.mask(place...last) : 0
                    refine(rest, kept, one, &cursor, &picture, start, component)
                }
                picture.nonZero[component.firstBlock + block] = new
                guard cursor.isInside else { return false }
            }
            return true
        }

        /// Takes a bit for each coefficient in `passed`.
        @inline(always)
        private func refine(
            _ passed: UInt64, _ kept: UInt64, _ one: Int, _ cursor: inout BitCursor,
            _ picture: inout ProgressivePicture, _ start: Int,
            _ component: ProgressivePicture.Component
        ) {
            var wanted = passed & kept
            if wanted != 0 {
                let bits = cursor.peek()
                while wanted != 0 {
                    let place = wanted.trailingZeroBitCount
                    wanted &= wanted &- 1
                    let rank = (passed & (1 << UInt64(place) &- 1)).nonzeroBitCount
                    guard Int64(bitPattern: bits << UInt64(rank)) < 0 else { continue }
                    let index = start + component.places[place]
                    let value = Int(picture.coefficients[index])
                    guard value & one == 0 else { continue }
                    picture.coefficients[index] = Int16(
                        truncatingIfNeeded: value < 0 ? value - one : value + one)
                }
            }
            cursor.skip(passed.nonzeroBitCount)
        }

        private static func mask(_ range: Range<Int>) -> UInt64 {
            range.isEmpty ? 0 : mask(range.lowerBound...range.upperBound - 1)
        }

        private static func mask(_ range: ClosedRange<Int>) -> UInt64 {
            (UInt64.max << UInt64(range.lowerBound)) & (UInt64.max >> UInt64(63 - range.upperBound))
        }
    }
#endif

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

        /// A block of a unit, and where its first coefficient is.
        private struct Place {
            var part: Int
            /// For the unit that is read.
            var index: Int
            /// How much higher the index is for the next unit.
            var step: Int
            /// How much higher it is for the first unit of a row than for that of the row above.
            var rowStep: Int
        }

        init(
            _ scan: JPEGScan, _ frame: JPEGFrame, _ picture: ProgressivePicture,
            _ data: EntropyCodedData
        ) {
            self.scan = scan
            self.data = data
            let grid = scan.grid(frame)
            unitsAcross = grid.unitsAcross
            unitCount = grid.unitCount
            var places: [Place] = []
            for (index, blocks) in grid.blocks.enumerated() {
                let component = picture.components[scan.parts[index].component]
                let size = component.blockSide * component.blockSide
                for row in 0..<blocks.down {
                    for column in 0..<blocks.across {
                        let block = row * component.blocksAcross + column
                        places.append(
                            .init(
                                part: index, index: component.start + block * size,
                                step: blocks.across * size,
                                rowStep: blocks.down * component.blocksAcross * size))
                    }
                }
            }
            self.places = places
        }

        /// - Parameters:
        ///   - picture: takes what the scan brings.
        ///   - leastBlocksOfTable: from how many blocks on a ``BandTable`` is made.
        /// - Throws: ``ShrinkingStop/notHandled`` if the data is damaged or cut short.
        func read(
            into picture: inout ProgressivePicture, leastBlocksOfTable: Int
        ) throws(ShrinkingStop) {
            let interval = scan.unitsPerSegment(of: unitCount)
            guard data.hasSegments(of: interval, unitCount: unitCount) else { throw .notHandled }
            let band =
                scan.band.lowerBound > 0
                ? ProgressiveBand(
                    scan, picture, unitsAcross: unitsAcross,
                    makesTable: unitCount >= leastBlocksOfTable) : nil
            for (index, segment) in data.segments.enumerated() {
                let units = index * interval..<min((index + 1) * interval, unitCount)
                let isGood = unsafe data.bytes.withUnsafeBufferPointer { bytes in
                    guard let bytes = bytes.baseAddress else { return false }
                    var cursor = unsafe BitCursor(bytes, segment)
                    if let band { return band.read(units, &cursor, into: &picture) }
                    return readDC(units, &cursor, into: &picture)
                }
                guard isGood else { throw .notHandled }
            }
        }

        private func readDC(
            _ units: Range<Int>, _ cursor: inout BitCursor,
            into picture: inout ProgressivePicture
        ) -> Bool {
            var places = places
            return unsafe picture.coefficients.withUnsafeMutableBufferPointer { target in
                unsafe places.withUnsafeMutableBufferPointer { places in
                    scan.high > 0
                        ? unsafe refineDC(units, &cursor, places, target)
                        : unsafe readDC(units, &cursor, places, target)
                }
            }
        }

        /// Sets the places to those of a unit, which is the first of a row or of a segment.
        @unsafe private func move(_ places: UnsafeMutableBufferPointer<Place>, to unit: Int) {
            let (y, x) = unit.quotientAndRemainder(dividingBy: unitsAcross)
            for index in self.places.indices {
                let first = self.places[index]
                unsafe places[index].index = first.index + x * first.step + y * first.rowStep
            }
        }

        @unsafe private func readDC(
            _ units: Range<Int>, _ cursor: inout BitCursor,
            _ places: UnsafeMutableBufferPointer<Place>,
            _ target: UnsafeMutableBufferPointer<Int16>
        ) -> Bool {
            guard let places0 = places.baseAddress, let target0 = target.baseAddress else {
                return false
            }
            let codes = scan.parts.compactMap(\.dcCode)
            var predictions = [Int](repeating: 0, count: codes.count)
            // The tables side by side, as several arrays cannot be held open at once.
            let entries = codes.flatMap { code in
                code.window.enumerated().map { ValueEntry($0, $1, isAC: false) }
            }
            return unsafe entries.withUnsafeBufferPointer { entries in
                unsafe predictions.withUnsafeMutableBufferPointer { predictions in
                    guard let entries = entries.baseAddress,
                        let predictions = predictions.baseAddress
                    else { return false }
                    var at = cursor
                    defer { cursor = at }
                    var left = 0
                    for unit in units {
                        if left == 0 {
                            unsafe move(places, to: unit)
                            left = unitsAcross - unit % unitsAcross
                        }
                        left &-= 1
                        // Most differences are short, so that one load brings several.
                        var bits = at.peek()
                        var used = 0
                        var index = 0
                        while index < places.count {
                            let place = unsafe places0 + index
                            let part = unsafe place.pointee.part
                            if used > 57 - HuffmanCode.windowBits {
                                at.skip(used)
                                (bits, used) = (at.peek(), 0)
                            }
                            let entry = unsafe entries[
                                part &* SkipTables.entryCount &+ BitWindow.index(bits)]
                            var (count, value) = (entry.bitCount, entry.value)
                            if _slowPath(entry.isOpen) {
                                at.skip(used)
                                (bits, used) = (at.peek(), 0)
                                guard let found = Self.difference(entry, codes[part], bits) else {
                                    return false
                                }
                                (count, value) = found
                            }
                            bits &<<= UInt64(truncatingIfNeeded: count)
                            used &+= count
                            unsafe predictions[part] &+= value
                            unsafe target0[place.pointee.index] = Int16(
                                truncatingIfNeeded: predictions[part] &<< scan.low)
                            unsafe place.pointee.index &+= place.pointee.step
                            index &+= 1
                        }
                        at.skip(used)
                        guard at.isInside else { return false }
                    }
                    return true
                }
            }
        }

        /// A symbol whose value is not in the table; `nil` if no code begins like that.
        @inline(never)
        private static func difference(
            _ entry: ValueEntry, _ code: HuffmanCode, _ bits: UInt64
        ) -> (count: Int, value: Int)? {
            var entry = entry
            if entry.isLong {
                guard let (symbol, length) = code.symbol(Int(bits >> 48)) else { return nil }
                entry = ValueEntry(symbol: symbol, length: length, isAC: false)
            }
            return (entry.bitCount, entry.value(bits))
        }

        /// One more bit for each block's first coefficient.
        @unsafe private func refineDC(
            _ units: Range<Int>, _ cursor: inout BitCursor,
            _ places: UnsafeMutableBufferPointer<Place>,
            _ target: UnsafeMutableBufferPointer<Int16>
        ) -> Bool {
            guard let places0 = places.baseAddress, let target0 = target.baseAddress else {
                return false
            }
            var left = 0
            for unit in units {
                if left == 0 {
                    unsafe move(places, to: unit)
                    left = unitsAcross - unit % unitsAcross
                }
                left &-= 1
                // A unit has at most 10 blocks.
                var bits = cursor.peek()
                for index in 0..<places.count {
                    let place = unsafe places0 + index
                    unsafe target0[place.pointee.index] |= Int16(
                        truncatingIfNeeded: Int(bits &>> 63) &<< scan.low)
                    bits &<<= 1
                    unsafe place.pointee.index &+= place.pointee.step
                }
                cursor.skip(places.count)
                guard cursor.isInside else { return false }
            }
            return true
        }
    }
#endif

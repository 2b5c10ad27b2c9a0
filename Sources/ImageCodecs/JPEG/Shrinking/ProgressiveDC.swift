// SPDX-License-Identifier: Apache-2.0

#if JPEG
    /// Reads a scan that brings the first coefficient of each block, or one more bit of it.
    struct ProgressiveDC {
        private let isFirst: Bool
        private let low: Int
        private let codes: [HuffmanCode]
        private let unitsAcross: Int
        /// The blocks of a unit.
        private let places: [Place]
        /// By part, `SkipTables.entryCount` each.
        private let entries: [ValueEntry]
        /// Of the parts of two places that are paired.
        private let pairs: [PairEntry]

        /// A block of the first unit, and where its first coefficient is.
        private struct Place {
            var part: Int
            var index: Int
            /// How much higher the index is for the next unit.
            var step: Int
            /// How much higher it is for the first unit of a row than for that of the row above.
            var rowStep: Int
            /// Whether the next place is of another part, and its differences have the same code.
            var isPaired = false
        }

        /// A block of the unit that is read, with all that reading it takes.
        @unsafe private struct Spot {
            var target: UnsafeMutablePointer<Int16>
            let step: Int
            let entries: UnsafePointer<ValueEntry>?
            let pairs: UnsafePointer<PairEntry>?
            /// What was read last of the same part.
            let prediction: UnsafeMutablePointer<Int>?

            /// Sets the coefficient, and goes to the block of the next unit.
            @inline(__always)
            mutating func set(_ difference: Int, _ low: Int) {
                guard let prediction = unsafe prediction else { return }
                unsafe prediction.pointee &+= difference
                unsafe target.pointee = Int16(truncatingIfNeeded: prediction.pointee &<< low)
                unsafe target += step
            }
        }

        /// Two differences that lie in 12 bits.
        private struct PairEntry {
            static let none = PairEntry(bits: 0)
            /// How many of the 12 they take; then each in 13.
            private let bits: UInt32

            private init(bits: UInt32) { self.bits = bits }

            init(_ first: ValueEntry, _ second: ValueEntry) {
                let count = UInt32(first.bitCount + second.bitCount)
                let high = UInt32(truncatingIfNeeded: second.value) << 18
                bits = high | (UInt32(truncatingIfNeeded: first.value) & 0x1FFF) << 5 | count
            }

            var exists: Bool { @inline(always) get { bits != 0 } }
            var bitCount: Int { @inline(always) get { Int(bits & 31) } }
            var first: Int { @inline(always) get { Int(Int32(bitPattern: bits &<< 14) &>> 19) } }
            var second: Int { @inline(always) get { Int(Int32(bitPattern: bits) &>> 18) } }
        }

        /// - Parameters:
        ///   - scan: what is read.
        ///   - picture: where it goes.
        ///   - grid: how the scan cuts the picture into units.
        ///   - makesPairs: whether there are so many blocks that a table for two is worth its making.
        init(
            _ scan: JPEGScan, _ picture: ProgressivePicture, _ grid: JPEGScan.Grid,
            makesPairs: Bool
        ) {
            isFirst = scan.high == 0
            low = scan.low
            unitsAcross = grid.unitsAcross
            let codes = isFirst ? scan.parts.compactMap(\.dcCode) : []
            self.codes = codes
            var places: [Place] = []
            for (index, blocks) in grid.blocks.enumerated() {
                let component = picture.components[scan.parts[index].component]
                let size = component.blockSide * component.blockSide
                for row in 0..<blocks.down {
                    for column in 0..<blocks.across {
                        let block = row * component.blocksAcross + column
                        places.append(
                            Place(
                                part: index, index: component.start + block * size,
                                step: blocks.across * size,
                                rowStep: blocks.down * component.blocksAcross * size))
                    }
                }
            }
            // The tables side by side, as several arrays cannot be held open at once.
            entries = codes.flatMap { code in
                code.window.enumerated().map { ValueEntry($0, $1, isAC: false) }
            }
            // Only those of the colours, which are short. Measured: with those of brightness it takes
            // 8 to 20 % longer, as often two of them do not lie in 12 bits.
            if makesPairs, codes.count == scan.parts.count,
                let first = places.indices.dropLast().last(where: {
                    places[$0].part > 0 && places[$0].part != places[$0 + 1].part
                        && codes[places[$0].part] == codes[places[$0 + 1].part]
                })
            {
                places[first].isPaired = true
                pairs = Self.pairs(
                    codes[places[first].part],
                    entries[(places[first].part * SkipTables.entryCount)...])
            } else {
                // Nobody looks into it.
                pairs = [.none]
            }
            self.places = places
        }

        private static func pairs(
            _ code: HuffmanCode, _ entries: ArraySlice<ValueEntry>
        ) -> [PairEntry] {
            (0..<SkipTables.entryCount).map { window in
                let first = entries[entries.startIndex + window]
                guard !first.isOpen, let rest = code.window(window, behind: first.bitCount) else {
                    return .none
                }
                let second = entries[entries.startIndex + rest]
                guard !second.isOpen,
                    first.bitCount + second.bitCount <= HuffmanCode.windowBits
                else { return .none }
                return PairEntry(first, second)
            }
        }

        /// - Returns: whether all of it was there and made sense.
        func read(
            _ units: Range<Int>, _ cursor: inout BitCursor,
            into picture: inout ProgressivePicture
        ) -> Bool {
            var predictions = [Int](repeating: 0, count: codes.count)
            return unsafe picture.coefficients.withUnsafeMutableBufferPointer { target in
                unsafe predictions.withUnsafeMutableBufferPointer { predictions in
                    unsafe entries.withUnsafeBufferPointer { entries in
                        unsafe pairs.withUnsafeBufferPointer { pairs in
                            guard let target = target.baseAddress else { return false }
                            var spots = unsafe places.map { place in
                                unsafe Spot(
                                    target: target, step: place.step,
                                    entries: entries.baseAddress?
                                        .advanced(by: place.part * SkipTables.entryCount),
                                    pairs: place.isPaired ? pairs.baseAddress : nil,
                                    prediction: predictions.baseAddress?
                                        .advanced(by: place.part))
                            }
                            return unsafe spots.withUnsafeMutableBufferPointer { spots in
                                isFirst
                                    ? unsafe readFirst(units, &cursor, spots, target)
                                    : unsafe refine(units, &cursor, spots, target)
                            }
                        }
                    }
                }
            }
        }

        /// Sets the spots to the places of a unit, which is the first of a row or of a segment.
        ///
        /// - Returns: how many units of the row come from there on.
        @unsafe private func move(
            _ spots: UnsafeMutableBufferPointer<Spot>, to unit: Int,
            _ target: UnsafeMutablePointer<Int16>
        ) -> Int {
            let (y, x) = unit.quotientAndRemainder(dividingBy: unitsAcross)
            for (index, place) in places.enumerated() {
                unsafe spots[index].target =
                    target + place.index + x * place.step + y * place.rowStep
            }
            return unitsAcross - x
        }

        @unsafe private func readFirst(
            _ units: Range<Int>, _ cursor: inout BitCursor,
            _ spots: UnsafeMutableBufferPointer<Spot>, _ target: UnsafeMutablePointer<Int16>
        ) -> Bool {
            guard let firstSpot = spots.baseAddress else { return false }
            let endOfSpots = unsafe firstSpot + spots.count
            var at = cursor
            defer { cursor = at }
            var bits = at.peek()
            var left = 0
            for unit in units {
                if left == 0 { left = unsafe move(spots, to: unit, target) }
                left &-= 1
                var spot = unsafe firstSpot
                while unsafe spot < endOfSpots {
                    // Loaded here and looked at behind the next two looks, so that nobody waits
                    // for it.
                    let fresh = at.peek()
                    var used = 0
                    guard unsafe look(&spot, firstSpot, at, &used, &bits) else { return false }
                    if unsafe spot < endOfSpots {
                        guard unsafe look(&spot, firstSpot, at, &used, &bits) else { return false }
                    }
                    at.skip(used)
                    // What two looks take leaves enough for two more.
                    bits =
                        _fastPath(used <= 2 * HuffmanCode.windowBits)
                        ? fresh &<< UInt64(truncatingIfNeeded: used) : at.peek()
                }
                guard at.isInside else { return false }
            }
            return true
        }

        /// Reads the next difference or two.
        ///
        /// - Returns: whether a code begins like that.
        @unsafe @inline(__always) private func look(
            _ spot: inout UnsafeMutablePointer<Spot>, _ firstSpot: UnsafeMutablePointer<Spot>,
            _ at: BitCursor, _ used: inout Int, _ bits: inout UInt64
        ) -> Bool {
            let window = BitWindow.index(bits)
            if let pairs = unsafe spot.pointee.pairs {
                let pair = unsafe pairs[window]
                if _fastPath(pair.exists) {
                    bits &<<= UInt64(truncatingIfNeeded: pair.bitCount)
                    used &+= pair.bitCount
                    unsafe spot.pointee.set(pair.first, low)
                    unsafe spot[1].set(pair.second, low)
                    unsafe spot += 2
                    return true
                }
            }
            guard let entries = unsafe spot.pointee.entries else { return false }
            let entry = unsafe entries[window]
            if _slowPath(entry.isOpen) {
                let code = codes[places[unsafe spot - firstSpot].part]
                guard let (count, value) = Self.difference(entry, code, at.peek(behind: used))
                else {
                    return false
                }
                used &+= count
                bits = at.peek(behind: used)
                unsafe spot.pointee.set(value, low)
            } else {
                bits &<<= UInt64(truncatingIfNeeded: entry.bitCount)
                used &+= entry.bitCount
                unsafe spot.pointee.set(entry.value, low)
            }
            unsafe spot += 1
            return true
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
        @unsafe private func refine(
            _ units: Range<Int>, _ cursor: inout BitCursor,
            _ spots: UnsafeMutableBufferPointer<Spot>, _ target: UnsafeMutablePointer<Int16>
        ) -> Bool {
            guard let firstSpot = spots.baseAddress else { return false }
            let endOfSpots = unsafe firstSpot + spots.count
            var left = 0
            for unit in units {
                if left == 0 { left = unsafe move(spots, to: unit, target) }
                left &-= 1
                // A unit has at most 10 blocks.
                var bits = cursor.peek()
                var spot = unsafe firstSpot
                while unsafe spot < endOfSpots {
                    unsafe spot.pointee.target.pointee |= Int16(
                        truncatingIfNeeded: Int(bits &>> 63) &<< low)
                    unsafe spot.pointee.target += spot.pointee.step
                    bits &<<= 1
                    unsafe spot += 1
                }
                cursor.skip(spots.count)
                guard cursor.isInside else { return false }
            }
            return true
        }
    }
#endif

// SPDX-License-Identifier: Apache-2.0

#if JPEG
    /// Gives the two lanes of a ``BlockFinder`` their shares of a scan.
    ///
    /// With restart markers the second lane begins at one near the middle. Without, it begins
    /// somewhere in the middle, most likely within a block, and reads nonsense; but Huffman codes
    /// fall into step by themselves, mostly within a few blocks. When the first lane comes to a
    /// block that begins where the second lane, too, began a block of the same place in a unit,
    /// all that the second one found from there on is right. If that never happens, the first
    /// lane goes on to the end alone.
    struct LaneSynchronizer {
        /// Every block of the scan, once ``run(_:_:)`` has succeeded.
        private(set) var runs: [BlockIndex.Run]?

        private let segments: [Range<Int>]
        private let unitsPerSegment: Int
        private let unitCount: Int
        private let blocksPerUnit: Int
        private let firstState: UInt64
        /// Where the second lane's notes begin.
        private let half: Int

        /// Below this many bytes a second lane is not worth its trouble.
        private static let smallestShare = 1024
        /// After this many blocks in vain the second lane is given up.
        private static let patience = 4096

        init(
            segments: [Range<Int>], unitsPerSegment: Int, unitCount: Int, blocksPerUnit: Int,
            firstState: UInt64, half: Int
        ) {
            self.segments = segments
            self.unitsPerSegment = unitsPerSegment
            self.unitCount = unitCount
            self.blocksPerUnit = blocksPerUnit
            self.firstState = firstState
            self.half = half
        }

        mutating func run(_ finder: BlockFinder) {
            if segments.count == 1 {
                runs = runOneSegment(finder)
            } else {
                runs = runSegments(finder)
            }
        }

        // MARK: With restart markers

        private func runSegments(
            _ finder: BlockFinder
        ) -> [BlockIndex.Run]? {
            let middleByte = (segments.last?.upperBound ?? 0) / 2
            let middle = max(segments.firstIndex { $0.lowerBound >= middleByte } ?? 1, 1)
            var (first, second) = (0, middle)
            var (a, b) = (lane(first, middle), lane(second, middle))
            while first < middle || second < segments.count {
                if first == middle {
                    finder.run(&b)
                } else if second == segments.count {
                    finder.run(&a)
                } else {
                    finder.run(&a, &b)
                }
                if first < middle, !a.isRunning {
                    guard isComplete(a, first, finder) else { return nil }
                    first += 1
                    if first < middle { a = lane(first, middle) }
                }
                if second < segments.count, !b.isRunning {
                    guard isComplete(b, second, finder) else { return nil }
                    second += 1
                    if second < segments.count { b = lane(second, middle) }
                }
            }
            return segments.indices.map { segment in
                BlockIndex.Run(
                    start: segments[segment].lowerBound * 8, blockCount: blockCount(of: segment),
                    firstEnd: firstEnd(of: segment, middle), isRestart: true)
            }
        }

        private func lane(_ segment: Int, _ middle: Int) -> BlockFinder.Lane {
            lane(
                at: segments[segment].lowerBound, until: segments[segment].upperBound,
                block: firstEnd(of: segment, middle), count: blockCount(of: segment))
        }

        private func blockCount(of segment: Int) -> Int {
            min(unitsPerSegment, unitCount - segment * unitsPerSegment) * blocksPerUnit
        }

        private func firstEnd(of segment: Int, _ middle: Int) -> Int {
            segment < middle
                ? segment * unitsPerSegment * blocksPerUnit
                : half + (segment - middle) * unitsPerSegment * blocksPerUnit
        }

        /// Whether a lane has found all blocks of its segment within its segment.
        private func isComplete(
            _ lane: BlockFinder.Lane, _ segment: Int, _ finder: BlockFinder
        ) -> Bool {
            guard lane.block >= lane.blockLimit else { return false }
            // It may have gone on a little; the end that counts is the one it noted.
            let low = finder.end(of: lane.blockLimit - 1)
            let back = UInt16(truncatingIfNeeded: lane.position) &- low
            return lane.position - Int(back) <= segments[segment].upperBound * 8
        }

        // MARK: Without

        private func runOneSegment(
            _ finder: BlockFinder
        ) -> [BlockIndex.Run]? {
            let segment = segments[0]
            let total = unitCount * blocksPerUnit
            var a = lane(
                at: segment.lowerBound, until: segment.upperBound, block: 0, count: total)
            var met: (first: Int, start: Int, second: Int)?
            if segment.count >= 2 * Self.smallestShare {
                met = runBoth(&a, finder)
            }
            guard let met = met else {
                a.limit = segment.upperBound * 8
                finder.run(&a)
                guard isComplete(a, 0, finder) else { return nil }
                return [
                    .init(
                        start: segment.lowerBound * 8, blockCount: total, firstEnd: 0,
                        isRestart: true)
                ]
            }
            return [
                .init(
                    start: segment.lowerBound * 8, blockCount: met.first, firstEnd: 0,
                    isRestart: true),
                .init(
                    start: met.start, blockCount: total - met.first, firstEnd: met.second,
                    isRestart: false),
            ]
        }

        /// - Returns: how many blocks are the first lane's, and where and with which note the second's begin.
        private func runBoth(
            _ a: inout BlockFinder.Lane, _ finder: BlockFinder
        ) -> (first: Int, start: Int, second: Int)? {
            let segment = segments[0]
            let total = unitCount * blocksPerUnit
            var start = segment.lowerBound + segment.count / 2
            var b = lane(at: start, until: segment.upperBound, block: half, count: total)
            a.limit = start * 8
            while a.isRunning && b.isRunning {
                finder.run(&a, &b)
                if b.hasFailed {
                    // Nonsense can also lead to a code that does not exist.
                    start = b.position / 8 + 1
                    guard start < segment.upperBound else { return nil }
                    b = lane(
                        at: start, until: segment.upperBound, block: half, count: total)
                    a.limit = start * 8
                }
            }
            finder.run(&a)
            guard !a.hasFailed, a.block < total else { return nil }
            a.limit = segment.upperBound * 8
            guard let meeting = meet(&a, b, start * 8, finder) else { return nil }
            // Nonsense can be of more blocks than the first lane has found, and then there is no
            // room for as many notes as are still to come.
            guard meeting.second - half <= meeting.first else { return nil }
            // The second lane has what it needs, or goes on until it has.
            b.blockLimit = meeting.second + total - meeting.first
            finder.run(&b)
            return isComplete(b, 0, finder) ? meeting : nil
        }

        /// Takes the first lane block by block to where both began a block of the same phase.
        private func meet(
            _ a: inout BlockFinder.Lane, _ b: BlockFinder.Lane, _ start: Int,
            _ finder: BlockFinder
        ) -> (first: Int, start: Int, second: Int)? {
            let total = unitCount * blocksPerUnit
            var position = start
            var second = half
            for _ in 0..<Self.patience {
                if a.passed != 0 || a.position < start { finder.runBlock(&a) }
                guard !a.hasFailed, a.block < total else { return nil }
                while position < a.position {
                    guard second < b.block else { return nil }
                    let step = finder.end(of: second) &- UInt16(truncatingIfNeeded: position)
                    position += Int(step)
                    second += 1
                }
                if position == a.position, a.block % blocksPerUnit == 0,
                    (second - half) % blocksPerUnit == 0
                {
                    return (a.block, position, second)
                }
                finder.runBlock(&a)
            }
            return nil
        }

        private func lane(
            at byte: Int, until end: Int, block: Int, count: Int
        ) -> BlockFinder.Lane {
            BlockFinder.Lane(
                position: byte * 8, limit: end * 8, state: firstState, block: block,
                blockLimit: block + count)
        }
    }
#endif

// SPDX-License-Identifier: Apache-2.0

#if JPEG
    /// Gives the lanes of a ``BlockFinder`` their shares of a scan, and joins what they find.
    ///
    /// The scan is cut into more shares than there are lanes; a lane that is done takes the next.
    /// With restart markers a share begins at one. Without, it begins somewhere, most likely within
    /// a block, and its lane reads nonsense; but Huffman codes fall into step by themselves, mostly
    /// within a few blocks. Where the lane of the share before comes to a block that begins where
    /// this one, too, began a block of the same place in a unit, all that this one found from there
    /// on is right. If that never happens, the one before goes through this share as well.
    struct LaneSynchronizer {
        private let segments: [Range<Int>]
        private let unitsPerSegment: Int
        private let unitCount: Int
        private let blocksPerUnit: Int
        private var shares: [Share] = []

        /// What a lane does in one go.
        private struct Share {
            /// The segments of it that have not been begun; of a scan in one segment, a part of it.
            var segments: ArraySlice<Range<Int>>
            var lane: BlockFinder.Lane
            /// Where the lane began, in bytes.
            var start: Int
        }

        /// Shares of fewer bytes are not worth their trouble.
        private static let smallestShare = 1024
        /// So many, that lanes which are done early do not have to wait for long.
        static let shareCount = 16
        /// After this many blocks in vain a share is given up.
        private static let patience = 4096

        /// - Parameters:
        ///   - segments: the bytes of the scan between its restart markers.
        ///   - unitsPerSegment: units in each of them but the last.
        ///   - unitCount: units in all.
        ///   - blocksPerUnit: blocks in a unit.
        init(
            segments: [Range<Int>], unitsPerSegment: Int, unitCount: Int, blocksPerUnit: Int
        ) {
            self.segments = segments
            self.unitsPerSegment = unitsPerSegment
            self.unitCount = unitCount
            self.blocksPerUnit = blocksPerUnit
        }

        /// - Returns: all blocks of the scan, or `nil` if it does not hold them.
        mutating func run(_ finder: BlockFinder) -> BlockIndex? {
            let isOneSegment = segments.count == 1
            let pieces = isOneSegment ? parts(of: segments[0]) : segments
            let perShare = (pieces.count + Self.shareCount - 1) / Self.shareCount
            let blocks = unitCount * blocksPerUnit
            let expected =
                isOneSegment ? blocks / pieces.count : perShare * unitsPerSegment * blocksPerUnit
            shares = stride(from: 0, to: pieces.count, by: perShare).map { first in
                let own = pieces[first..<min(first + perShare, pieces.count)]
                let bytes = own[first].lowerBound..<own[own.endIndex - 1].upperBound
                return Share(
                    segments: own.dropFirst(),
                    lane: .init(
                        position: own[first].lowerBound * 8, limit: own[first].upperBound * 8,
                        blockLimit: isOneSegment ? blocks : blockCount(of: first),
                        // The header may promise more than the data can hold.
                        expectedBlocks: min(expected, bytes.count * 4)), start: bytes.lowerBound)
            }
            guard goThroughShares(finder, isOneSegment: isOneSegment) else { return nil }
            return isOneSegment ? joined(finder) : atMarkers()
        }

        private func parts(of segment: Range<Int>) -> [Range<Int>] {
            let count = max(1, min(Self.shareCount, segment.count / Self.smallestShare))
            return (0..<count).map {
                segment.lowerBound + segment.count * $0 / count..<segment.lowerBound
                    + segment.count * ($0 + 1) / count
            }
        }

        private func blockCount(of segment: Int) -> Int {
            min(unitsPerSegment, unitCount - segment * unitsPerSegment) * blocksPerUnit
        }

        /// Runs the lanes until all shares are done.
        ///
        /// - Returns: whether every share that begins at a unit could be done.
        private mutating func goThroughShares(
            _ finder: BlockFinder, isOneSegment: Bool
        ) -> Bool {
            var waiting = shares.indices
            // The lanes that run, and whose they are; only there are they while they run, or what
            // they note would be copied.
            var lanes: [BlockFinder.Lane] = []
            var owners: [Int] = []
            while true {
                while lanes.count < BlockFinder.laneCount, let next = waiting.popFirst() {
                    owners.append(next)
                    lanes.append(shares[next].lane)
                    shares[next].lane.giveUpEnds()
                }
                guard !lanes.isEmpty else { return true }
                finder.run(&lanes)
                for index in lanes.indices.reversed() where !lanes[index].isRunning {
                    let goesOn =
                        isOneSegment
                        ? goOnBehindNonsense(&lanes[index], owners[index])
                        : goToNextSegment(&lanes[index], owners[index])
                    guard goesOn else { return false }
                    guard !lanes[index].isRunning else { continue }
                    shares[owners.remove(at: index)].lane = lanes.remove(at: index)
                }
            }
        }

        // MARK: With restart markers

        /// - Returns: whether the lane has found all blocks of its segment within its segment.
        private mutating func goToNextSegment(
            _ lane: inout BlockFinder.Lane, _ index: Int
        ) -> Bool {
            guard lane.block >= lane.blockLimit else { return false }
            lane.settle()
            guard lane.position <= lane.limit else { return false }
            guard let next = shares[index].segments.popFirst() else { return true }
            let number = shares[index].segments.startIndex - 1
            lane.move(to: next.lowerBound * 8, limit: next.upperBound * 8)
            lane.blockLimit += blockCount(of: number)
            return true
        }

        private consuming func atMarkers() -> BlockIndex {
            var index = BlockIndex()
            var segment = 0
            for share in shares {
                var block = 0
                let ends = share.lane.takeEnds()
                while block < ends.count {
                    let count = blockCount(of: segment)
                    index.runs.append(
                        .init(
                            start: segments[segment].lowerBound * 8, blockCount: count,
                            share: index.ends.count, firstEnd: block, isRestart: true))
                    block += count
                    segment += 1
                }
                index.ends.append(ends)
            }
            return index
        }

        // MARK: Without

        /// Nonsense can also lead to a code that does not exist; it begins anew behind.
        private mutating func goOnBehindNonsense(
            _ lane: inout BlockFinder.Lane, _ index: Int
        ) -> Bool {
            guard lane.hasFailed, lane.block < lane.blockLimit else { return true }
            // The bits that fill the last byte of the scan need not be a code.
            guard index > 0, lane.position < segments[0].upperBound * 8 - 64 else {
                return index > 0
            }
            let start = lane.position / 8 + 1
            guard start * 8 < lane.limit else { return true }
            shares[index].start = start
            lane.startAnew(at: start * 8)
            return true
        }

        /// Follows the first lane to where it meets the next, that one from there on, and so forth.
        private mutating func joined(_ finder: BlockFinder) -> BlockIndex? {
            let end = segments[0].upperBound * 8
            var index = BlockIndex()
            var left = unitCount * blocksPerUnit
            // What is followed: a lane, and from which of its blocks on.
            var (lane, first, start) = (shares[0].lane, 0, shares[0].start * 8)
            shares[0].lane.giveUpEnds()
            for next in shares.indices.dropFirst() {
                lane.blockLimit = first + left
                guard !lane.hasFailed, lane.block < lane.blockLimit else { break }
                guard let meeting = meet(&lane, shares[next], finder) else {
                    lane.limit = shares[next].lane.limit
                    var lanes = [lane]
                    lane.giveUpEnds()
                    while lanes[0].isRunning { finder.run(&lanes) }
                    lane = lanes[0]
                    continue
                }
                left -= lane.block - first
                index.append(lane, from: first, count: lane.block - first, start: start)
                (lane, first, start) = (shares[next].lane, meeting.second, meeting.position)
                shares[next].lane.giveUpEnds()
            }
            lane.blockLimit = first + left
            lane.limit = end
            while lane.isRunning { finder.runBlock(&lane) }
            guard lane.block >= first + left else { return nil }
            index.append(lane, from: first, count: left, start: start)
            return index.lastPosition <= end ? index : nil
        }

        /// Takes a lane block by block to where both began a block of the same phase.
        ///
        /// - Returns: that place, and which block of the share it is.
        private func meet(
            _ lane: inout BlockFinder.Lane, _ share: Share, _ finder: BlockFinder
        ) -> (position: Int, second: Int)? {
            var position = share.start * 8
            var second = 0
            lane.limit = share.lane.limit
            for _ in 0..<Self.patience {
                while position < lane.position {
                    guard second < share.lane.block else { return nil }
                    let step =
                        share.lane.end(of: second) &- UInt16(truncatingIfNeeded: position)
                    position += Int(step)
                    second += 1
                }
                if position == lane.position, lane.isAtUnit, second % blocksPerUnit == 0 {
                    return (position, second)
                }
                guard lane.isRunning else { return nil }
                finder.runBlock(&lane)
            }
            return nil
        }
    }
#endif

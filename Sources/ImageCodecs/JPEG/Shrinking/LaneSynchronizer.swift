// SPDX-License-Identifier: Apache-2.0

#if JPEG
    /// Gives the lanes of a ``BlockFinder`` their shares of a scan, and joins what they find.
    ///
    /// Each window of the scan is cut into more shares than there are lanes; a lane that is done
    /// takes the next. With restart markers a share begins at one. Without, it begins somewhere,
    /// most likely within a block, and its lane reads nonsense; but Huffman codes fall into step by
    /// themselves, mostly within a few blocks. Where the lane of the share before comes to a block
    /// that begins where this one, too, began a block of the same place in a unit, all that this one
    /// found from there on is right. If that never happens, the one before goes through this share
    /// as well. The lane of the last share goes on with the first share of the next window.
    struct LaneSynchronizer {
        private let unitsPerSegment: Int
        private let unitCount: Int
        private let blocksPerUnit: Int
        /// About as many bytes as the scan has.
        private let byteCount: Int
        /// What has been found.
        var index = BlockIndex()
        private var shares: [Share] = []
        /// With restart markers: segments that have been gone through.
        private var segmentCount = 0
        /// Without: the lane that goes on in the next window.
        private var followed: Followed

        /// What a lane does in one go.
        private struct Share {
            /// The segments of it that have not been begun; of a scan in one segment, none.
            var segments: ArraySlice<Range<Int>> = []
            var lane: BlockFinder.Lane
            /// Where the lane began, in bytes.
            var start: Int
        }

        /// A lane that has found what it should, as far as it has come.
        private struct Followed {
            var lane: BlockFinder.Lane
            /// From which of its blocks on they are not in the index yet, and where that one begins.
            var first = 0
            var start = 0
            /// Blocks of the scan that are not in the index yet.
            var left: Int
        }

        /// Shares of fewer bytes are not worth their trouble.
        private static let smallestShare = 1024
        /// So many in a window that lanes which are done early do not have to wait for long.
        private static let shareCount = 16
        /// After this many blocks in vain a share is given up.
        private static let patience = 4096

        /// - Parameters:
        ///   - unitsPerSegment: units in each segment but the last.
        ///   - unitCount: units in all.
        ///   - blocksPerUnit: blocks in a unit.
        ///   - byteCount: about as many bytes as the scan has.
        init(unitsPerSegment: Int, unitCount: Int, blocksPerUnit: Int, byteCount: Int) {
            self.unitsPerSegment = unitsPerSegment
            self.unitCount = unitCount
            self.blocksPerUnit = blocksPerUnit
            self.byteCount = max(byteCount, 1)
            let blockCount = unitCount * blocksPerUnit
            let lane = BlockFinder.Lane(
                position: 0, limit: 0, blockLimit: blockCount, expectedBlocks: 0)
            followed = Followed(lane: lane, left: blockCount)
        }

        /// Finds the blocks in a window, which begins where this asked for it.
        ///
        /// - Returns: from which byte on the data is still needed, or `nil` if it is damaged.
        mutating func goThrough(_ data: EntropyCodedData, _ finder: BlockFinder) -> Int? {
            unitsPerSegment < unitCount
                ? goThroughSegments(data, finder) : goThroughPart(data, finder)
        }

        /// Runs the lanes until all shares are done.
        ///
        /// - Returns: whether every share that begins at a unit could be done.
        private mutating func goThroughShares(_ finder: BlockFinder) -> Bool {
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
                        unitsPerSegment < unitCount
                        ? goToNextSegment(&lanes[index], owners[index])
                        : goOnBehindNonsense(&lanes[index], owners[index])
                    guard goesOn else { return false }
                    guard !lanes[index].isRunning else { continue }
                    shares[owners.remove(at: index)].lane = lanes.remove(at: index)
                }
            }
        }

        // MARK: With restart markers

        private mutating func goThroughSegments(
            _ data: EntropyCodedData, _ finder: BlockFinder
        ) -> Int? {
            let pieces = data.segments[segmentCount...]
            guard pieces.endIndex <= (unitCount + unitsPerSegment - 1) / unitsPerSegment else {
                return nil
            }
            let perShare = max(1, (pieces.count + Self.shareCount - 1) / Self.shareCount)
            let expected = perShare * unitsPerSegment * blocksPerUnit
            shares = stride(from: segmentCount, to: pieces.endIndex, by: perShare).map { first in
                let own = pieces[first..<min(first + perShare, pieces.endIndex)]
                let bytes = own[first].lowerBound..<own[own.endIndex - 1].upperBound
                return Share(
                    segments: own.dropFirst(),
                    lane: .init(
                        position: own[first].lowerBound * 8, limit: own[first].upperBound * 8,
                        blockLimit: blockCount(of: first),
                        // The header may promise more than the data can hold.
                        expectedBlocks: min(expected, bytes.count * 4)), start: bytes.lowerBound)
            }
            guard goThroughShares(finder) else { return nil }
            noteSegments(data.segments)
            return data.segments.last?.upperBound ?? 0
        }

        private func blockCount(of segment: Int) -> Int {
            min(unitsPerSegment, unitCount - segment * unitsPerSegment) * blocksPerUnit
        }

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

        private mutating func noteSegments(_ segments: [Range<Int>]) {
            for number in shares.indices {
                var blocks = 0
                let ends = shares[number].lane.takeEnds()
                var own: [(start: Int, blockCount: Int)] = []
                while blocks < ends.count {
                    own.append(
                        (segments[segmentCount].lowerBound * 8, blockCount(of: segmentCount)))
                    blocks += own[own.count - 1].blockCount
                    segmentCount += 1
                }
                index.append(ends, own)
            }
            shares = []
        }

        // MARK: Without

        private mutating func goThroughPart(
            _ data: EntropyCodedData, _ finder: BlockFinder
        ) -> Int? {
            guard data.segments.count == (data.isComplete ? 1 : 0) else { return nil }
            let end = data.window.upperBound
            guard followed.left > 0 else { return end }
            // What is behind a limit is read as well.
            let limit = end - (data.isComplete ? 0 : EntropyCodedData.margin)
            let start = followed.lane.position / 8
            if start < limit {
                makeShares(of: start..<limit)
                guard goThroughShares(finder) else { return nil }
                join(finder)
            }
            if data.isComplete {
                followed.lane.limit = end * 8
                while followed.lane.isRunning { finder.runBlock(&followed.lane) }
            }
            noteFollowed()
            guard data.isComplete else {
                return followed.lane.hasFailed ? nil : followed.lane.position / 8
            }
            return followed.left == 0 && followed.start <= end * 8 ? end : nil
        }

        private mutating func makeShares(of bytes: Range<Int>) {
            let count = max(1, min(Self.shareCount, bytes.count / Self.smallestShare))
            let bounds = (0...count).map { bytes.lowerBound + bytes.count * $0 / count }
            // The header may promise more than the data can hold.
            let expected = min(
                unitCount * blocksPerUnit * (bytes.count / count) / byteCount, bytes.count * 4)
            followed.lane.limit = bounds[1] * 8
            followed.lane.blockLimit = followed.left
            followed.lane.startCounting(expectedBlocks: expected)
            shares = [Share(lane: followed.lane, start: 0)]
            shares += (1..<count).map { number in
                let lane = BlockFinder.Lane(
                    position: bounds[number] * 8, limit: bounds[number + 1] * 8,
                    blockLimit: followed.left, expectedBlocks: expected)
                return Share(lane: lane, start: bounds[number])
            }
            followed.lane.giveUpEnds()
        }

        /// Nonsense can also lead to a code that does not exist; it begins anew behind.
        private mutating func goOnBehindNonsense(
            _ lane: inout BlockFinder.Lane, _ index: Int
        ) -> Bool {
            guard lane.hasFailed, lane.block < lane.blockLimit else { return true }
            // The bits that fill the last byte of the scan need not be a code.
            guard index > 0, lane.position < shares[shares.count - 1].lane.limit - 64 else {
                return index > 0
            }
            let start = lane.position / 8 + 1
            guard start * 8 < lane.limit else { return true }
            shares[index].start = start
            lane.startAnew(at: start * 8)
            return true
        }

        /// Follows the first lane to where it meets the next, that one from there on, and so forth.
        private mutating func join(_ finder: BlockFinder) {
            followed.lane = shares[0].lane
            shares[0].lane.giveUpEnds()
            for next in shares.indices.dropFirst() {
                followed.lane.blockLimit = followed.first + followed.left
                guard !followed.lane.hasFailed, followed.lane.block < followed.lane.blockLimit
                else { break }
                guard let meeting = meet(&followed.lane, shares[next], finder) else {
                    followed.lane.limit = shares[next].lane.limit
                    var lanes = [followed.lane]
                    followed.lane.giveUpEnds()
                    while lanes[0].isRunning { finder.run(&lanes) }
                    followed.lane = lanes[0]
                    continue
                }
                let count = followed.lane.block - followed.first
                index.append(
                    followed.lane.takeEnds(), from: followed.first, count, start: followed.start)
                followed = Followed(
                    lane: shares[next].lane, first: meeting.second, start: meeting.position,
                    left: followed.left - count)
                shares[next].lane.giveUpEnds()
            }
            followed.lane.blockLimit = followed.first + followed.left
            shares = []
        }

        /// Adds what the followed lane has found to the index.
        private mutating func noteFollowed() {
            if followed.lane.block >= followed.lane.blockLimit { followed.lane.settle() }
            let count = followed.lane.block - followed.first
            if count > 0 {
                let end = followed.lane.lastEnd
                index.append(
                    followed.lane.takeEnds(), from: followed.first, count, start: followed.start)
                followed.start = end
                followed.left -= count
            }
            followed.first = 0
            followed.lane.startCounting(expectedBlocks: 0)
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

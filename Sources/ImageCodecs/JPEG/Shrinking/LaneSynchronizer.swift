// SPDX-License-Identifier: Apache-2.0

#if JPEG
    /// Gives the lanes of a ``BlockFinder`` their chunks of a scan, and joins what they find.
    ///
    /// Each window of the scan is cut into more chunks than there are lanes; a lane that is done
    /// takes the next. With restart markers a chunk begins at one. Without, it begins somewhere,
    /// most likely within a block, and its lane reads nonsense; but Huffman codes fall into step by
    /// themselves, mostly within a few blocks. Where the lane of the chunk before comes to a block
    /// that begins where this one, too, began a block of the same place in a mcu, all that this one
    /// found from there on is right. If that never happens, the one before goes through this chunk
    /// as well. The lane of the last chunk goes on with the first chunk of the next window.
    struct LaneSynchronizer {
        private let mcusPerSegment: Int
        private let mcuCount: Int
        private let blocksPerMCU: Int
        /// About as many bytes as the scan has.
        private let byteCount: Int
        /// What has been found.
        var index = BlockIndex()
        private var chunks: [Chunk] = []
        /// With restart markers: segments that have been gone through.
        private var segmentCount = 0
        /// Without: the lane that goes on in the next window.
        private var confirmed: ConfirmedLane

        /// What a lane does in one go.
        private struct Chunk {
            /// The segments of it that have not been begun; of a scan in one segment, none.
            var segments: ArraySlice<Range<Int>> = []
            var lane: BlockFinder.Lane
            /// Where the lane began, in bytes.
            var start: Int
        }

        /// A lane that has found what it should, as far as it has come.
        private struct ConfirmedLane {
            var lane: BlockFinder.Lane
            /// From which of its blocks on they are not in the index yet, and where that one begins.
            var first = 0
            var start = 0
            /// Blocks of the scan that are not in the index yet.
            var left: Int
        }

        /// Shares of fewer bytes are not worth their trouble.
        private static let minimumChunkByteCount = 1024
        /// So many in a window that lanes which are done early do not have to wait for long.
        private static let chunkCount = 16
        /// After this many blocks in vain a chunk is given up.
        private static let maximumBlocksToSynchronize = 4096

        /// - Parameters:
        ///   - mcusPerSegment: mcus in each segment but the last.
        ///   - mcuCount: mcus in all.
        ///   - blocksPerMCU: blocks in a mcu.
        ///   - byteCount: about as many bytes as the scan has.
        init(mcusPerSegment: Int, mcuCount: Int, blocksPerMCU: Int, byteCount: Int) {
            self.mcusPerSegment = mcusPerSegment
            self.mcuCount = mcuCount
            self.blocksPerMCU = blocksPerMCU
            self.byteCount = max(byteCount, 1)
            let blockCount = mcuCount * blocksPerMCU
            let lane = BlockFinder.Lane(
                position: 0, limit: 0, blockLimit: blockCount, expectedBlocks: 0)
            confirmed = ConfirmedLane(lane: lane, left: blockCount)
        }

        /// Finds the blocks in a window, which begins where this asked for it.
        ///
        /// - Returns: from which byte on the data is still needed, or `nil` if it is damaged.
        mutating func findBlocks(_ data: EntropyCodedData, _ finder: BlockFinder) -> Int? {
            mcusPerSegment < mcuCount
                ? findBlocksInSegments(data, finder) : findBlocksInWindow(data, finder)
        }

        /// Runs the lanes until all chunks are done.
        ///
        /// - Returns: whether every chunk that begins at a mcu could be done.
        private mutating func runLanes(_ finder: BlockFinder) -> Bool {
            var waiting = chunks.indices
            // The lanes that run, and whose they are; only there are they while they run, or what
            // they note would be copied.
            var lanes: [BlockFinder.Lane] = []
            var owners: [Int] = []
            while true {
                while lanes.count < BlockFinder.laneCount, let next = waiting.popFirst() {
                    owners.append(next)
                    lanes.append(chunks[next].lane)
                    chunks[next].lane.releaseEnds()
                }
                guard !lanes.isEmpty else { return true }
                finder.run(&lanes)
                for index in lanes.indices.reversed() where !lanes[index].isRunning {
                    let goesOn =
                        mcusPerSegment < mcuCount
                        ? advanceToNextSegment(&lanes[index], owners[index])
                        : restartAfterInvalidCode(&lanes[index], owners[index])
                    guard goesOn else { return false }
                    guard !lanes[index].isRunning else { continue }
                    chunks[owners.remove(at: index)].lane = lanes.remove(at: index)
                }
            }
        }

        // MARK: With restart markers

        private mutating func findBlocksInSegments(
            _ data: EntropyCodedData, _ finder: BlockFinder
        ) -> Int? {
            let pieces = data.segments[segmentCount...]
            guard pieces.endIndex <= (mcuCount + mcusPerSegment - 1) / mcusPerSegment else {
                return nil
            }
            let segmentsPerChunk = max(1, (pieces.count + Self.chunkCount - 1) / Self.chunkCount)
            let expected = segmentsPerChunk * mcusPerSegment * blocksPerMCU
            chunks = stride(from: segmentCount, to: pieces.endIndex, by: segmentsPerChunk).map {
                first in
                let own = pieces[first..<min(first + segmentsPerChunk, pieces.endIndex)]
                let bytes = own[first].lowerBound..<own[own.endIndex - 1].upperBound
                return Chunk(
                    segments: own.dropFirst(),
                    lane: .init(
                        position: own[first].lowerBound * 8, limit: own[first].upperBound * 8,
                        blockLimit: blockCount(of: first),
                        // The header may promise more than the data can hold.
                        expectedBlocks: min(expected, bytes.count * 4)), start: bytes.lowerBound)
            }
            guard runLanes(finder) else { return nil }
            recordSegments(data.segments)
            return data.segments.last?.upperBound ?? 0
        }

        private func blockCount(of segment: Int) -> Int {
            min(mcusPerSegment, mcuCount - segment * mcusPerSegment) * blocksPerMCU
        }

        /// - Returns: whether the lane has found all blocks of its segment within its segment.
        private mutating func advanceToNextSegment(
            _ lane: inout BlockFinder.Lane, _ index: Int
        ) -> Bool {
            guard lane.block >= lane.blockLimit else { return false }
            lane.rewindToBlockLimit()
            guard lane.position <= lane.limit else { return false }
            guard let next = chunks[index].segments.popFirst() else { return true }
            let number = chunks[index].segments.startIndex - 1
            lane.move(to: next.lowerBound * 8, limit: next.upperBound * 8)
            lane.blockLimit += blockCount(of: number)
            return true
        }

        private mutating func recordSegments(_ segments: [Range<Int>]) {
            for number in chunks.indices {
                var blocks = 0
                let ends = chunks[number].lane.takeEnds()
                var own: [(start: Int, blockCount: Int)] = []
                while blocks < ends.count {
                    own.append(
                        (segments[segmentCount].lowerBound * 8, blockCount(of: segmentCount)))
                    blocks += own[own.count - 1].blockCount
                    segmentCount += 1
                }
                index.append(ends, own)
            }
            chunks = []
        }

        // MARK: Without

        private mutating func findBlocksInWindow(
            _ data: EntropyCodedData, _ finder: BlockFinder
        ) -> Int? {
            guard data.segments.count == (data.isComplete ? 1 : 0) else { return nil }
            let end = data.window.upperBound
            guard confirmed.left > 0 else { return end }
            // What is behind a limit is read as well.
            let limit = end - (data.isComplete ? 0 : EntropyCodedData.margin)
            let start = confirmed.lane.position / 8
            if start < limit {
                makeChunks(of: start..<limit)
                guard runLanes(finder) else { return nil }
                joinChunks(finder)
            }
            if data.isComplete {
                confirmed.lane.limit = end * 8
                while confirmed.lane.isRunning { finder.runBlock(&confirmed.lane) }
            }
            recordConfirmed()
            guard data.isComplete else {
                return confirmed.lane.hasFailed ? nil : confirmed.lane.position / 8
            }
            return confirmed.left == 0 && confirmed.start <= end * 8 ? end : nil
        }

        private mutating func makeChunks(of bytes: Range<Int>) {
            let count = max(1, min(Self.chunkCount, bytes.count / Self.minimumChunkByteCount))
            let bounds = (0...count).map { bytes.lowerBound + bytes.count * $0 / count }
            // The header may promise more than the data can hold.
            let expected = min(
                mcuCount * blocksPerMCU * (bytes.count / count) / byteCount, bytes.count * 4)
            confirmed.lane.limit = bounds[1] * 8
            confirmed.lane.blockLimit = confirmed.left
            confirmed.lane.resetBlocks(expectedBlocks: expected)
            chunks = [Chunk(lane: confirmed.lane, start: 0)]
            chunks += (1..<count).map { number in
                let lane = BlockFinder.Lane(
                    position: bounds[number] * 8, limit: bounds[number + 1] * 8,
                    blockLimit: confirmed.left, expectedBlocks: expected)
                return Chunk(lane: lane, start: bounds[number])
            }
            confirmed.lane.releaseEnds()
        }

        /// Nonsense can also lead to a code that does not exist; it begins anew behind.
        private mutating func restartAfterInvalidCode(
            _ lane: inout BlockFinder.Lane, _ index: Int
        ) -> Bool {
            guard lane.hasFailed, lane.block < lane.blockLimit else { return true }
            // The bits that fill the last byte of the scan need not be a code.
            guard index > 0, lane.position < chunks[chunks.count - 1].lane.limit - 64 else {
                return index > 0
            }
            let start = lane.position / 8 + 1
            guard start * 8 < lane.limit else { return true }
            chunks[index].start = start
            lane.restart(at: start * 8)
            return true
        }

        /// Follows the first lane to where it meets the next, that one from there on, and so forth.
        private mutating func joinChunks(_ finder: BlockFinder) {
            confirmed.lane = chunks[0].lane
            chunks[0].lane.releaseEnds()
            for next in chunks.indices.dropFirst() {
                confirmed.lane.blockLimit = confirmed.first + confirmed.left
                guard !confirmed.lane.hasFailed, confirmed.lane.block < confirmed.lane.blockLimit
                else { break }
                guard let synchronization = synchronize(&confirmed.lane, chunks[next], finder)
                else {
                    confirmed.lane.limit = chunks[next].lane.limit
                    var lanes = [confirmed.lane]
                    confirmed.lane.releaseEnds()
                    while lanes[0].isRunning { finder.run(&lanes) }
                    confirmed.lane = lanes[0]
                    continue
                }
                let count = confirmed.lane.block - confirmed.first
                index.append(
                    confirmed.lane.takeEnds(), from: confirmed.first, count, start: confirmed.start)
                confirmed = ConfirmedLane(
                    lane: chunks[next].lane, first: synchronization.second,
                    start: synchronization.position,
                    left: confirmed.left - count)
                chunks[next].lane.releaseEnds()
            }
            confirmed.lane.blockLimit = confirmed.first + confirmed.left
            chunks = []
        }

        /// Adds what the confirmed lane has found to the index.
        private mutating func recordConfirmed() {
            if confirmed.lane.block >= confirmed.lane.blockLimit {
                confirmed.lane.rewindToBlockLimit()
            }
            let count = confirmed.lane.block - confirmed.first
            if count > 0 {
                let end = confirmed.lane.lastEnd
                index.append(
                    confirmed.lane.takeEnds(), from: confirmed.first, count, start: confirmed.start)
                confirmed.start = end
                confirmed.left -= count
            }
            confirmed.first = 0
            confirmed.lane.resetBlocks(expectedBlocks: 0)
        }

        /// Takes a lane block by block to where both began a block of the same phase.
        ///
        /// - Returns: that place, and which block of the chunk it is.
        private func synchronize(
            _ lane: inout BlockFinder.Lane, _ chunk: Chunk, _ finder: BlockFinder
        ) -> (position: Int, second: Int)? {
            var position = chunk.start * 8
            var second = 0
            lane.limit = chunk.lane.limit
            for _ in 0..<Self.maximumBlocksToSynchronize {
                while position < lane.position {
                    guard second < chunk.lane.block else { return nil }
                    let step =
                        chunk.lane.end(of: second) &- UInt16(truncatingIfNeeded: position)
                    position += Int(step)
                    second += 1
                }
                if position == lane.position, lane.isAtMCUBoundary, second % blocksPerMCU == 0 {
                    return (position, second)
                }
                guard lane.isRunning else { return nil }
                finder.runBlock(&lane)
            }
            return nil
        }
    }
#endif

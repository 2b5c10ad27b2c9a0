// SPDX-License-Identifier: Apache-2.0

#if JPEG
/// Assigns chunks of a scan to the lanes of a ``BlockFinder``, and joins their results.
///
/// Each window is divided into more chunks than there are lanes; a lane that is done takes the
/// next chunk. With restart markers a chunk begins at one. Without, it begins anywhere, mostly
/// within a block, and the lane first decodes garbage. But Huffman codes are
/// self-synchronizing, mostly within a few blocks. If the lane of the preceding chunk reaches a
/// position at which this lane began the same block of an MCU, all that this lane found from
/// there on is valid. Otherwise the preceding lane continues through this chunk. The lane of
/// the last chunk continues in the next window.
struct LaneSynchronizer {
    private let mcusPerSegment: Int
    private let mcuCount: Int
    private let blocksPerMCU: Int
    /// The approximate number of bytes in the scan.
    private let byteCount: Int
    /// The blocks found.
    var index = BlockIndex()
    private var chunks: [Chunk] = []
    /// With restart markers: the number of segments processed.
    private var segmentCount = 0
    /// Without restart markers: the lane that continues in the next window.
    private var confirmed: ConfirmedLane

    /// The part of a window that is assigned to a lane.
    private struct Chunk {
        /// Its segments that have not begun; empty without restart markers.
        var segments: ArraySlice<Range<Int>> = []
        var lane: BlockFinder.Lane
        /// The byte at which the lane began.
        var start: Int
    }

    /// A lane whose blocks, as far as it has come, are known to be valid.
    private struct ConfirmedLane {
        var lane: BlockFinder.Lane
        /// The first of its blocks that is not in the index, and the start of that block in
        /// bits.
        var first = 0
        var start = 0
        /// The number of blocks of the scan that are not in the index.
        var left: Int
    }

    /// The minimum size of a chunk, below which the overhead outweighs the gain.
    private static let minimumChunkByteCount = 1024
    /// The number of chunks in a window, enough to keep all lanes busy.
    private static let chunkCount = 16
    /// The number of blocks after which synchronization with a chunk is abandoned.
    private static let maximumBlocksToSynchronize = 4096

    /// Creates a synchronizer.
    ///
    /// - Parameters:
    ///   - mcusPerSegment: MCUs in each segment except the last.
    ///   - mcuCount: MCUs in the scan.
    ///   - blocksPerMCU: blocks in an MCU (T.81 A.2).
    ///   - byteCount: the approximate number of bytes in the scan.
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

    /// Finds the blocks in a window, which begins at the byte returned last.
    ///
    /// - Returns: the first byte of the data that is still needed, or `nil` if the data is
    ///   damaged.
    mutating func findBlocks(_ data: EntropyCodedData, _ finder: BlockFinder) -> Int? {
        mcusPerSegment < mcuCount
            ? findBlocksInSegments(data, finder) : findBlocksInWindow(data, finder)
    }

    /// Runs the lanes until all chunks are done.
    ///
    /// - Returns: whether every chunk that begins at an MCU is valid.
    private mutating func runLanes(_ finder: BlockFinder) -> Bool {
        var waiting = chunks.indices
        // The running lanes and their chunks. Chunks do not keep copies meanwhile, which would
        // cause the arrays of ends to be copied.
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

    /// Moves a lane to the next segment of its chunk.
    ///
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
        // Lanes read beyond their limit.
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

    /// Restarts a lane after an invalid code, which garbage can contain before synchronization.
    ///
    /// - Returns: whether the chunk can be continued.
    private mutating func restartAfterInvalidCode(
        _ lane: inout BlockFinder.Lane, _ index: Int
    ) -> Bool {
        guard lane.hasFailed, lane.block < lane.blockLimit else { return true }
        // The padding of the last byte of the scan need not be a code (T.81 F.1.2.3).
        guard index > 0, lane.position < chunks[chunks.count - 1].lane.limit - 64 else {
            return index > 0
        }
        let start = lane.position / 8 + 1
        guard start * 8 < lane.limit else { return true }
        chunks[index].start = start
        lane.restart(at: start * 8)
        return true
    }

    /// Follows the first lane to its synchronization with the next, that one to the one after
    /// it, and so on.
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

    /// Adds the blocks of the confirmed lane to the index.
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

    /// Advances a lane block by block until it and the lane of a chunk begin the same block of
    /// an MCU.
    ///
    /// - Returns: that position, and the number of the block in the chunk.
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

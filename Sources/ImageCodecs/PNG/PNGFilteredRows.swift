// SPDX-License-Identifier: Apache-2.0

#if PNG
    internal import EncodedImages

    /// The rows of a file as its `IDAT` or `fdAT` chunks hold them, inflated and with their filters undone.
    struct PNGFilteredRows: ~Copyable {
        /// Inflated at a time: large enough that what ISA-L copies at each start does not count,
        /// small enough for a cache.
        private static let batchByteCount = 1 << 19
        /// How much is inflated behind the last row to find the stream's end.
        private static let maximumSurplus = 1 << 20

        private let verifiesChecksums: Bool
        private var inflater: PNGInflater
        private var chunks: PNGDataChunks
        private var input = 0..<0
        /// The row above, what has been inflated and not been handed out, room for more, and
        /// ``PNGFilter/readAhead``.
        private var buffer: [UInt8] = []
        private var rowByteCount = 0
        private var surplusByteCount = 0
        /// The first byte in `buffer` that has not been handed out; the row above ends here.
        private var place = 0
        private var end = 0
        /// Whether the inflater may have more to give for what it has taken.
        private var isOutputPending = false

        /// - Parameters:
        ///   - chunks: stands before the first chunk with rows.
        ///   - isLaterFrame: whether they are `fdAT`, which begin with a number.
        ///   - verifiesChecksums: whether those of the chunks and of the stream are compared.
        ///   - releaseInput: gives back the memory of what has been read of the file.
        /// - Throws: ``CodecError/library(message:)`` without memory.
        init(
            _ chunks: PNGChunkCursor, isLaterFrame: Bool = false, verifiesChecksums: Bool = true,
            releaseInput: (@Sendable (Range<Int>) -> Void)? = nil
        ) throws(CodecError) {
            self.verifiesChecksums = verifiesChecksums
            inflater = try PNGInflater(verifiesChecksum: verifiesChecksums)
            self.chunks = PNGDataChunks(
                chunks, isLaterFrame: isLaterFrame, verifiesChecksums: verifiesChecksums,
                releaseInput)
        }

        /// States how many bytes the next rows have, without their filters' numbers.
        ///
        /// The first of them has a row above it that is all 0.
        mutating func beginRows(byteCount: Int) {
            let left = buffer[place..<end]
            // Two rows with their filters and a batch: a row that is inflated in part moves to the
            // front with the one above it, and there is still room for a batch.
            let room = 2 * (byteCount + 1) + Self.batchByteCount + PNGFilter.readAhead
            var next = [UInt8](repeating: 0, count: max(room, byteCount + left.count))
            for (index, byte) in left.enumerated() { next[byteCount + index] = byte }
            rowByteCount = byteCount
            place = byteCount
            end = byteCount + left.count
            buffer = next
        }

        /// Undoes the filter of the next row and calls `body` with it.
        ///
        /// - Parameters:
        ///   - file: the whole file, the same at each call.
        ///   - distance: how far back the filter looks for the pixel to the left, in bytes.
        ///   - body: gets the row.
        /// - Throws: ``CodecError`` for a damaged stream, and what `body` throws.
        mutating func withNextRow(
            _ file: Span<UInt8>, distance: Int,
            _ body: (Span<UInt8>) throws(CodecError) -> Void
        ) throws(CodecError) {
            if end - place <= rowByteCount { try fill(file) }
            let filter = buffer[place]
            let row = place + 1..<place + 1 + rowByteCount
            let isKnown = PNGFilter.undo(
                filter, &buffer, at: row.lowerBound, count: row.count, distance: distance)
            guard isKnown else {
                throw .malformed(reason: "a row has the filter \(filter)", offset: input.lowerBound)
            }
            place = row.upperBound
            try body(buffer.span.extracting(row))
        }

        /// Checks what follows the last row: the stream's end, its checksum, and `IEND`.
        mutating func finish(_ file: Span<UInt8>) throws(CodecError) {
            var chunks = try finishStream(file)
            while true {
                let start = chunks.offset
                let chunk = try chunks.next(file, verifiesChecksum: verifiesChecksums)
                if chunk.type == "IEND" { return }
                guard chunk.isAncillary || chunk.type == "IDAT" else {
                    throw .malformed(reason: "\(chunk.type) comes too late", offset: start)
                }
            }
        }

        /// Checks the end of the stream.
        ///
        /// - Returns: stands before the chunk behind it.
        mutating func finishStream(_ file: Span<UInt8>) throws(CodecError) -> PNGChunkCursor {
            // Bytes behind the last row are of no use, yet a few encoders leave some.
            while !inflater.hasEnded, surplusByteCount < Self.maximumSurplus {
                (place, end) = (0, 0)
                if try !inflateMore(file) { break }
                surplusByteCount += end
            }
            return try chunks.finish(file)
        }

        /// Makes a whole row available from `place` on, behind the row above it.
        private mutating func fill(_ file: Span<UInt8>) throws(CodecError) {
            let kept = place - rowByteCount..<end
            PNGRowKernels.moveToFront(kept, of: &buffer)
            place = rowByteCount
            end = kept.count
            while end - place <= rowByteCount {
                guard try inflateMore(file) else {
                    throw .malformed(reason: "there are too few rows", offset: chunks.offset)
                }
            }
        }

        /// - Returns: whether there may be more.
        private mutating func inflateMore(_ file: Span<UInt8>) throws(CodecError) -> Bool {
            if inflater.hasEnded { return false }
            // A few bytes can stand for many: what did not fit the last time needs no new input.
            if input.isEmpty && !isOutputPending {
                guard let next = try chunks.next(file) else { return false }
                input = next
            }
            let room = end..<buffer.count - PNGFilter.readAhead
            guard let step = inflater.inflate(file.extracting(input), into: &buffer, at: room)
            else {
                throw .malformed(
                    reason: "the compressed data is damaged", offset: input.lowerBound)
            }
            input = input.lowerBound + step.taken..<input.upperBound
            end += step.made
            isOutputPending = end == room.upperBound
            return true
        }
    }
#endif

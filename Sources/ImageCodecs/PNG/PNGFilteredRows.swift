// SPDX-License-Identifier: Apache-2.0

#if PNG
    internal import EncodedImages

    /// The rows of a file as its `IDAT` chunks hold them, inflated and with their filters undone.
    struct PNGFilteredRows: ~Copyable {
        /// Inflated at a time: large enough that starting does not count, small enough for a cache.
        private static let batchByteCount = 1 << 16

        private let verifiesChecksums: Bool
        private var inflater: PNGInflater
        private var nextChunkOffset: Int
        private var input = 0..<0
        private var buffer: [UInt8] = []
        /// The first byte in `buffer` that has not been handed out.
        private var place = 0
        private var end = 0
        /// Whether the inflater may have more to give for what it has taken.
        private var isOutputPending = false

        /// - Parameters:
        ///   - dataOffset: where the first `IDAT` chunk stands.
        ///   - verifiesChecksums: whether those of the chunks and of the stream are compared.
        /// - Throws: ``CodecError/library(message:)`` without memory.
        init(dataOffset: Int, verifiesChecksums: Bool = true) throws(CodecError) {
            self.verifiesChecksums = verifiesChecksums
            inflater = try PNGInflater(verifiesChecksum: verifiesChecksums)
            nextChunkOffset = dataOffset
        }

        /// Undoes the filter of the next row and calls `body` with it.
        ///
        /// - Parameters:
        ///   - file: the whole file, the same at each call.
        ///   - byteCount: the bytes of the row without its filter's number.
        ///   - distance: how far back the filter looks for the pixel to the left, in bytes.
        ///   - previous: the row above, `byteCount` bytes, all 0 at the top; this row afterwards.
        ///   - body: gets the row, which it may change.
        /// - Throws: ``CodecError`` for a damaged stream, and what `body` throws.
        mutating func withNextRow(
            _ file: Span<UInt8>, byteCount: Int, distance: Int, previous: inout [UInt8],
            _ body: (inout MutableSpan<UInt8>) throws(CodecError) -> Void
        ) throws(CodecError) {
            try fill(file, byteCount + 1)
            let filter = buffer[place]
            let range = place + 1..<place + 1 + byteCount
            let offset = input.lowerBound
            place = range.upperBound
            var bytes = buffer.mutableSpan
            var row = bytes._mutatingExtracting(range)
            guard PNGFilter.undo(filter, &row, previous: &previous, distance: distance) else {
                throw .malformed(reason: "a row has the filter \(filter)", offset: offset)
            }
            try body(&row)
        }

        /// Checks what follows the last row: the stream's end, its checksum, and `IEND`.
        mutating func finish(_ file: Span<UInt8>) throws(CodecError) {
            // Bytes behind the last row are of no use, yet a few encoders leave them.
            while !inflater.hasEnded {
                place = end
                if try !inflateMore(file) { break }
            }
            while true {
                let start = nextChunkOffset
                let chunk = try PNGChunk.next(
                    file, &nextChunkOffset, verifiesChecksum: verifiesChecksums)
                if chunk.type == "IEND" { return }
                guard chunk.isAncillary || chunk.type == "IDAT" else {
                    throw .malformed(reason: "\(chunk.type) comes too late", offset: start)
                }
            }
        }

        /// Makes `count` bytes available from `place` on.
        private mutating func fill(_ file: Span<UInt8>, _ count: Int) throws(CodecError) {
            guard end - place < count else { return }
            // What is left moves to the front, so that there is room for whole rows behind it.
            let left = end - place
            for index in 0..<left { buffer[index] = buffer[place + index] }
            place = 0
            end = left
            let room = max(count, Self.batchByteCount)
            if buffer.count < room { buffer += Array(repeating: 0, count: room - buffer.count) }
            while end < count {
                guard try inflateMore(file) else {
                    throw .malformed(reason: "there are too few rows", offset: nextChunkOffset)
                }
            }
        }

        /// - Returns: whether there may be more.
        private mutating func inflateMore(_ file: Span<UInt8>) throws(CodecError) -> Bool {
            if inflater.hasEnded { return false }
            // A few bytes can stand for many: what did not fit the last time needs no new input.
            if input.isEmpty && !isOutputPending {
                var offset = nextChunkOffset
                let chunk = try PNGChunk.next(
                    file, &offset, verifiesChecksum: verifiesChecksums)
                guard chunk.type == "IDAT" else { return false }
                nextChunkOffset = offset
                input = chunk.body
            }
            if end == buffer.count { (place, end) = (0, 0) }
            let piece = file.extracting(input)
            guard let step = inflater.inflate(piece, into: &buffer, at: end) else {
                throw .malformed(
                    reason: "the compressed data is damaged", offset: input.lowerBound)
            }
            input = input.lowerBound + step.taken..<input.upperBound
            end += step.made
            isOutputPending = end == buffer.count
            return true
        }
    }
#endif

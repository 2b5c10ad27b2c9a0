// SPDX-License-Identifier: Apache-2.0

#if PNG
internal import EncodedImages

/// The scanlines in the `IDAT` or `fdAT` chunks, inflated and unfiltered.
struct PNGFilteredRows: ~Copyable {
    /// The number of bytes inflated at a time: large enough to amortize what ISA-L copies at
    /// each start, small enough for a cache.
    private static let batchByteCount = 1 << 19
    /// The maximum number of bytes inflated after the last row to find the end of the stream.
    private static let maximumSurplus = 1 << 20

    private let verifiesChecksums: Bool
    private var inflater: PNGInflater
    private var chunks: PNGDataChunks
    private var input = 0..<0
    /// The row above, the inflated bytes that have not been returned, free space, and
    /// ``PNGFilter/readAhead``.
    private var buffer: [UInt8] = []
    private var rowByteCount = 0
    /// The number of further rows of the same length.
    private var rowCount = 0
    private var surplusByteCount = 0
    /// The offset in `buffer` of the next filter type; the row above ends here.
    private var place = 0
    private var end = 0
    /// Whether the inflater may have more output for the input it has consumed.
    private var isOutputPending = false

    /// - Parameters:
    ///   - chunks: a cursor at the first chunk with image data.
    ///   - isLaterFrame: whether the chunks are `fdAT`, which begin with a sequence number.
    ///   - verifiesChecksums: whether the CRCs and the Adler-32 of the stream are compared.
    ///   - releaseInput: releases the memory of the bytes that have been read.
    /// - Throws: ``CodecError/library(message:)`` if memory is exhausted.
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

    /// Sets the number of the next rows, and their bytes without filter types.
    ///
    /// The row above the first one is all zeros.
    mutating func beginRows(_ count: Int, byteCount: Int) {
        let left = buffer[place..<end]
        // Two rows with their filter types and a batch: a partly inflated row moves to the
        // front with the row above it, and a batch still fits.
        let room = 2 * (byteCount + 1) + Self.batchByteCount + PNGFilter.readAhead
        var next = [UInt8](repeating: 0, count: max(room, byteCount + left.count))
        for (index, byte) in left.enumerated() { next[byteCount + index] = byte }
        rowByteCount = byteCount
        rowCount = count
        place = byteCount
        end = byteCount + left.count
        buffer = next
    }

    /// Unfilters the next row and calls `body` with it.
    ///
    /// - Parameters:
    ///   - file: the whole file, the same at each call.
    ///   - distance: the number of bytes from a pixel to its left neighbour.
    ///   - body: receives the row.
    /// - Throws: ``CodecError`` for a damaged stream, and the errors of `body`.
    mutating func withNextRow(
        _ file: Span<UInt8>, distance: Int,
        _ body: (Span<UInt8>) throws(CodecError) -> Void
    ) throws(CodecError) {
        if end - place <= rowByteCount { try fill(file) }
        let row = place + 1..<place + 1 + rowByteCount
        let isKnown = undoFilter(of: row, distance: distance)
        guard isKnown else {
            throw .malformed(
                reason: "unknown filter type \(buffer[place])", offset: input.lowerBound)
        }
        place = row.upperBound
        rowCount -= 1
        try body(buffer.span.extracting(row))
    }

    /// Unfilters a row, or the next one as well.
    ///
    /// - Returns: whether the filter type is known.
    private mutating func undoFilter(of row: Range<Int>, distance: Int) -> Bool {
        let hasNext = rowCount > 1 && end - row.upperBound > rowByteCount
        return hasNext
            && PNGFilter.undoPaethPair(
                &buffer, at: row.lowerBound, count: row.count, distance: distance)
            || PNGFilter.undo(
                buffer[place], &buffer, at: row.lowerBound, count: row.count, distance: distance)
    }

    /// Checks what follows the last row: the end of the stream, its Adler-32 and `IEND`.
    mutating func finish(_ file: Span<UInt8>) throws(CodecError) {
        var chunks = try finishStream(file)
        while true {
            let start = chunks.offset
            let chunk = try chunks.next(file, verifiesChecksum: verifiesChecksums)
            if chunk.type == "IEND" { return }
            guard chunk.isAncillary || chunk.type == "IDAT" else {
                throw .malformed(
                    reason: "chunk \(chunk.type) is not allowed after IDAT", offset: start)
            }
        }
    }

    /// Checks the end of the zlib stream.
    ///
    /// - Returns: a cursor at the chunk after it.
    mutating func finishStream(_ file: Span<UInt8>) throws(CodecError) -> PNGChunkCursor {
        // A few encoders write bytes after the last row; they are discarded.
        while !inflater.hasEnded, surplusByteCount < Self.maximumSurplus {
            (place, end) = (0, 0)
            if try !inflateMore(file) { break }
            surplusByteCount += end
        }
        return try chunks.finish(file)
    }

    /// Inflates until a whole row follows the row above it.
    private mutating func fill(_ file: Span<UInt8>) throws(CodecError) {
        let kept = place - rowByteCount..<end
        PNGRowKernels.moveToFront(kept, of: &buffer)
        place = rowByteCount
        end = kept.count
        while end - place <= rowByteCount {
            guard try inflateMore(file) else {
                throw .malformed(
                    reason: "image data ends before the last row", offset: chunks.offset)
            }
        }
    }

    /// Inflates the next batch.
    ///
    /// - Returns: whether the stream may have more data.
    private mutating func inflateMore(_ file: Span<UInt8>) throws(CodecError) -> Bool {
        if inflater.hasEnded { return false }
        // Little input can expand to much output: a full buffer does not need new input.
        if input.isEmpty && !isOutputPending {
            guard let next = try chunks.next(file) else { return false }
            input = next
        }
        let room = end..<buffer.count - PNGFilter.readAhead
        guard let step = inflater.inflate(file.extracting(input), into: &buffer, at: room)
        else {
            throw .malformed(
                reason: "invalid zlib stream", offset: input.lowerBound)
        }
        input = input.lowerBound + step.taken..<input.upperBound
        end += step.made
        isOutputPending = end == room.upperBound
        return true
    }
}
#endif

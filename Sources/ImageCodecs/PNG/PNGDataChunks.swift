// SPDX-License-Identifier: Apache-2.0

#if PNG
internal import EncodedImages

/// The data of the `IDAT` or `fdAT` chunks, read in parts, because some files have a single
/// large chunk.
struct PNGDataChunks {
    private static let partByteCount = 256 << 10

    private let type: String
    /// The number of bytes before the zlib data in each chunk.
    private let prefixByteCount: Int
    private let verifiesChecksums: Bool
    private var chunks: PNGChunkCursor
    private var passed: PassedInput
    /// The chunk that is being read, and the range of its data that has not been read.
    private var current: PNGChunk?
    private var rest = 0..<0
    /// The CRC of the part of the chunk that has been read.
    private var checksum: UInt32 = 0

    /// - Parameters:
    ///   - chunks: a cursor at the first chunk with image data.
    ///   - isLaterFrame: whether the chunks are `fdAT`, which begin with a sequence number.
    ///   - verifiesChecksums: whether the CRCs of the chunks are compared.
    ///   - releaseInput: releases the memory of the bytes that have been read.
    init(
        _ chunks: PNGChunkCursor, isLaterFrame: Bool, verifiesChecksums: Bool,
        _ releaseInput: (@Sendable (Range<Int>) -> Void)?
    ) {
        type = isLaterFrame ? "fdAT" : "IDAT"
        prefixByteCount = isLaterFrame ? 4 : 0
        self.verifiesChecksums = verifiesChecksums
        self.chunks = chunks
        passed = PassedInput(from: chunks.offset, releaseInput)
    }

    /// The offset of the chunk after the one being read.
    var offset: Int { chunks.offset }

    /// Returns the next range of the zlib stream, maybe empty, or `nil` if the next chunk has
    /// another type.
    ///
    /// The last bytes of a chunk are returned after its CRC has been compared.
    ///
    /// - Throws: ``CodecError/truncated(byteCount:)`` at the end of the file; the call can be
    ///   repeated with more bytes. Otherwise the errors of
    ///   ``PNGChunkCursor/next(_:verifiesChecksum:)``.
    mutating func next(_ file: Span<UInt8>) throws(CodecError) -> Range<Int>? {
        passed.advance(to: rest.lowerBound)
        if current == nil { try begin(file) }
        guard let chunk = current else { return nil }
        let isWhole = file.count - 4 >= rest.upperBound
        let available = isWhole ? rest.upperBound : min(rest.upperBound - 1, file.count)
        let end = min(rest.lowerBound + Self.partByteCount, available)
        guard isWhole || end > rest.lowerBound else {
            throw .truncated(byteCount: file.count)
        }
        let part = rest.lowerBound..<end
        if verifiesChecksums { checksum = file.checksum(of: part, after: checksum) }
        rest = end..<rest.upperBound
        if rest.isEmpty {
            current = nil
            if verifiesChecksums { try chunk.compare(checksum, file) }
        }
        return min(end, max(part.lowerBound, chunk.body.lowerBound + prefixByteCount))..<end
    }

    /// Reads the rest of the current chunk.
    ///
    /// - Returns: a cursor at the chunk after it.
    mutating func finish(_ file: Span<UInt8>) throws(CodecError) -> PNGChunkCursor {
        while current != nil { _ = try next(file) }
        return chunks
    }

    private mutating func begin(_ file: Span<UInt8>) throws(CodecError) {
        guard let chunk = try chunks.begin(type, file) else { return }
        current = chunk
        rest = chunk.body
        checksum = chunk.typeChecksum(file)
    }
}
#endif

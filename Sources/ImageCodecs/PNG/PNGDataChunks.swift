// SPDX-License-Identifier: Apache-2.0

#if PNG
    internal import EncodedImages

    /// The bodies of the chunks that hold rows, `IDAT` or `fdAT`, part by part: some files have one
    /// chunk for all of them.
    struct PNGDataChunks {
        private static let partByteCount = 256 << 10

        private let type: String
        /// The bytes before those of the rows in each chunk.
        private let prefixByteCount: Int
        private let verifiesChecksums: Bool
        private var chunks: PNGChunkCursor
        private var passed: PassedInput
        /// The chunk that is being read, and what of its body has not been.
        private var current: PNGChunk?
        private var rest = 0..<0
        /// Of what has been read of the chunk.
        private var checksum: UInt32 = 0

        /// - Parameters:
        ///   - chunks: stands before the first chunk with rows.
        ///   - isLaterFrame: whether they are `fdAT`, which begin with a number.
        ///   - verifiesChecksums: whether those of the chunks are compared.
        ///   - releaseInput: gives back the memory of what has been read of the file.
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

        /// Where the chunk begins that follows the one being read.
        var offset: Int { chunks.offset }

        /// The bytes of rows behind those that it gave before, maybe none; `nil` if the next chunk is
        /// of another type.
        ///
        /// A chunk's last bytes come when its checksum has been compared.
        ///
        /// - Throws: ``CodecError/truncated(byteCount:)`` where the file ends; it can then be called
        ///   with more of it. As ``PNGChunkCursor/next(_:verifiesChecksum:)`` does otherwise.
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
            if verifiesChecksums { checksum = file.checksum(of: part, behind: checksum) }
            rest = end..<rest.upperBound
            if rest.isEmpty {
                current = nil
                if verifiesChecksums { try chunk.compare(checksum, file) }
            }
            return min(end, max(part.lowerBound, chunk.body.lowerBound + prefixByteCount))..<end
        }

        /// Reads the rest of the chunk that has begun.
        ///
        /// - Returns: stands before the one behind it.
        mutating func finish(_ file: Span<UInt8>) throws(CodecError) -> PNGChunkCursor {
            while current != nil { _ = try next(file) }
            return chunks
        }

        private mutating func begin(_ file: Span<UInt8>) throws(CodecError) {
            guard let chunk = try chunks.begin(type, file) else { return }
            current = chunk
            rest = chunk.body
            checksum = chunk.checksumOfType(file)
        }
    }
#endif

// SPDX-License-Identifier: Apache-2.0

#if PNG
    internal import CPNG
    internal import EncodedImages

    /// One chunk of a file: its type, and where its body stands.
    struct PNGChunk {
        let type: String
        let body: Range<Int>

        /// Whether a reader that does not know the chunk may go on without it.
        var isAncillary: Bool { type.utf8.first.map { $0 & 0x20 != 0 } ?? false }

        /// Whether the chunk at `offset` says that it is `IDAT`.
        static func isData(_ file: Span<UInt8>, at offset: Int) -> Bool {
            file.integer(at: offset + 4) == 0x4944_4154
        }

        /// Reads the chunk at `offset` and moves `offset` behind it.
        ///
        /// - Parameters:
        ///   - file: the whole file.
        ///   - offset: where the chunk begins; afterwards, where the next does.
        ///   - verifiesChecksum: whether the checksum is compared; that of text never is.
        /// - Returns: the chunk, whose body is within the file.
        /// - Throws: ``CodecError/truncated(byteCount:)``, or ``CodecError/malformed(reason:offset:)``
        ///   for a wrong length, type or checksum.
        static func next(
            _ file: Span<UInt8>, _ offset: inout Int, verifiesChecksum: Bool = true
        ) throws(CodecError) -> PNGChunk {
            let start = offset
            guard let length = file.integer(at: start) else {
                throw .truncated(byteCount: file.count)
            }
            guard length <= Int32.max else {
                throw .malformed(reason: "a chunk's length is out of range", offset: start)
            }
            let body = start + 8..<start + 8 + length
            guard let checksum = file.integer(at: body.upperBound) else {
                throw .truncated(byteCount: file.count)
            }
            let letters = (start + 4..<start + 8).map { file[$0] }
            guard letters.allSatisfy({ (65...90).contains($0 & 0xDF) }) else {
                throw .malformed(reason: "a chunk's type is not four letters", offset: start + 4)
            }
            let chunk = PNGChunk(type: String(decoding: letters, as: UTF8.self), body: body)
            offset = body.upperBound + 4
            // Text is never shown and may be long.
            if !verifiesChecksum || ["tEXt", "zTXt", "iTXt"].contains(chunk.type) { return chunk }
            let checked = file.extracting(start + 4..<body.upperBound)
            let found = unsafe checked.withUnsafeBufferPointer {
                unsafe calotype_png_checksum($0.baseAddress, $0.count)
            }
            guard Int(found) == checksum else {
                throw .malformed(reason: "the checksum of \(chunk.type) is wrong", offset: start)
            }
            return chunk
        }
    }

    /// Goes from chunk to chunk of a file and counts them.
    struct PNGChunkCursor {
        /// Where the next chunk begins.
        private(set) var offset: Int
        private var count = 0
        private let limits: DecodeLimits

        init(at offset: Int = PNGCodec.signature.count, limits: DecodeLimits) {
            self.offset = offset
            self.limits = limits
        }

        /// Reads the next chunk and goes behind it; also behind one that is damaged.
        ///
        /// - Throws: as ``PNGChunk/next(_:_:verifiesChecksum:)`` does, or
        ///   ``CodecError/limitExceeded(_:needed:allowed:)``.
        mutating func next(
            _ file: Span<UInt8>, verifiesChecksum: Bool = true
        ) throws(CodecError) -> PNGChunk {
            try limits.check(.chunkCount, count + 1)
            let start = offset
            // More of the same chunk may come.
            defer { if offset > start { count += 1 } }
            return try PNGChunk.next(file, &offset, verifiesChecksum: verifiesChecksum)
        }
    }

    extension Span<UInt8> {
        /// The number of 32 bits at an offset, if the bytes go that far.
        func integer(at offset: Int) -> Int? {
            guard offset >= 0, offset <= count - 4 else { return nil }
            return (0..<4).reduce(0) { $0 << 8 | Int(self[offset + $1]) }
        }
    }
#endif

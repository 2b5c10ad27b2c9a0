// SPDX-License-Identifier: Apache-2.0

#if PNG
    internal import CPNG
    internal import EncodedImages

    /// One chunk of a file: its type, and where its body stands.
    struct PNGChunk {
        let type: String
        let body: Range<Int>

        /// Reads what stands before the body; the rest need not be in the file.
        ///
        /// - Throws: as ``next(_:_:verifiesChecksum:)`` does.
        init(_ file: Span<UInt8>, at start: Int) throws(CodecError) {
            guard let length = file.integer(at: start, byteCount: 4), file.count - start >= 8 else {
                throw .truncated(byteCount: file.count)
            }
            guard length <= Int32.max else {
                throw .malformed(reason: "a chunk's length is out of range", offset: start)
            }
            let letters = (start + 4..<start + 8).map { file[$0] }
            guard letters.allSatisfy({ (65...90).contains($0 & 0xDF) }) else {
                throw .malformed(reason: "a chunk's type is not four letters", offset: start + 4)
            }
            type = String(decoding: letters, as: UTF8.self)
            body = start + 8..<start + 8 + length
        }

        /// Whether a reader that does not know the chunk may go on without it.
        var isAncillary: Bool { type.utf8.first.map { $0 & 0x20 != 0 } ?? false }

        /// Whether the chunk at `offset` says that it is `IDAT`.
        static func isData(_ file: Span<UInt8>, at offset: Int) -> Bool {
            file.integer(at: offset + 4, byteCount: 4) == 0x4944_4154
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
            let chunk = try PNGChunk(file, at: offset)
            guard chunk.end <= file.count else { throw .truncated(byteCount: file.count) }
            offset = chunk.end
            // Text is never shown and may be long.
            if !verifiesChecksum || ["tEXt", "zTXt", "iTXt"].contains(chunk.type) { return chunk }
            let found = file.checksum(of: chunk.body, behind: chunk.checksumOfType(file))
            try chunk.compare(found, file)
            return chunk
        }

        /// Where the next chunk begins.
        var end: Int { body.upperBound + 4 }

        func checksumOfType(_ file: Span<UInt8>) -> UInt32 {
            file.checksum(of: body.lowerBound - 4..<body.lowerBound, behind: 0)
        }

        /// - Parameters:
        ///   - found: the checksum of the type and the body as they are.
        ///   - file: holds all of the chunk.
        /// - Throws: ``CodecError/malformed(reason:offset:)`` unless the chunk states the same.
        func compare(_ found: UInt32, _ file: Span<UInt8>) throws(CodecError) {
            guard file.integer(at: body.upperBound, byteCount: 4) == Int(found) else {
                throw .malformed(
                    reason: "the checksum of \(type) is wrong", offset: body.lowerBound - 8)
            }
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

        /// Goes behind the next chunk if it is of a type; the caller reads it, and compares its
        /// checksum, when its bytes are there.
        mutating func begin(_ type: String, _ file: Span<UInt8>) throws(CodecError) -> PNGChunk? {
            try limits.check(.chunkCount, count + 1)
            let chunk = try PNGChunk(file, at: offset)
            guard chunk.type == type else { return nil }
            offset = chunk.end
            count += 1
            return chunk
        }
    }

    extension Span<UInt8> {
        /// The checksum of bytes with others before them, which have the checksum `before`.
        func checksum(of part: Range<Int>, behind before: UInt32) -> UInt32 {
            unsafe extracting(part).withUnsafeBufferPointer {
                unsafe calotype_png_checksum(before, $0.baseAddress, $0.count)
            }
        }
    }
#endif

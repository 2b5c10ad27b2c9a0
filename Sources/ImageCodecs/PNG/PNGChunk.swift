// SPDX-License-Identifier: Apache-2.0

#if PNG
internal import CPNG
internal import EncodedImages

/// One chunk (ISO/IEC 15948, 5.3): its type and the range of its data field.
struct PNGChunk {
    let type: String
    let body: Range<Int>

    /// Reads the length and the type; the data need not be in the file yet.
    ///
    /// - Throws: the errors of ``next(_:_:verifiesChecksum:)``.
    init(_ file: Span<UInt8>, at start: Int) throws(CodecError) {
        guard let length = file.integer(at: start, byteCount: 4), file.count - start >= 8 else {
            throw .truncated(byteCount: file.count)
        }
        guard length <= Int32.max else {
            throw .malformed(reason: "chunk length \(length) exceeds 2147483647", offset: start)
        }
        let letters = (start + 4..<start + 8).map { file[$0] }
        guard letters.allSatisfy({ (65...90).contains($0 & 0xDF) }) else {
            throw .malformed(reason: "chunk type is not four ASCII letters", offset: start + 4)
        }
        type = String(decoding: letters, as: UTF8.self)
        body = start + 8..<start + 8 + length
    }

    /// Whether a decoder may skip the chunk if it does not support it.
    var isAncillary: Bool { type.utf8.first.map { $0 & 0x20 != 0 } ?? false }

    /// Returns whether the chunk at `offset` is an `IDAT`.
    static func isData(_ file: Span<UInt8>, at offset: Int) -> Bool {
        file.integer(at: offset + 4, byteCount: 4) == 0x4944_4154
    }

    /// Reads the chunk at `offset` and advances `offset` to the next one.
    ///
    /// - Parameters:
    ///   - file: the whole file.
    ///   - offset: the offset of the chunk; on return, that of the next one.
    ///   - verifiesChecksum: whether the CRC is compared; that of textual chunks never is.
    /// - Returns: the chunk, whose data is within the file.
    /// - Throws: ``CodecError/truncated(byteCount:)``, or
    ///   ``CodecError/malformed(reason:offset:)`` for an invalid length, type or CRC.
    static func next(
        _ file: Span<UInt8>, _ offset: inout Int, verifiesChecksum: Bool = true
    ) throws(CodecError) -> PNGChunk {
        let chunk = try PNGChunk(file, at: offset)
        guard chunk.end <= file.count else { throw .truncated(byteCount: file.count) }
        offset = chunk.end
        // Text is not displayed and may be long.
        if !verifiesChecksum || ["tEXt", "zTXt", "iTXt"].contains(chunk.type) { return chunk }
        let found = file.checksum(of: chunk.body, after: chunk.typeChecksum(file))
        try chunk.compare(found, file)
        return chunk
    }

    /// The offset of the next chunk.
    var end: Int { body.upperBound + 4 }

    func typeChecksum(_ file: Span<UInt8>) -> UInt32 {
        file.checksum(of: body.lowerBound - 4..<body.lowerBound, after: 0)
    }

    /// Compares the CRC of the chunk.
    ///
    /// - Parameters:
    ///   - found: the CRC computed over the type and the data.
    ///   - file: the file, which contains the whole chunk.
    /// - Throws: ``CodecError/malformed(reason:offset:)`` if the stored CRC differs.
    func compare(_ found: UInt32, _ file: Span<UInt8>) throws(CodecError) {
        guard file.integer(at: body.upperBound, byteCount: 4) == Int(found) else {
            throw .malformed(
                reason: "CRC of chunk \(type) does not match", offset: body.lowerBound - 8)
        }
    }
}

/// Iterates over the chunks of a file and counts them.
struct PNGChunkCursor {
    /// The offset of the next chunk.
    private(set) var offset: Int
    private var count = 0
    private let limits: DecodeLimits

    init(at offset: Int = PNGCodec.signature.count, limits: DecodeLimits) {
        self.offset = offset
        self.limits = limits
    }

    /// Reads the next chunk and advances past it, also if it is damaged.
    ///
    /// - Throws: the errors of ``PNGChunk/next(_:_:verifiesChecksum:)``, or
    ///   ``CodecError/limitExceeded(_:needed:allowed:)``.
    mutating func next(
        _ file: Span<UInt8>, verifiesChecksum: Bool = true
    ) throws(CodecError) -> PNGChunk {
        try limits.check(.chunkCount, count + 1)
        let start = offset
        // A truncated chunk is read again when more bytes are available.
        defer { if offset > start { count += 1 } }
        return try PNGChunk.next(file, &offset, verifiesChecksum: verifiesChecksum)
    }

    /// Advances past the next chunk if it has the given type.
    ///
    /// The caller reads its data and compares its CRC as the bytes become available.
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
    /// Returns the CRC of bytes that follow others whose CRC is `before`.
    func checksum(of part: Range<Int>, after before: UInt32) -> UInt32 {
        unsafe extracting(part).withUnsafeBufferPointer {
            unsafe calotype_png_checksum(before, $0.baseAddress, $0.count)
        }
    }
}
#endif

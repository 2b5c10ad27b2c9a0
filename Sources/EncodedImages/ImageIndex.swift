// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// Positions in the data of a file from which its decoder can start, so that a region costs the same
/// wherever it lies.
///
/// Formats without tiles are decoded from the top. An index is made once by
/// ``ImageSource/makeIndex(cancellation:)``, can be stored, and is used when it is set as
/// ``ImageSource/index``. It belongs to the bytes of one file: with any other, it is ignored.
public struct ImageIndex: Hashable, Sendable {
    /// The serialized index: a checksum of 8 bytes, and the content, which the codec defines.
    public let bytes: [UInt8]

    private static let checksumByteCount = 8

    /// Returns the maximum size of the index of an image, in bytes.
    static func maximumByteCount(_ size: PixelSize) -> Int { size.area / 256 + (64 << 10) }

    /// Reads a serialized index.
    ///
    /// The content is checked where it is used, since the bytes may come from anywhere.
    ///
    /// - Parameter bytes: the ``bytes`` of an index.
    /// - Throws: ``CodecError/malformed(reason:offset:)`` if the checksum does not match.
    public init(bytes: [UInt8]) throws(CodecError) {
        let count = Self.checksumByteCount
        guard bytes.count >= count,
            Array(bytes[..<count]) == Self.checksum(bytes.span.extracting(count..<bytes.count))
        else {
            throw .malformed(reason: "checksum of the index does not match", offset: 0)
        }
        self.bytes = bytes
    }

    /// Creates an index with the content of a codec.
    package init(content: [UInt8]) { bytes = Self.checksum(content.span) + content }

    /// Calls `body` with the content.
    package func withContent<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(bytes.span.extracting(Self.checksumByteCount..<bytes.count))
    }

    /// Returns the checksum of bytes, which detects accidents, not attacks.
    package static func checksum(_ bytes: Span<UInt8>) -> [UInt8] {
        var hash = UInt64(bytes.count) ^ 0xCBF2_9CE4_8422_2325
        var offset = 0
        while offset < bytes.count {
            let count = min(8, bytes.count - offset)
            let word = bytes.littleEndian(at: offset, byteCount: count)
            // FNV-1a with words instead of bytes, whose high bits are folded into the low ones.
            hash = (hash ^ UInt64(bitPattern: Int64(word))) &* 0x0000_0100_0000_01B3
            hash ^= hash >> 29
            offset += count
        }
        return [UInt8](Int(truncatingIfNeeded: hash), byteCount: 8, .littleEndian)
    }
}

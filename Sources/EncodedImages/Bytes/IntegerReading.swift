// SPDX-License-Identifier: Apache-2.0

extension Span<UInt8> {
    /// Returns the unsigned integer at an offset, for bytes that may end anywhere.
    ///
    /// - Parameters:
    ///   - offset: the index of its first byte; may be negative.
    ///   - byteCount: its length, at most 8.
    ///   - order: the order of its bytes.
    /// - Returns: `nil` if it does not lie within the bytes or does not fit into `Int`.
    package func integer(
        at offset: Int, byteCount: Int, _ order: ByteOrder = .bigEndian
    ) -> Int? {
        guard offset >= 0, byteCount <= 8, offset <= count - byteCount else { return nil }
        var value: UInt64 = 0
        for index in 0..<byteCount {
            let place = order == .littleEndian ? byteCount - 1 - index : index
            value = value << 8 | UInt64(self[offset + place])
        }
        return Int(exactly: value)
    }

    /// Returns the 16-bit little-endian integer at an offset, or `nil` unless it lies within the bytes.
    @inlinable package func littleEndian16(at offset: Int) -> Int? {
        guard offset >= 0, offset <= count - 2 else { return nil }
        return littleEndian(at: offset, byteCount: 2)
    }

    /// Returns the 32-bit little-endian integer at an offset, or `nil` unless it lies within the bytes.
    @inlinable package func littleEndian32(at offset: Int) -> UInt32? {
        guard offset >= 0, offset <= count - 4 else { return nil }
        return UInt32(truncatingIfNeeded: littleEndian(at: offset, byteCount: 4))
    }

    /// Returns the unsigned big-endian integer at an offset that the caller has checked.
    ///
    /// - Parameters:
    ///   - offset: the index of its first byte.
    ///   - byteCount: its length, at most 8.
    /// - Returns: the integer; one of 8 bytes that exceeds `Int` is negative.
    /// - Precondition: it lies within the bytes.
    @inlinable @inline(__always)
    package func bigEndian(at offset: Int, byteCount: Int) -> Int {
        var value = 0
        for index in 0..<byteCount { value = value << 8 | Int(self[offset + index]) }
        return value
    }

    /// Returns the unsigned little-endian integer at an offset that the caller has checked.
    ///
    /// - Parameters:
    ///   - offset: the index of its first byte.
    ///   - byteCount: its length, at most 8.
    /// - Returns: the integer; one of 8 bytes that exceeds `Int` is negative.
    /// - Precondition: it lies within the bytes.
    @inlinable @inline(__always)
    package func littleEndian(at offset: Int, byteCount: Int) -> Int {
        var value = 0
        for index in 0..<byteCount { value |= Int(self[offset + index]) << (index * 8) }
        return value
    }

    /// Returns bytes as text in UTF-8; empty unless all of them are there.
    package func text(at offset: Int, byteCount: Int) -> String {
        guard offset >= 0, offset <= count - byteCount else { return "" }
        return String(decoding: (offset..<offset + byteCount).map { self[$0] }, as: UTF8.self)
    }
}

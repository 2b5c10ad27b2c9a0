// SPDX-License-Identifier: Apache-2.0

internal import Pixels

extension [UInt8] {
    /// The lowest bytes of an integer.
    package init(_ value: Int, byteCount: Int, _ order: ByteOrder) {
        self = (0..<byteCount).map { index in
            let place = order == .littleEndian ? index : byteCount - 1 - index
            return UInt8(truncatingIfNeeded: value >> (place * 8))
        }
    }

    /// Appends the lowest bytes of an integer.
    package mutating func append(_ value: Int, byteCount: Int, _ order: ByteOrder = .bigEndian) {
        self += [UInt8](value, byteCount: byteCount, order)
    }

    /// Overwrites the bytes at an offset with the lowest bytes of an integer.
    package mutating func set(_ value: Int, at offset: Int, byteCount: Int, _ order: ByteOrder) {
        let bytes = [UInt8](value, byteCount: byteCount, order)
        for index in bytes.indices { self[offset + index] = bytes[index] }
    }

    /// Appends 16-bit integers, the least significant byte first.
    package mutating func appendLittleEndian16(_ values: Int...) {
        for value in values { append(value, byteCount: 2, .littleEndian) }
    }

    /// Appends a row of 16-bit samples in the machine's byte order, the least significant byte first.
    package mutating func appendLittleEndian16(_ row: Span<UInt8>) {
        row.withSamples16 { samples in
            for index in samples.indices {
                append(UInt8(truncatingIfNeeded: samples[index]))
                append(UInt8(truncatingIfNeeded: samples[index] >> 8))
            }
        }
    }

    /// Appends 32-bit integers, the least significant byte first.
    package mutating func appendLittleEndian32(_ values: Int...) {
        for value in values { append(value, byteCount: 4, .littleEndian) }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Pixels

extension Span<UInt8> {
    /// Returns the little-endian 16-bit integer at an offset, or `nil` beyond the end.
    func littleEndian16(at offset: Int) -> Int? {
        guard offset >= 0, offset <= count - 2 else { return nil }
        return Int(self[offset]) | Int(self[offset + 1]) << 8
    }

    /// Returns the little-endian 32-bit integer at an offset, or `nil` beyond the end.
    func littleEndian32(at offset: Int) -> UInt32? {
        guard offset >= 0, offset <= count - 4 else { return nil }
        return UInt32(self[offset]) | UInt32(self[offset + 1]) << 8
            | UInt32(self[offset + 2]) << 16 | UInt32(self[offset + 3]) << 24
    }
}

extension [UInt8] {
    /// Appends little-endian 16-bit integers.
    mutating func appendLittleEndian16(_ values: Int...) {
        for value in values {
            append(UInt8(truncatingIfNeeded: value))
            append(UInt8(truncatingIfNeeded: value >> 8))
        }
    }

    /// Appends a row of 16-bit samples in little-endian order.
    mutating func appendLittleEndian16(_ row: Span<UInt8>) {
        row.withSamples16 { samples in
            for index in samples.indices {
                append(UInt8(truncatingIfNeeded: samples[index]))
                append(UInt8(truncatingIfNeeded: samples[index] >> 8))
            }
        }
    }

    /// Appends little-endian 32-bit integers.
    mutating func appendLittleEndian32(_ values: Int...) {
        for value in values {
            appendLittleEndian16(value & 0xFFFF, value >> 16)
        }
    }
}

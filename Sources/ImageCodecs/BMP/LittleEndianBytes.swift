// SPDX-License-Identifier: Apache-2.0

internal import Pixels

extension Span<UInt8> {
    /// The number of 16 bits at an offset, the smaller byte first, if the bytes go that far.
    func littleEndian16(at offset: Int) -> Int? {
        guard offset >= 0, offset <= count - 2 else { return nil }
        return Int(self[offset]) | Int(self[offset + 1]) << 8
    }

    /// The number of 32 bits at an offset, the smallest byte first, if the bytes go that far.
    func littleEndian32(at offset: Int) -> UInt32? {
        guard offset >= 0, offset <= count - 4 else { return nil }
        return UInt32(self[offset]) | UInt32(self[offset + 1]) << 8
            | UInt32(self[offset + 2]) << 16 | UInt32(self[offset + 3]) << 24
    }
}

extension [UInt8] {
    /// Adds numbers of 16 bits, the smaller byte first.
    mutating func appendLittleEndian16(_ values: Int...) {
        for value in values {
            append(UInt8(truncatingIfNeeded: value))
            append(UInt8(truncatingIfNeeded: value >> 8))
        }
    }

    /// Adds a row of 16-bit samples in the machine's byte order, the smaller byte first.
    mutating func appendLittleEndian16(_ row: Span<UInt8>) {
        row.withSamples16 { samples in
            for index in samples.indices {
                append(UInt8(truncatingIfNeeded: samples[index]))
                append(UInt8(truncatingIfNeeded: samples[index] >> 8))
            }
        }
    }

    /// Adds numbers of 32 bits, the smallest byte first.
    mutating func appendLittleEndian32(_ values: Int...) {
        for value in values {
            appendLittleEndian16(value & 0xFFFF, value >> 16)
        }
    }
}

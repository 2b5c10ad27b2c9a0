// SPDX-License-Identifier: Apache-2.0

/// A short name for much data, which other data does not have by chance (FNV-1a, 64 bits).
///
/// Nothing is protected by it: whoever could choose the data could also change the folder.
struct Digest {
    private var state: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ number: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            add(byte: UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    /// The end is marked, so that `ab` and `c` differ from `a` and `bc`.
    mutating func add(_ text: String) {
        for byte in text.utf8 { add(byte: byte) }
        add(byte: 0xFF)
    }

    mutating func add(_ bytes: [UInt8]) {
        for byte in bytes { add(byte: byte) }
        add(UInt64(bytes.count))
    }

    private mutating func add(byte: UInt8) {
        state = (state ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
    }

    /// Up to 13 digits and small letters.
    var text: String { String(state, radix: 36) }
}

// SPDX-License-Identifier: Apache-2.0

/// A 64-bit FNV-1a hash for entity tags.
///
/// It is not collision-resistant; a client that controls the data could change the folder anyway.
struct Fingerprint {
    private var state: UInt64 = 0xcbf2_9ce4_8422_2325

    /// Adds a number.
    mutating func add(_ number: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            add(byte: UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    /// Adds a text and an end mark, so that `ab`, `c` and `a`, `bc` differ.
    mutating func add(_ text: String) {
        for byte in text.utf8 { add(byte: byte) }
        add(byte: 0xFF)
    }

    /// Adds bytes and their number.
    mutating func add(_ bytes: [UInt8]) {
        for byte in bytes { add(byte: byte) }
        add(UInt64(bytes.count))
    }

    /// Adds a piece of a file.
    mutating func add(_ piece: Span<UInt8>) {
        for index in piece.indices { add(byte: piece[index]) }
    }

    private mutating func add(byte: UInt8) {
        state = (state ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
    }

    /// The hash in base 36, up to 13 digits and lower-case letters.
    var text: String { String(state, radix: 36) }
}

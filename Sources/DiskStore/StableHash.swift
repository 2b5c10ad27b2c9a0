// SPDX-License-Identifier: Apache-2.0

/// A hash of 64 bits that is the same in every run, unlike Swift's own.
///
/// It finds damage and tells keys apart; it does not withstand someone who looks for collisions.
/// - SeeAlso: Sebastiano Vigna's SplitMix64, whose finishing steps mix every word here.
package struct StableHash {
    package private(set) var value: UInt64 = 0x9E37_79B9_7F4A_7C15

    package init() {}

    package mutating func combine(_ word: UInt64) {
        var mixed = (value ^ word) &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        value = mixed ^ (mixed >> 31)
    }

    /// Takes the bytes in words of eight, the lowest byte first, and then their number.
    package mutating func combine(_ bytes: Span<UInt8>) {
        var word: UInt64 = 0
        for index in bytes.indices {
            word = word >> 8 | UInt64(bytes[index]) << 56
            if index & 7 == 7 { combine(word) }
        }
        if bytes.count & 7 != 0 { combine(word >> UInt64(64 - 8 * (bytes.count & 7))) }
        combine(UInt64(bytes.count))
    }

    package mutating func combine(_ text: String) { combine(Array(text.utf8).span) }
}

/// The same for equal bytes in every run.
package func contentHash(_ bytes: [UInt8]) -> UInt64 { contentHash(bytes.span) }

package func contentHash(_ bytes: Span<UInt8>) -> UInt64 {
    var hash = StableHash()
    hash.combine(bytes)
    return hash.value
}

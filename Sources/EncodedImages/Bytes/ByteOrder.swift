// SPDX-License-Identifier: Apache-2.0

/// The order in which the bytes of an integer are stored.
package enum ByteOrder: Hashable, Sendable {
    /// The most significant byte first.
    case bigEndian
    /// The least significant byte first.
    case littleEndian
}

// SPDX-License-Identifier: Apache-2.0

/// The key by which names are sorted as in file managers: numbers by their value, letters without
/// case.
///
/// Names with equal keys are ordered by their bytes, so that the order is total.
struct NameOrder: Comparable, Sendable {
    private let key: [UInt8]
    private let bytes: [UInt8]

    init(_ name: String) {
        bytes = Array(name.utf8)
        var key: [UInt8] = []
        var digits: [UInt8] = []
        func endNumber() {
            guard !digits.isEmpty else { return }
            let value = digits.drop { $0 == UInt8(ascii: "0") }
            // A longer number is greater; a name has at most 255 bytes.
            key += [UInt8(ascii: "0"), UInt8(min(value.count, 255))] + value
            digits = []
        }
        for byte in name.lowercased().utf8 {
            if UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte {
                digits.append(byte)
            } else {
                endNumber()
                // A name without an extension precedes longer names: `a.jpg`, `a b.jpg`, `a1.jpg`.
                key.append(byte == UInt8(ascii: ".") ? 1 : byte)
            }
        }
        endNumber()
        self.key = key
    }

    static func == (one: Self, other: Self) -> Bool { one.bytes == other.bytes }

    static func < (one: Self, other: Self) -> Bool {
        if one.key != other.key { return one.key.lexicographicallyPrecedes(other.key) }
        return one.bytes.lexicographicallyPrecedes(other.bytes)
    }
}

// SPDX-License-Identifier: Apache-2.0

/// A sort key for natural order: `img2` before `img10`, case-insensitive.
///
/// Numbers are compared by value without leading zeros. Equal keys are ordered by the bytes of the
/// names, so that the order is total.
struct NaturalOrder: Comparable {
    /// The name in lower case; each run of digits is preceded by a `0` and its length.
    private let key: [UInt8]
    private let name: String

    init(_ name: String) {
        var key: [UInt8] = []
        var rest = Array(name.lowercased().utf8)[...]
        while let byte = rest.first {
            guard Self.isDigit(byte) else {
                key.append(byte)
                rest.removeFirst()
                continue
            }
            let digits = rest.prefix(while: Self.isDigit)
            let number = digits.drop { $0 == UInt8(ascii: "0") }
            // File names have at most 255 bytes.
            key += [UInt8(ascii: "0"), UInt8(clamping: number.count)] + number
            rest = rest.dropFirst(digits.count)
        }
        self.key = key
        self.name = name
    }

    static func < (a: NaturalOrder, b: NaturalOrder) -> Bool {
        if a.key == b.key { return a.name.utf8.lexicographicallyPrecedes(b.name.utf8) }
        return a.key.lexicographicallyPrecedes(b.key)
    }

    static func == (a: NaturalOrder, b: NaturalOrder) -> Bool {
        a.name.utf8.elementsEqual(b.name.utf8)
    }

    /// Returns the names in natural order; computes each key once.
    static func sorted(_ names: [String]) -> [String] {
        names.map(NaturalOrder.init).sorted().map(\.name)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

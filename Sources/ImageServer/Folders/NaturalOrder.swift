// SPDX-License-Identifier: Apache-2.0

/// A name's place in the order that people expect: `img2` before `img10`, case ignored.
///
/// Numbers are compared by value, leading zeros aside. Names that are then equal are ordered by
/// their bytes, so the order never depends on the order in which the disk names them.
struct NaturalOrder: Comparable {
    /// Compares like the name: each run of digits is preceded by a `0` and its length.
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
            // A file's name has at most 255 bytes.
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

    /// The names in this order; each key is made once.
    static func sorted(_ names: [String]) -> [String] {
        names.map(NaturalOrder.init).sorted().map(\.name)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

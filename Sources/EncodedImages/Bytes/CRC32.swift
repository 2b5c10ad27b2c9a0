// SPDX-License-Identifier: Apache-2.0

/// The checksum of PNG chunks and of ZIP archives: the polynomial 0x04C11DB7 with reflected bits (ISO 3309).
package struct CRC32 {
    /// The remainders of a byte followed by zero to seven zero bytes.
    private static let tables: [[UInt32]] = {
        let first = (0..<256).map { remainder(ofByte: UInt32($0)) }
        var tables = [first]
        for _ in 1..<8 {
            let previous = tables[tables.count - 1]
            tables.append(previous.map { $0 >> 8 ^ first[Int($0 & 255)] })
        }
        return tables
    }()

    private static func remainder(ofByte byte: UInt32) -> UInt32 {
        var remainder = byte
        for _ in 0..<8 {
            let isOdd = remainder & 1 == 1
            remainder >>= 1
            if isOdd { remainder ^= 0xEDB8_8320 }
        }
        return remainder
    }

    private var remainder: UInt32 = .max

    package init() {}

    /// The checksum of all bytes so far.
    package var value: UInt32 { ~remainder }

    /// Takes bytes, eight in each step.
    package mutating func combine(_ bytes: Span<UInt8>) {
        let tables = Self.tables
        var remainder = remainder
        var index = 0
        while index + 8 <= bytes.count {
            for place in 0..<4 { remainder ^= UInt32(bytes[index + place]) << (8 * place) }
            let low = remainder
            remainder = tables[7][Int(low & 255)] ^ tables[6][Int(low >> 8 & 255)]
            remainder ^= tables[5][Int(low >> 16 & 255)] ^ tables[4][Int(low >> 24)]
            remainder ^= tables[3][Int(bytes[index + 4])] ^ tables[2][Int(bytes[index + 5])]
            remainder ^= tables[1][Int(bytes[index + 6])] ^ tables[0][Int(bytes[index + 7])]
            index += 8
        }
        while index < bytes.count {
            remainder = remainder >> 8 ^ tables[0][Int((remainder ^ UInt32(bytes[index])) & 255)]
            index += 1
        }
        self.remainder = remainder
    }
}

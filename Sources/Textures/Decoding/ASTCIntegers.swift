// SPDX-License-Identifier: Apache-2.0

/// A range of the integers of ASTC, which are stored as bits, or as a trit or a quint and bits.
///
/// - SeeAlso: Khronos Group, *Khronos Data Format Specification*, “Integer Sequence Encoding”.
struct ASTCRange {
    /// The number of values: 2 to 256.
    let count: Int
    /// The number of values without the bits: 1, 3 or 5.
    private let base: Int
    private let bitCount: Int
    /// The samples of 8 bits that the values of end points stand for.
    let samples: [UInt8]
    /// The weights, 0 to 64, that the values stand for; empty for more than 32 values.
    let weights: [UInt8]

    /// The ranges, smallest first.
    static let all = [
        2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256,
    ].map(ASTCRange.init)

    /// The indices of the ranges of weights, by the three bits and the bit of a block mode.
    static func ofWeights(_ number: Int, isHigh: Bool) -> ASTCRange {
        all[number - 2 + (isHigh ? 6 : 0)]
    }

    /// Returns the largest range of which a number of values take at most a number of bits.
    static func largest(_ valueCount: Int, bitCount: Int) -> ASTCRange? {
        // Less than six values are not allowed for end points.
        all.last { $0.count >= 6 && $0.bitCount(of: valueCount) <= bitCount }
    }

    private init(_ count: Int) {
        let base = count % 5 == 0 ? 5 : count % 3 == 0 ? 3 : 1
        let bitCount = (count / base).trailingZeroBitCount
        (self.count, self.base, self.bitCount) = (count, base, bitCount)
        samples = (0..<count).map { Self.sample($0, base, bitCount) }
        weights = count > 32 ? [] : (0..<count).map { Self.weight($0, base, bitCount) }
    }

    /// Returns the number of bits that a number of values take.
    func bitCount(of valueCount: Int) -> Int {
        switch base {
        case 3: valueCount * bitCount + (valueCount * 8 + 4) / 5
        case 5: valueCount * bitCount + (valueCount * 7 + 2) / 3
        default: valueCount * bitCount
        }
    }

    /// Reads values from the lowest bits.
    ///
    /// - Parameters:
    ///   - source: the bits.
    ///   - valueCount: how many values to read, at most 64.
    /// - Returns: the values, less than ``count``.
    func values(_ source: UInt128, _ valueCount: Int) -> InlineArray<64, UInt8> {
        var result = InlineArray<64, UInt8>(repeating: 0)
        // The bits after the last value of an incomplete group are 0.
        var rest = source & (1 << UInt128(bitCount(of: valueCount)) - 1)
        func next(_ count: Int) -> Int {
            let value = Int(truncatingIfNeeded: rest) & (1 << count - 1)
            rest >>= UInt128(count)
            return value
        }
        switch base {
        case 3:
            for start in stride(from: 0, to: valueCount, by: 5) {
                var trits = 0
                var low = InlineArray<5, Int>(repeating: 0)
                for (index, (shift, count)) in Self.tritBits.enumerated() {
                    low[index] = next(bitCount)
                    trits |= next(count) << shift
                }
                let high = Self.trits(trits)
                for index in 0..<min(5, valueCount - start) {
                    result[start + index] = UInt8(high[index] << bitCount | low[index])
                }
            }
        case 5:
            for start in stride(from: 0, to: valueCount, by: 3) {
                var quints = 0
                var low = InlineArray<3, Int>(repeating: 0)
                for (index, (shift, count)) in Self.quintBits.enumerated() {
                    low[index] = next(bitCount)
                    quints |= next(count) << shift
                }
                let high = Self.quints(quints)
                for index in 0..<min(3, valueCount - start) {
                    result[start + index] = UInt8(high[index] << bitCount | low[index])
                }
            }
        default:
            for index in 0..<valueCount { result[index] = UInt8(next(bitCount)) }
        }
        return result
    }

    /// The bits of five trits that follow the bits of each value: their position and their number.
    private static let tritBits = [(0, 2), (2, 2), (4, 1), (5, 2), (7, 1)]
    /// The bits of three quints that follow the bits of each value.
    private static let quintBits = [(0, 3), (3, 2), (5, 2)]

    /// Returns five trits of 8 bits.
    private static func trits(_ bits: Int) -> InlineArray<5, Int> {
        var result = InlineArray<5, Int>(repeating: 2)
        var rest = bits & 31
        if bits >> 2 & 7 == 7 {
            rest = bits >> 3 & 0x1C | bits & 3
        } else if bits >> 5 & 3 == 3 {
            result[3] = bits >> 7
        } else {
            result[4] = bits >> 7
            result[3] = bits >> 5 & 3
        }
        if rest & 3 == 3 {
            result[1] = rest >> 4
            result[0] = rest >> 2 & 2 | rest >> 2 & ~(rest >> 3) & 1
        } else if rest >> 2 & 3 == 3 {
            result[0] = rest & 3
        } else {
            result[2] = rest >> 4
            result[1] = rest >> 2 & 3
            result[0] = rest & 2 | rest & ~(rest >> 1) & 1
        }
        return result
    }

    /// Returns three quints of 7 bits.
    private static func quints(_ bits: Int) -> InlineArray<3, Int> {
        if bits >> 1 & 3 == 3 && bits >> 5 == 0 {
            let last = (bits & 1) * 4
            return bits & 1 == 1 ? [4, 4, last] : [4, 4, bits >> 3 & 3]
        }
        var last = bits >> 5
        var rest = bits & 31
        if bits >> 1 & 3 == 3 {
            last = 4
            rest = bits & 0x18 | (~bits >> 5 & 3) << 1 | bits & 1
        }
        return rest & 7 == 5 ? [rest >> 3, 4, last] : [rest & 7, rest >> 3, last]
    }

    // MARK: - Unquantized values

    private static func sample(_ value: Int, _ base: Int, _ bitCount: Int) -> UInt8 {
        let (high, bits) = (value >> bitCount, value & (1 << bitCount - 1))
        if base == 1 { return UInt8(repeated(bits, bitCount, to: 8)) }
        // Bits b to f of the value, shifted to where the specification places them.
        let rest = bits >> 1
        let factor: Int
        var sum: Int
        switch (base, bitCount) {
        case (3, 1): (factor, sum) = (204, 0)
        case (3, 2): (factor, sum) = (93, rest * 0x116)
        case (3, 3): (factor, sum) = (44, rest << 7 | rest << 2 | rest)
        case (3, 4): (factor, sum) = (22, rest << 6 | rest)
        case (3, 5): (factor, sum) = (11, rest << 5 | rest >> 2)
        case (3, _): (factor, sum) = (5, rest << 4 | rest >> 4)
        case (_, 1): (factor, sum) = (113, 0)
        case (_, 2): (factor, sum) = (54, rest * 0x10C)
        case (_, 3): (factor, sum) = (26, rest << 7 | rest << 1 | rest >> 1)
        case (_, 4): (factor, sum) = (13, rest << 6 | rest >> 1)
        default: (factor, sum) = (6, rest << 5 | rest >> 3)
        }
        let sign = bits & 1 == 1 ? 0x1FF : 0
        sum = (high * factor + sum) ^ sign
        return UInt8(sign & 0x80 | sum >> 2)
    }

    private static func weight(_ value: Int, _ base: Int, _ bitCount: Int) -> UInt8 {
        let (high, bits) = (value >> bitCount, value & (1 << bitCount - 1))
        let result: Int
        switch (base, bitCount) {
        case (1, _): result = repeated(bits, bitCount, to: 6)
        case (3, 0): result = [0, 32, 63][high]
        case (5, 0): result = [0, 16, 32, 47, 63][high]
        default:
            let rest = bits >> 1
            let factor: Int
            var sum: Int
            switch (base, bitCount) {
            case (3, 1): (factor, sum) = (50, 0)
            case (3, 2): (factor, sum) = (23, rest * 0x45)
            case (3, _): (factor, sum) = (11, rest << 5 | rest)
            case (_, 1): (factor, sum) = (28, 0)
            default: (factor, sum) = (13, rest * 0x42)
            }
            let sign = bits & 1 == 1 ? 0x7F : 0
            sum = (high * factor + sum) ^ sign
            result = sign & 0x20 | sum >> 2
        }
        return UInt8(result > 32 ? result + 1 : result)
    }

    /// Returns bits repeated from the highest down to a number of bits.
    private static func repeated(_ bits: Int, _ bitCount: Int, to total: Int) -> Int {
        var result = 0
        var shift = total - bitCount
        while shift > -bitCount {
            result |= shift >= 0 ? bits << shift : bits >> -shift
            shift -= bitCount
        }
        return result
    }
}

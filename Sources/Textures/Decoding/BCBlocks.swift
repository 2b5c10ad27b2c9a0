// SPDX-License-Identifier: Apache-2.0

/// Decodes blocks of BC1 to BC5.
///
/// - SeeAlso: Khronos Group, *Khronos Data Format Specification*, “S3TC” and “RGTC”.
enum BCBlocks {
    /// Decodes the colours of a block.
    ///
    /// - Parameters:
    ///   - word: the two colours and the indices.
    ///   - hasFourColors: whether the order of the colours is ignored, as in BC2 and BC3.
    /// - Returns: the texels.
    @inline(__always)
    static func colors(_ word: UInt64, hasFourColors: Bool) -> TexelBlock {
        let first = UInt32(truncatingIfNeeded: word & 0xFFFF)
        let second = UInt32(truncatingIfNeeded: word >> 16 & 0xFFFF)
        let a = color(first)
        let b = color(second)
        let wideA = SIMD4<UInt16>(truncatingIfNeeded: a)
        let wideB = SIMD4<UInt16>(truncatingIfNeeded: b)
        var palette = InlineArray<4, Texel>(repeating: a)
        palette[1] = b
        if hasFourColors || first > second {
            palette[2] = Texel(truncatingIfNeeded: (wideA &* 2 &+ wideB) / 3)
            palette[3] = Texel(truncatingIfNeeded: (wideA &+ wideB &* 2) / 3)
        } else {
            palette[2] = Texel(truncatingIfNeeded: (wideA &+ wideB) / 2)
            palette[3] = Texel(repeating: 0)
        }
        return TexelBlock { palette[Int(word >> UInt64(32 &+ $0 &* 2) & 3)] }
    }

    private static func color(_ value: UInt32) -> Texel {
        Texel(
            widened(value >> 11, bitCount: 5), widened(value >> 5 & 63, bitCount: 6),
            widened(value & 31, bitCount: 5), 255)
    }

    /// Decodes a block of one channel.
    ///
    /// - Parameters:
    ///   - word: two values and indices of 3 bits.
    ///   - isSigned: whether the values are signed; -128 and -127 then become 0.
    /// - Returns: the samples.
    @inline(__always)
    static func channel(_ word: UInt64, isSigned: Bool) -> InlineArray<16, UInt8> {
        var first = Int(word & 0xFF)
        var second = Int(word >> 8 & 0xFF)
        if isSigned {
            first = max(-127, Int(Int8(truncatingIfNeeded: first)))
            second = max(-127, Int(Int8(truncatingIfNeeded: second)))
        }
        let values = channelValues(first, second, isSigned ? -127...127 : 0...255)
        return InlineArray<16, UInt8> {
            let value = values[Int(word >> UInt64(16 &+ $0 &* 3) & 7)]
            return UInt8(truncatingIfNeeded: isSigned ? (value + 127) * 255 / 254 : value)
        }
    }

    /// Returns the values of a block of one channel: eight between its end points, or six and the limits.
    @inline(__always)
    static func channelValues(
        _ first: Int, _ second: Int, _ limits: ClosedRange<Int>
    ) -> InlineArray<8, Int> {
        var values = InlineArray<8, Int>(repeating: 0)
        (values[0], values[1]) = (first, second)
        if first > second {
            for index in 1...6 {
                values[index + 1] = ((7 - index) * first + index * second) / 7
            }
        } else {
            for index in 1...4 {
                values[index + 1] = ((5 - index) * first + index * second) / 5
            }
            (values[6], values[7]) = (limits.lowerBound, limits.upperBound)
        }
        return values
    }

    static func bc2(_ alpha: UInt64, _ color: UInt64) -> TexelBlock {
        var block = colors(color, hasFourColors: true)
        for index in 0..<16 {
            block[index].w = UInt8(truncatingIfNeeded: alpha >> UInt64(index * 4) & 15) &* 17
        }
        return block
    }

    static func bc3(_ alpha: UInt64, _ color: UInt64) -> TexelBlock {
        var block = colors(color, hasFourColors: true)
        let alphas = channel(alpha, isSigned: false)
        for index in 0..<16 { block[index].w = alphas[index] }
        return block
    }
}

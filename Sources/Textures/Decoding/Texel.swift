// SPDX-License-Identifier: Apache-2.0

/// Red, green, blue and alpha of a texel as 8-bit integers, as stored.
typealias Texel = SIMD4<UInt8>

/// The texels of a block of 4×4 pixels, row by row.
typealias TexelBlock = InlineArray<16, Texel>

extension SIMD4<UInt8> {
    static let opaqueBlack = SIMD4<UInt8>(0, 0, 0, 255)

    /// An opaque texel, of channels that are limited to 0 to 255.
    @inline(__always)
    init(clamping color: SIMD3<Int32>) {
        let limited = color.clamped(
            lowerBound: SIMD3(repeating: 0), upperBound: SIMD3(repeating: 255))
        self = SIMD4(SIMD3<UInt8>(truncatingIfNeeded: limited), 255)
    }
}

/// Widens a sample of up to 8 bits to 8 by repeating its highest bits.
@inline(__always)
func widened(_ value: UInt32, bitCount: UInt32) -> UInt8 {
    switch bitCount {
    case 0: return 0
    case 1: return value == 0 ? 0 : 255
    case 2: return UInt8(truncatingIfNeeded: value &* 0x55)
    case 3: return UInt8(truncatingIfNeeded: value << 5 | value << 2 | value >> 1)
    default:
        return UInt8(
            truncatingIfNeeded: value << (8 &- bitCount) | value >> (2 &* bitCount &- 8))
    }
}

extension Span<UInt8> {
    /// Returns the 8 bytes at an offset, which the caller has checked, as an integer.
    @inline(__always)
    func word(at offset: Int) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<8 { value |= UInt64(self[offset &+ index]) << UInt64(index &* 8) }
        return value
    }
}

// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A function that is applied to red, green and blue alike; 0 maps to 0.
enum ToneCurve: Sendable {
    /// Light multiplied by a power of two.
    case exposure(Double)
    case power(Double)

    /// Returns the value at `x`; the curve is odd, so that colours outside the gamut keep their sign.
    func value(_ x: Double) -> Double {
        let magnitude =
            switch self {
            case .exposure(let stops): Self.encoded(Self.light(abs(x)) * pow(2, stops))
            case .power(let exponent): pow(abs(x), exponent)
            }
        return x < 0 ? -magnitude : magnitude
    }

    /// Returns the light of an sRGB signal (IEC 61966-2-1).
    private static func light(_ signal: Double) -> Double {
        signal <= 0.04045 ? signal / 12.92 : pow((signal + 0.055) / 1.055, 2.4)
    }

    private static func encoded(_ light: Double) -> Double {
        light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }
}

/// Several curves in a row as one table of values from 0 to 1.
///
/// The table for images of 16 bits has an entry for every sample. That for 8 bits is indexed by the bits of
/// the float x + 1/16, so that its entries are denser near 0, where curves are steepest: a power of 0.5 is
/// exact to 1/255.
struct CurveTable: Sendable {
    let curves: [ToneCurve]
    let values: [Float]

    private static let bias: Float = 1.0 / 16 + 0x1p-16
    private static let firstIndex = Int(bias.bitPattern >> 12)
    private static let lastIndex = Int((1 + bias).bitPattern >> 12)

    init(_ curves: [ToneCurve], isDeep: Bool) {
        self.curves = curves
        func value(_ x: Double) -> Float { Float(Self.value(x, curves)) }
        values =
            isDeep
            ? (0...65535).map { value(Double($0) / 65535) }
            : (Self.firstIndex...Self.lastIndex).map { index in
                // 0 and 1 are entries, all others are the middle of what they stand for.
                if index == Self.lastIndex { return value(1) }
                let middle = Float(bitPattern: UInt32(index) << 12 | 0x800)
                return value(max(0, Double(middle) - Double(Self.bias)))
            }
    }

    /// Returns the value at any `x`, without the table.
    func value(_ x: Float) -> Float { Float(Self.value(Double(x), curves)) }

    /// Returns the value at a sample of 8 bits.
    func value(ofByte byte: Int) -> Float { Float(Self.value(Double(byte) / 255, curves)) }

    private static func value(_ x: Double, _ curves: [ToneCurve]) -> Double {
        curves.reduce(x) { $1.value($0) }
    }

    /// Returns the indices of a colour of 8 bits, which is in 0...1.
    @inline(__always)
    static func indices(_ color: SIMD4<Float>) -> (red: Int, green: Int, blue: Int) {
        let bits = unsafe unsafeBitCast(color + bias, to: SIMD4<UInt32>.self) &>> 12
        // Pairs, because extracting single elements would make the compiler compute each of them separately.
        let pairs = unsafe unsafeBitCast(bits, to: SIMD2<UInt64>.self)
        func index(_ word: UInt64) -> Int { Int(truncatingIfNeeded: word) &- firstIndex }
        let low: UInt64 = 0xFFFF_FFFF
        return (index(pairs[0] & low), index(pairs[0] &>> 32), index(pairs[1] & low))
    }

    /// Returns the entries that are nearest to a colour of 16 bits, clamped to 0...1.
    @inline(__always)
    static func deepEntries(_ values: Span<Float>, at color: SIMD4<Float>) -> SIMD4<Float> {
        let indices = (color.clamped(to: .one) * 65535).nearestIntegers
        return unsafe SIMD4(
            values[unchecked: Int(indices.x)], values[unchecked: Int(indices.y)],
            values[unchecked: Int(indices.z)], 0)
    }
}

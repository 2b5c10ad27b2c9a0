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
/// Every integer sample of the depth that the table is made for is an entry, so that the first
/// table of a chain is exact.
struct CurveTable: Sendable {
    let curves: [ToneCurve]
    /// The values at equal distances from 0 to 1.
    let values: [Float]

    init(_ curves: [ToneCurve], isDeep: Bool) {
        self.curves = curves
        let last = isDeep ? 65535 : 255 * 16
        values = (0...last).map { Float(Self.value(Double($0) / Double(last), curves)) }
    }

    /// Returns the value at any `x`, without the table.
    func value(_ x: Float) -> Float { Float(Self.value(Double(x), curves)) }

    private static func value(_ x: Double, _ curves: [ToneCurve]) -> Double {
        curves.reduce(x) { $1.value($0) }
    }
}

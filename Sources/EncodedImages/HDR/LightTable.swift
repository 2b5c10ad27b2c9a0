// SPDX-License-Identifier: Apache-2.0

/// A function of light that is 0 for 0, as a table with 128 values an octave and linear interpolation.
struct LightTable {
    private static let smallest: Float = 0x1p-24
    private static let largest: Float = 0x1p16
    /// The exponent and the highest 7 bits of the significand are an index.
    private static let shift: UInt32 = 16
    private static let first = smallest.bitPattern >> shift
    private let values: [Float]

    init(_ function: (Double) -> Double) {
        values = (Self.first...(Self.largest.bitPattern >> Self.shift) + 1).map { index in
            Float(function(Double(Float(bitPattern: index << Self.shift))))
        }
    }

    /// The value at a number; that of 0 for a negative one.
    subscript(light: Float) -> Float {
        guard light > Self.smallest else { return values[0] * max(light, 0) / Self.smallest }
        let bits = min(light, Self.largest).bitPattern
        let index = Int((bits >> Self.shift) - Self.first)
        let share = Float(bits & 0xFFFF) * 0x1p-16
        return values[index] + (values[index + 1] - values[index]) * share
    }
}

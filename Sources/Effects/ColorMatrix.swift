// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// An affine map of straight red, green and blue; alpha is unchanged.
///
/// Each colour is a column vector: the result is `red × r + green × g + blue × b + offset`.
public struct ColorMatrix: Hashable, Sendable {
    /// The result of red alone: its red, green and blue.
    public var red: SIMD3<Double>
    /// The result of green alone.
    public var green: SIMD3<Double>
    /// The result of blue alone.
    public var blue: SIMD3<Double>
    /// The result of black.
    public var offset: SIMD3<Double>

    /// Creates a matrix from its columns.
    public init(
        red: SIMD3<Double>, green: SIMD3<Double>, blue: SIMD3<Double>,
        offset: SIMD3<Double> = .zero
    ) {
        self.red = red
        self.green = green
        self.blue = blue
        self.offset = offset
    }

    /// Creates a map of each channel: `scale × value + offset`.
    public init(scale: Double, offset: Double) {
        self.init(
            red: [scale, 0, 0], green: [0, scale, 0], blue: [0, 0, scale],
            offset: SIMD3(repeating: offset))
    }

    /// The weights of red, green and blue in luma (ITU-R BT.709).
    static let luma = SIMD3<Double>(0.2126, 0.7152, 0.0722)

    static func saturation(_ factor: Double) -> ColorMatrix {
        let gray = luma * (1 - factor)
        return ColorMatrix(
            red: SIMD3(repeating: gray.x) + [factor, 0, 0],
            green: SIMD3(repeating: gray.y) + [0, factor, 0],
            blue: SIMD3(repeating: gray.z) + [0, 0, factor])
    }

    static func duotone(dark: SRGBColor, light: SRGBColor) -> ColorMatrix {
        let dark = SIMD3(dark.red, dark.green, dark.blue)
        let range = SIMD3(light.red, light.green, light.blue) - dark
        return ColorMatrix(
            red: range * luma.x, green: range * luma.y, blue: range * luma.z, offset: dark)
    }

    static func tint(_ color: SRGBColor, amount: Double) -> ColorMatrix {
        let product = amount * color.alpha
        let amount = product > 0 ? min(product, 1) : 0
        var matrix = ColorMatrix(scale: 1 - amount, offset: 0)
        let clamped = SIMD3(color.red, color.green, color.blue).clamped(
            lowerBound: .zero, upperBound: .one)
        matrix.offset = clamped * amount
        return matrix
    }

    /// Returns the map that applies this one and then another.
    func followed(by next: ColorMatrix) -> ColorMatrix {
        ColorMatrix(
            red: next.linear(red), green: next.linear(green), blue: next.linear(blue),
            offset: next.linear(offset) + next.offset)
    }

    private func linear(_ color: SIMD3<Double>) -> SIMD3<Double> {
        red * color.x + green * color.y + blue * color.z
    }

    /// Whether the map of every grey is a grey.
    var keepsGray: Bool {
        func isGray(_ color: SIMD3<Double>) -> Bool {
            max(abs(color.x - color.y), abs(color.y - color.z)) < 1e-9
        }
        return isGray(red + green + blue) && isGray(offset)
    }

    /// The columns, for an identity.
    var identity: String {
        [red, green, blue, offset].map { "\($0.x),\($0.y),\($0.z)" }.joined(separator: ",")
    }
}

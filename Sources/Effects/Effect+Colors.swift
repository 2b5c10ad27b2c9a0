// SPDX-License-Identifier: Apache-2.0

public import Pixels

extension Effect {
    /// Multiplies light by a power of two, as a longer exposure does.
    ///
    /// The colours are decoded by the transfer function of sRGB, multiplied, and encoded again.
    ///
    /// - Parameter stops: the exponent; 1 doubles the light, 0 changes nothing.
    /// - Returns: the effect.
    public static func exposure(_ stops: Double) -> Effect {
        Effect(.curve(.exposure(stops)), "exposure(\(stops))")
    }

    /// Adds a value to red, green and blue.
    ///
    /// - Parameter amount: from -1 (black) to 1 (white).
    /// - Returns: the effect.
    public static func brightness(_ amount: Double) -> Effect {
        Effect(
            .matrix(ColorMatrix(scale: 1, offset: amount)), "brightness(\(amount))")
    }

    /// Multiplies the distance of red, green and blue from mid-grey, 0.5.
    ///
    /// - Parameter factor: 0 is grey, 1 changes nothing.
    /// - Returns: the effect.
    public static func contrast(_ factor: Double) -> Effect {
        Effect(
            .matrix(ColorMatrix(scale: factor, offset: 0.5 - 0.5 * factor)), "contrast(\(factor))")
    }

    /// Multiplies the distance of red, green and blue from their luma.
    ///
    /// - Parameter factor: 0 is grey, 1 changes nothing.
    /// - Returns: the effect.
    /// - SeeAlso: W3C, Filter Effects Module Level 1, `feColorMatrix` of type `saturate`.
    public static func saturation(_ factor: Double) -> Effect {
        Effect(.matrix(.saturation(factor)), "saturation(\(factor))")
    }

    /// Raises red, green and blue to a power.
    ///
    /// - Parameter exponent: more than 0; less than 1 is brighter, 1 changes nothing.
    /// - Returns: the effect.
    public static func gamma(_ exponent: Double) -> Effect {
        Effect(.curve(.power(exponent)), "gamma(\(exponent))")
    }

    /// Multiplies colours by a matrix.
    public static func colorMatrix(_ matrix: ColorMatrix) -> Effect {
        Effect(.matrix(matrix), "matrix(\(matrix.identity))")
    }

    /// Inverts red, green and blue.
    public static let inverted = Effect(.matrix(ColorMatrix(scale: -1, offset: 1)), "inverted")

    /// Maps the luma of each pixel to a colour between two.
    ///
    /// - Parameters:
    ///   - dark: the colour of black; its alpha is ignored.
    ///   - light: the colour of white; its alpha is ignored.
    /// - Returns: the effect.
    public static func duotone(dark: SRGBColor, light: SRGBColor) -> Effect {
        Effect(
            .matrix(.duotone(dark: dark, light: light)), "duotone(\(dark.text),\(light.text))")
    }

    /// Blends all colours with one; alpha is unchanged.
    ///
    /// - Parameters:
    ///   - color: the colour, in the colour space of the image; its alpha is multiplied by `amount`.
    ///   - amount: the opacity of the colour, clamped to 0 (unchanged) and 1 (colour only).
    /// - Returns: the effect.
    public static func tint(_ color: SRGBColor, amount: Double) -> Effect {
        Effect(.matrix(.tint(color, amount: amount)), "tint(\(color.text),\(amount))")
    }

    /// Maps colours by a three-dimensional lookup table.
    public static func colorCube(_ cube: ColorCube) -> Effect {
        Effect(.cube(cube), "cube(\(cube.identity))")
    }

    /// Composites the image over a colour.
    ///
    /// - Parameter color: the colour, in the colour space of the image.
    /// - Returns: the effect.
    public static func background(_ color: SRGBColor) -> Effect {
        Effect(.background(color), "background(\(color.text))")
    }
}

extension SRGBColor {
    /// The components, for an identity.
    var text: String { "\(red),\(green),\(blue),\(alpha)" }

    /// Whether red, green and blue are equal.
    var isGray: Bool { red == green && green == blue }

    /// The premultiplied components, clamped to 0...1.
    var premultiplied: SIMD4<Float> {
        func clamped(_ value: Double) -> Double { value > 0 ? min(value, 1) : 0 }
        let alpha = clamped(alpha)
        return SIMD4(
            Float(clamped(red) * alpha), Float(clamped(green) * alpha),
            Float(clamped(blue) * alpha), Float(alpha))
    }
}

// SPDX-License-Identifier: Apache-2.0

/// A colour in sRGB with straight alpha; each component is from 0 to 1.
public struct SRGBColor: Hashable, Sendable {
    /// The red component.
    public var red: Double
    /// The green component.
    public var green: Double
    /// The blue component.
    public var blue: Double
    /// The opacity: 0 is transparent, 1 is opaque.
    public var alpha: Double

    /// Creates a colour from its components, without clamping.
    public init(red: Double, green: Double, blue: Double, alpha: Double = 1) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Returns a component in 8 bits: clamped to 0...1, times 255, rounded to the nearest integer.
    public static func byte(_ component: Double) -> UInt8 {
        UInt8((min(max(component, 0), 1) * 255).rounded())
    }
}

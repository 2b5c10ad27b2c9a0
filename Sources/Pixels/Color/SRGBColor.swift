// SPDX-License-Identifier: Apache-2.0

/// A colour in sRGB, each part from 0 to 1; not premultiplied.
public struct SRGBColor: Hashable, Sendable {
    public var red: Double
    public var green: Double
    public var blue: Double
    public var alpha: Double

    public init(red: Double, green: Double, blue: Double, alpha: Double = 1) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// As a style sheet writes it.
    public var css: String {
        let parts = [red, green, blue].map { String(Self.byte($0)) }.joined(separator: " ")
        guard alpha < 1 else { return "rgb(\(parts))" }
        return "rgb(\(parts) / \(Int((alpha * 100).rounded()))%)"
    }

    /// A part in 8 bits, rounded to the nearest.
    public static func byte(_ part: Double) -> UInt8 {
        UInt8((min(max(part, 0), 1) * 255).rounded())
    }
}

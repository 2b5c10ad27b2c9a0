// SPDX-License-Identifier: Apache-2.0

/// A colour in sRGB, each part from 0 to 1; not premultiplied.
public struct PlaceholderColor: Hashable, Sendable {
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

    /// - Parameters:
    ///   - brightness: the mean of red, green and blue.
    ///   - yellow: the mean of red and green, less blue.
    ///   - red: red less green.
    ///   - alpha: from 0 to 1.
    init(brightness: Double, yellow: Double, red: Double, alpha: Double) {
        let blue = brightness - 2 / 3 * yellow
        let strongRed = (3 * brightness - blue + red) / 2
        self.init(
            red: min(max(strongRed, 0), 1), green: min(max(strongRed - red, 0), 1),
            blue: min(max(blue, 0), 1), alpha: min(max(alpha, 0), 1))
    }

    /// As a style sheet writes it, for the background that stands before the placeholder.
    public var css: String {
        let parts = [red, green, blue].map { String(Self.byte($0)) }.joined(separator: " ")
        guard alpha < 1 else { return "rgb(\(parts))" }
        return "rgb(\(parts) / \(Int((alpha * 100).rounded()))%)"
    }

    static func byte(_ part: Double) -> UInt8 { UInt8((min(max(part, 0), 1) * 255).rounded()) }
}

// SPDX-License-Identifier: Apache-2.0

internal import Pixels

extension SRGBColor {
    /// Converts a colour from the LPQA space of ThumbHash.
    ///
    /// - Parameters:
    ///   - brightness: the mean of red, green and blue.
    ///   - yellow: the mean of red and green, minus blue.
    ///   - red: red minus green.
    ///   - alpha: from 0 to 1.
    init(brightness: Double, yellow: Double, red: Double, alpha: Double) {
        let blue = brightness - 2 / 3 * yellow
        let strongRed = (3 * brightness - blue + red) / 2
        self.init(
            red: min(max(strongRed, 0), 1), green: min(max(strongRed - red, 0), 1),
            blue: min(max(blue, 0), 1), alpha: min(max(alpha, 0), 1))
    }
}

// SPDX-License-Identifier: Apache-2.0

extension PixelBuffer {
    /// Returns the image blended with a colour; alpha is unchanged.
    ///
    /// - Parameters:
    ///   - color: the colour, in the colour space of the image.
    ///   - amount: the opacity of the tint, clamped to 0 (unchanged) and 1 (colour only); NaN
    ///     becomes 0.
    /// - Returns: RGB or premultiplied RGBA of the image's bit depth.
    public func tinted(_ color: SRGBColor, amount: Double) -> PixelBuffer {
        func clamped(_ value: Double) -> Double { value > 0 ? min(value, 1) : 0 }
        let amount = clamped(amount * color.alpha)
        let parts = [color.red, color.green, color.blue].map { clamped($0) * amount }
        let format: PixelFormat =
            switch (self.format.hasAlpha, self.format.isDeep) {
            case (true, true): .rgba16
            case (true, false): .rgba8
            case (false, true): .rgb16
            case (false, false): .rgb8
            }
        return mapped(to: format) { row, _ in
            row.forEachPixel { pixel in
                let alpha = Double(pixel[3])
                for channel in 0..<3 {
                    let kept = Double(pixel[channel]) * (1 - amount)
                    pixel[channel] = UInt16((kept + parts[channel] * alpha).rounded())
                }
            }
        }
    }
}

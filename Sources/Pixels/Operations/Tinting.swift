// SPDX-License-Identifier: Apache-2.0

extension PixelBuffer {
    /// The picture with its colours moved towards one; what is transparent stays so.
    ///
    /// - Parameters:
    ///   - color: in the picture's own colour space, which is sRGB unless that was not wanted.
    ///   - amount: from 0, the picture as it is, to 1, nothing but the colour in the picture's shape.
    /// - Returns: RGB or premultiplied RGBA of the picture's depth.
    public func tinted(_ color: SRGBColor, amount: Double) -> PixelBuffer {
        // What is no number is taken for 0.
        func share(_ value: Double) -> Double { value > 0 ? min(value, 1) : 0 }
        let amount = share(amount * color.alpha)
        let parts = [color.red, color.green, color.blue].map { share($0) * amount }
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

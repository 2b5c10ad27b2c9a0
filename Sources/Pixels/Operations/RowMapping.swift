// SPDX-License-Identifier: Apache-2.0

extension PixelBuffer {
    /// Returns the image with each row transformed, in a format that needs no dithering.
    func mapped(to format: PixelFormat, _ transform: (inout DeepRow, Int) -> Void) -> PixelBuffer {
        guard self.format.planeCount == 1 else {
            return convertedFromYCbCr().mapped(to: format, transform)
        }
        var result = MutablePixelBuffer(size: size, format: format, colorProfile: colorProfile)
        var deepRow = DeepRow(width: size.width)
        for y in 0..<size.height {
            deepRow.unpack(row(y), self.format)
            transform(&deepRow, y)
            result.withMutableRow(y) { deepRow.pack(format, into: &$0) }
        }
        return result.finish()
    }
}

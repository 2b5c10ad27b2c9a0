// SPDX-License-Identifier: Apache-2.0

extension PixelBuffer {
    /// The picture with each row changed, in a format that needs no dithering.
    func mapped(to format: PixelFormat, _ change: (inout DeepRow, Int) -> Void) -> PixelBuffer {
        guard self.format.planeCount == 1 else {
            return convertedFromYCbCr().mapped(to: format, change)
        }
        var result = MutablePixelBuffer(size: size, format: format, colorProfile: colorProfile)
        var deepRow = DeepRow(width: size.width)
        for y in 0..<size.height {
            deepRow.unpack(row(y), self.format)
            change(&deepRow, y)
            result.withMutableRow(y) { deepRow.pack(format, into: &$0) }
        }
        return result.finish()
    }
}

// SPDX-License-Identifier: Apache-2.0

extension PixelBuffer {
    /// Returns the image composited over white, as 8-bit RGB; O(1) if it has no alpha.
    public func compositedOverWhite() -> PixelBuffer {
        guard format.hasAlpha else { return self }
        let source = converted(to: .rgba8)
        var result = MutablePixelBuffer(size: size, format: .rgb8, colorProfile: colorProfile)
        for y in 0..<size.height {
            result.withMutableRow(y) {
                PremultipliedAlpha.compositeOverWhite(source.row(y), into: &$0)
            }
        }
        return result.finish()
    }
}

extension PremultipliedAlpha {
    /// Composites a row of premultiplied RGBA pixels of 8 bits over white.
    ///
    /// - Parameters:
    ///   - source: the RGBA pixels, 4 bytes each.
    ///   - row: receives as many RGB pixels, 3 bytes each.
    public static func compositeOverWhite(_ source: Span<UInt8>, into row: inout MutableSpan<UInt8>)
    {
        for x in 0..<source.count / 4 {
            let white = 255 - source[x * 4 + 3]
            for channel in 0..<3 { row[x * 3 + channel] = source[x * 4 + channel] &+ white }
        }
    }
}

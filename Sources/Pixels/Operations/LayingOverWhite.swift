// SPDX-License-Identifier: Apache-2.0

extension PixelBuffer {
    /// The same picture before white where it is transparent; free if it has no alpha.
    public func laidOverWhite() -> PixelBuffer {
        guard format.hasAlpha else { return self }
        let source = converted(to: .rgba8)
        var result = MutablePixelBuffer(size: size, format: .rgb8, colorProfile: colorProfile)
        for y in 0..<size.height {
            result.withMutableRow(y) { PremultipliedAlpha.layOverWhite(source.row(y), into: &$0) }
        }
        return result.finish()
    }
}

extension PremultipliedAlpha {
    /// Lays a row of premultiplied RGBA pixels over white.
    ///
    /// - Parameters:
    ///   - source: the pixels.
    ///   - row: gets as many of RGB.
    public static func layOverWhite(_ source: Span<UInt8>, into row: inout MutableSpan<UInt8>) {
        for x in 0..<source.count / 4 {
            let white = 255 - source[x * 4 + 3]
            for channel in 0..<3 { row[x * 3 + channel] = source[x * 4 + channel] &+ white }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

extension PixelBuffer {
    /// Returns the image with rounded, antialiased corners.
    ///
    /// - Parameter radius: the corner radius in pixels, clamped to 0 and half the shorter side.
    /// - Returns: premultiplied RGBA of the image's bit depth, or ``PixelFormat/alpha8``.
    public func withRoundedCorners(radius: Double) -> PixelBuffer {
        let result: PixelFormat =
            format == .alpha8 ? .alpha8 : format.isDeep ? .rgba16 : .rgba8
        let corner = RoundedCorner(radius: radius, of: size)
        return mapped(to: result) { row, y in
            guard let insets = corner.insets(ofRow: y) else { return }
            let width = row.samples.count / 4
            var x = 0
            row.forEachPixel { pixel in
                let coverage = corner.coverage(x, width, insets)
                x += 1
                guard coverage < 1 else { return }
                for channel in 0..<4 {
                    pixel[channel] = UInt16((Double(pixel[channel]) * coverage).rounded())
                }
            }
        }
    }

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

/// The coverage of pixels by an image with rounded corners.
private struct RoundedCorner {
    private let radius: Double
    private let height: Double

    init(radius: Double, of size: PixelSize) {
        self.radius = min(max(radius, 0), Double(min(size.width, size.height)) / 2)
        height = Double(size.height)
    }

    /// Returns the horizontal insets in pixels at 16 heights within a row; `nil` without a corner.
    func insets(ofRow y: Int) -> [Double]? {
        let top = Double(y)
        guard top < radius || top + 1 > height - radius else { return nil }
        return (0..<16).map { line in
            let place = top + (Double(line) + 0.5) / 16
            let distance = max(radius - place, place - (height - radius), 0)
            return radius - (radius * radius - distance * distance).squareRoot()
        }
    }

    /// Returns the covered fraction of the pixel in column `x` of a row.
    func coverage(_ x: Int, _ width: Int, _ insets: [Double]) -> Double {
        let (left, end) = (Double(x), Double(width))
        guard left < radius || left + 1 > end - radius else { return 1 }
        var sum = 0.0
        for inset in insets { sum += max(0, min(left + 1, end - inset) - max(left, inset)) }
        return sum / Double(insets.count)
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

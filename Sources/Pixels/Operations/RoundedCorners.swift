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

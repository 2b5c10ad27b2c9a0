// SPDX-License-Identifier: Apache-2.0

extension PixelBuffer {
    /// The picture with its corners cut off along quarters of a circle, smoothly.
    ///
    /// - Parameter radius: in pixels; at most half of the shorter side, which makes a circle of a
    ///   square.
    /// - Returns: premultiplied RGBA of the picture's depth, or ``PixelFormat/alpha8``.
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

/// How much of each pixel lies inside of rounded corners.
private struct RoundedCorner {
    private let radius: Double
    private let height: Double

    init(radius: Double, of size: PixelSize) {
        self.radius = min(max(radius, 0), Double(min(size.width, size.height)) / 2)
        height = Double(size.height)
    }

    /// How far in the picture begins and ends, at 16 heights within a row of pixels.
    ///
    /// - Returns: `nil` for rows that are whole.
    func insets(ofRow y: Int) -> [Double]? {
        let top = Double(y)
        guard top < radius || top + 1 > height - radius else { return nil }
        return (0..<16).map { line in
            let place = top + (Double(line) + 0.5) / 16
            let distance = max(radius - place, place - (height - radius), 0)
            return radius - (radius * radius - distance * distance).squareRoot()
        }
    }

    func coverage(_ x: Int, _ width: Int, _ insets: [Double]) -> Double {
        let (left, end) = (Double(x), Double(width))
        guard left < radius || left + 1 > end - radius else { return 1 }
        var sum = 0.0
        for inset in insets { sum += max(0, min(left + 1, end - inset) - max(left, inset)) }
        return sum / Double(insets.count)
    }
}

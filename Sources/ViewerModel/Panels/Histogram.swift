// SPDX-License-Identifier: Apache-2.0

package import Pixels

/// The distribution of the red, green and blue values of an image.
package struct Histogram: Hashable, Sendable {
    /// The number of pixels with each value, for red, green and blue.
    package let counts: [[Int]]

    /// Counts the values of an image, with alpha as if it were on black.
    package init(_ image: PixelBuffer) {
        let pixels = image.converted(to: .rgb8)
        var counts = [[Int]](repeating: [Int](repeating: 0, count: 256), count: 3)
        for y in 0..<pixels.size.height {
            let row = pixels.row(y)
            for x in stride(from: 0, to: pixels.size.width * 3, by: 3) {
                for channel in 0..<3 { counts[channel][Int(row[x + channel])] += 1 }
            }
        }
        self.counts = counts
    }

    /// Draws the histogram: one column for each value, the colours added where they overlap.
    ///
    /// The square root of each count is drawn, so that rare values remain visible.
    ///
    /// - Parameter height: the height of the image, at least 1.
    /// - Returns: an image of 256 columns.
    package func image(height: Int) -> PixelBuffer {
        let highest = counts.joined().max() ?? 0
        var result = MutablePixelBuffer(
            size: PixelSize(width: 256, height: max(1, height)), format: .rgb8)
        guard highest > 0 else { return result.finish() }
        let bars = counts.map { channel in
            channel.map { count in
                Int((Double(height) * (Double(count) / Double(highest)).squareRoot()).rounded())
            }
        }
        for y in 0..<max(1, height) {
            result.withMutableRow(y) { row in
                for value in 0..<256 {
                    for channel in 0..<3 {
                        row[value * 3 + channel] = bars[channel][value] >= height - y ? 208 : 32
                    }
                }
            }
        }
        return result.finish()
    }
}

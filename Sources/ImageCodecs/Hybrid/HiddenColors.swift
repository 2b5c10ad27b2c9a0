// SPDX-License-Identifier: Apache-2.0

#if JPEG && PNG
internal import Pixels

/// Fills invisible pixels with the colours that compress best as JPEG.
enum HiddenColors {
    /// The side of an MCU with chroma at half resolution (T.81 A.2).
    private static let blockSide = 16
    /// Colours premultiplied by a lower alpha are too imprecise to be used.
    private static let leastAlpha: UInt8 = 4

    /// Returns the straight colours of an image as opaque RGB.
    ///
    /// In blocks with visible pixels, hidden pixels take the nearest colour of their block,
    /// which avoids ringing at the edge. Blocks without visible pixels are filled with the mean
    /// colour of the block to the left.
    ///
    /// - Parameter image: premultiplied RGBA.
    /// - Returns: an image of the same size and profile.
    static func filled(_ image: PixelBuffer) -> PixelBuffer {
        let size = image.size
        var result = MutablePixelBuffer(
            size: size, format: .rgb8, colorProfile: image.colorProfile)
        for top in stride(from: 0, to: size.height, by: blockSide) {
            let height = min(blockSide, size.height - top)
            var pixels = [UInt8](repeating: 0, count: size.width * 3 * height)
            var isKnown = [Bool](repeating: true, count: size.width * height)
            for y in 0..<height {
                let row = PremultipliedAlpha.straight(image.row(top + y), .rgba8)
                for x in 0..<size.width {
                    let place = (y * size.width + x) * 3
                    for channel in 0..<3 { pixels[place + channel] = row[x * 4 + channel] }
                    if row[x * 4 + 3] < leastAlpha { isKnown[y * size.width + x] = false }
                }
            }
            fillBlocks(&pixels, &isKnown, width: size.width, height: height)
            for y in 0..<height {
                result.withMutableRow(top + y) { target in
                    let start = y * size.width * 3
                    for index in 0..<target.count { target[index] = pixels[start + index] }
                }
            }
        }
        return result.finish()
    }

    /// Fills a row of blocks.
    private static func fillBlocks(
        _ pixels: inout [UInt8], _ isKnown: inout [Bool], width: Int, height: Int
    ) {
        var mean: [UInt8] = [255, 255, 255]
        for left in stride(from: 0, to: width, by: blockSide) {
            let columns = left..<min(left + blockSide, width)
            var waiting: [Int] = []
            var sums = [0, 0, 0]
            for y in 0..<height {
                for x in columns where isKnown[y * width + x] {
                    waiting.append(y * width + x)
                    for channel in 0..<3 {
                        sums[channel] += Int(pixels[(y * width + x) * 3 + channel])
                    }
                }
            }
            let area = columns.count * height
            if waiting.isEmpty {
                for y in 0..<height {
                    for x in columns {
                        for channel in 0..<3 {
                            pixels[(y * width + x) * 3 + channel] = mean[channel]
                        }
                    }
                }
                continue
            }
            mean = sums.map { UInt8($0 / waiting.count) }
            if waiting.count == area { continue }
            // Breadth-first, from the known pixels to their neighbours.
            var next = 0
            while next < waiting.count {
                let pixel = waiting[next]
                next += 1
                let (x, y) = (pixel % width, pixel / width)
                for (column, row) in [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]
                where columns.contains(column) && row >= 0 && row < height {
                    let neighbor = row * width + column
                    if isKnown[neighbor] { continue }
                    isKnown[neighbor] = true
                    for channel in 0..<3 {
                        pixels[neighbor * 3 + channel] = pixels[pixel * 3 + channel]
                    }
                    waiting.append(neighbor)
                }
            }
        }
    }
}
#endif

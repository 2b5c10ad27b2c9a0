// SPDX-License-Identifier: Apache-2.0

#if JPEG && PNG
    internal import Pixels

    /// Gives pixels that cannot be seen the colours that cost a JPEG file least.
    enum HiddenColors {
        /// The side of the blocks that JPEG compresses as one with colours of half the resolution.
        private static let blockSide = 16
        /// Premultiplied colours under less alpha than that are too coarse to be taken for true.
        private static let leastAlpha: UInt8 = 4

        /// The straight colours of a picture as opaque RGB.
        ///
        /// In blocks that show something, hidden pixels take the nearest colour of their block, which
        /// keeps ringing away from the edge; blocks that show nothing are flat, in the mean colour of
        /// the block to their left.
        ///
        /// - Parameter image: premultiplied RGBA.
        /// - Returns: a picture of the same size and profile.
        static func filled(_ image: PixelBuffer) -> PixelBuffer {
            let size = image.size
            var result = MutablePixelBuffer(
                size: size, format: .rgb8, colorProfile: image.colorProfile)
            var row = [UInt8](repeating: 0, count: size.width * 4)
            for top in stride(from: 0, to: size.height, by: blockSide) {
                let height = min(blockSide, size.height - top)
                var pixels = [UInt8](repeating: 0, count: size.width * 3 * height)
                var isKnown = [Bool](repeating: true, count: size.width * height)
                for y in 0..<height {
                    let source = image.row(top + y)
                    for index in source.indices { row[index] = source[index] }
                    var span = row.mutableSpan
                    PremultipliedAlpha.divide(&span)
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
                // Outward from what is known, a ring of neighbours at a time.
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

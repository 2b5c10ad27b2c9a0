// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// Encodes a small image.
struct ThumbHashEncoder {
    private(set) var bytes: [UInt8] = []
    /// Whether the next coefficient is written to the upper half of the last byte.
    private var hasRoom = false

    /// Encodes an image.
    ///
    /// - Parameter image: premultiplied RGBA.
    init(_ image: PixelBuffer) {
        let size = image.size
        let average = Self.average(image)
        let hasAlpha = average.alpha < 1
        var planes = [[Double]](repeating: [], count: 4)
        for y in 0..<size.height {
            let row = image.row(y)
            for pixel in stride(from: 0, to: row.count, by: 4) {
                let alpha = Double(row[pixel + 3]) / 255
                // Composited over the average colour, so that transparent areas have no components.
                let red = average.red * (1 - alpha) + Double(row[pixel]) / 255
                let green = average.green * (1 - alpha) + Double(row[pixel + 1]) / 255
                let blue = average.blue * (1 - alpha) + Double(row[pixel + 2]) / 255
                planes[0].append((red + green + blue) / 3)
                planes[1].append((red + green) / 2 - blue)
                planes[2].append(red - green)
                planes[3].append(alpha)
            }
        }
        let limit = Double(hasAlpha ? 5 : 7)
        let longest = Double(size.largestSide)
        let columns = max(1, Int((limit * Double(size.width) / longest).rounded()))
        let rows = max(1, Int((limit * Double(size.height) / longest).rounded()))
        let brightness = Channel(planes[0], size, WaveSet(max(3, columns), max(3, rows)))
        let yellow = Channel(planes[1], size, .color)
        let red = Channel(planes[2], size, .color)
        let isLandscape = size.width > size.height
        let means =
            Self.rounded(63 * brightness.mean)
            | Self.rounded(31.5 + 31.5 * yellow.mean) << 6
            | Self.rounded(31.5 + 31.5 * red.mean) << 12
            | Self.rounded(31 * brightness.scale) << 18 | (hasAlpha ? 1 << 23 : 0)
        let scales =
            (isLandscape ? rows : columns) | Self.rounded(63 * yellow.scale) << 3
            | Self.rounded(63 * red.scale) << 9 | (isLandscape ? 1 << 15 : 0)
        bytes = [means, means >> 8, means >> 16, scales, scales >> 8].map { UInt8($0 & 255) }
        var channels = [brightness, yellow, red]
        if hasAlpha {
            let alpha = Channel(planes[3], size, .alpha)
            bytes.append(
                UInt8(Self.rounded(15 * alpha.mean) | Self.rounded(15 * alpha.scale) << 4))
            channels.append(alpha)
        }
        for channel in channels {
            for strength in channel.strengths { append(Self.rounded(15 * strength)) }
        }
    }

    private mutating func append(_ number: Int) {
        if hasRoom {
            bytes[bytes.endIndex - 1] |= UInt8(number) << 4
        } else {
            bytes.append(UInt8(number))
        }
        hasRoom.toggle()
    }

    private static func rounded(_ value: Double) -> Int {
        Int(value.rounded(.toNearestOrAwayFromZero))
    }

    private static func average(_ image: PixelBuffer) -> SRGBColor {
        var sums = [0, 0, 0, 0]
        for y in 0..<image.size.height {
            let row = image.row(y)
            for index in row.indices { sums[index & 3] += Int(row[index]) }
        }
        let alpha = Double(max(sums[3], 1))
        return SRGBColor(
            red: Double(sums[0]) / alpha, green: Double(sums[1]) / alpha,
            blue: Double(sums[2]) / alpha, alpha: Double(sums[3]) / Double(255 * image.size.area))
    }

    /// The mean of a channel and its coefficients.
    private struct Channel {
        let mean: Double
        /// The coefficients from 0 to 1, where ½ stands for 0; 0 if all are 0.
        let strengths: [Double]
        let scale: Double

        init(_ samples: [Double], _ size: PixelSize, _ waves: WaveSet) {
            let columns = Cosines(waves.columns, size.width, offset: 0.5)
            let rows = Cosines(waves.rows, size.height, offset: 0.5)
            let area = Double(size.area)
            mean = samples.reduce(0, +) / area
            let raw = waves.frequencies.map { wave in
                var sum = 0.0
                for y in 0..<size.height {
                    var rowSum = 0.0
                    for x in 0..<size.width {
                        rowSum += samples[y * size.width + x] * columns[wave.x, x]
                    }
                    sum += rowSum * rows[wave.y, y]
                }
                return sum / area
            }
            let largest = raw.reduce(0) { max($0, abs($1)) }
            scale = min(largest, 1)
            strengths = largest > 0 ? raw.map { 0.5 + 0.5 * $0 / largest } : raw
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// An image for the benchmark of formats, in several sizes.
struct BenchImage {
    static let largestSize = PixelSize(width: 2048, height: 1536)
    /// The sizes, each half of the one before.
    static let sizes = (0..<7).map {
        PixelSize(width: largestSize.width >> $0, height: largestSize.height >> $0)
    }

    let name: String
    let image: PixelBuffer

    func resized(to size: PixelSize) -> PixelBuffer {
        var resampler = RowResampler(from: image.size, image.format, to: size)
        for y in 0..<image.size.height { resampler.append(image.row(y)) }
        return resampler.finish()
    }

    /// A gradient of two colours, which suits lossless formats.
    static var gradient: PixelBuffer {
        make { x, y in
            let share = (Float(x) + Float(y)) / Float(largestSize.width + largestSize.height)
            return SIMD3(30 + 200 * share, 90 + 100 * share, 200 - 120 * share)
        }
    }

    /// Noise of every scale under a sky, with the statistics of a photograph: edges, textures,
    /// smooth areas and sensor noise.
    static var photograph: PixelBuffer {
        make { x, y in
            let (u, v) = (Float(x) / 512, Float(y) / 512)
            var height: Float = 0
            var share: Float = 0.5
            var scale: Float = 1
            for octave in 0..<7 as Range<UInt32> {
                height += share * noise(u * scale, v * scale, octave)
                share *= 0.55
                scale *= 2
            }
            let horizon = 1.1 + 0.5 * noise(u, 0, 99)
            let grain = 3 * (hash(UInt32(x), UInt32(y), 7) - 0.5)
            let color: SIMD3<Float> =
                v < horizon
                ? SIMD3(110 + 70 * v, 150 + 50 * v, 225) + 40 * height * v
                : SIMD3(190 * height, 60 + 130 * height, 90 * height * height + 20)
            return color + grain
        }
    }

    private static func make(_ color: (_ x: Int, _ y: Int) -> SIMD3<Float>) -> PixelBuffer {
        var buffer = MutablePixelBuffer(size: largestSize, format: .rgb8)
        for y in 0..<largestSize.height {
            buffer.withMutableRow(y) { row in
                for x in 0..<largestSize.width {
                    let color = color(x, y).clamped(
                        lowerBound: .zero, upperBound: .init(repeating: 255))
                    for channel in 0..<3 { row[x * 3 + channel] = UInt8(color[channel] + 0.5) }
                }
            }
        }
        return buffer.finish()
    }

    /// Value noise: hashed values at integer positions, with smooth interpolation.
    private static func noise(_ x: Float, _ y: Float, _ seed: UInt32) -> Float {
        let (left, top) = (x.rounded(.down), y.rounded(.down))
        let (column, row) = (UInt32(left), UInt32(top))
        let across = smooth(x - left)
        let down = smooth(y - top)
        let above = mix(hash(column, row, seed), hash(column + 1, row, seed), across)
        let below = mix(hash(column, row + 1, seed), hash(column + 1, row + 1, seed), across)
        return mix(above, below, down)
    }

    private static func smooth(_ t: Float) -> Float { t * t * (3 - 2 * t) }

    private static func mix(_ a: Float, _ b: Float, _ share: Float) -> Float { a + (b - a) * share }

    /// A pseudorandom number from 0 to 1, determined by position and seed.
    private static func hash(_ x: UInt32, _ y: UInt32, _ seed: UInt32) -> Float {
        var value = x &* 0x8DA6_B343 ^ y &* 0xD816_3841 ^ seed &* 0xCB1A_B31F
        value = (value ^ value >> 15) &* 0x2C1B_3C6D
        value = (value ^ value >> 12) &* 0x297A_2D39
        return Float((value ^ value >> 15) >> 8) / 16_777_216
    }
}

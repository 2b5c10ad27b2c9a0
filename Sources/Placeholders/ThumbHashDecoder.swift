// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// Decodes the coefficients of a hash and draws the image.
struct ThumbHashDecoder {
    struct Channel {
        var mean: Double
        var waves: WaveSet
        var strengths: [Double] = []
    }

    private let hasAlpha: Bool
    private(set) var brightness: Channel
    /// Yellow minus blue.
    private(set) var yellow: Channel
    /// Red minus green.
    private(set) var red: Channel
    private(set) var alpha: Channel

    /// The factor that restores the saturation lost by quantization.
    private static let saturation = 1.25

    /// Decodes the coefficients.
    ///
    /// - Parameter bytes: a valid hash.
    init(_ bytes: [UInt8]) {
        let shape = ThumbHash.Shape(bytes)
        hasAlpha = shape.hasAlpha
        let means = Int(bytes[0]) | Int(bytes[1]) << 8 | Int(bytes[2]) << 16
        let scales = Int(bytes[3]) | Int(bytes[4]) << 8
        brightness = Channel(mean: Double(means & 63) / 63, waves: shape.brightness)
        yellow = Channel(mean: Double(means >> 6 & 63) / 31.5 - 1, waves: .color)
        red = Channel(mean: Double(means >> 12 & 63) / 31.5 - 1, waves: .color)
        alpha = Channel(mean: hasAlpha ? Double(bytes[5] & 15) / 15 : 1, waves: .alpha)
        var place = shape.headerByteCount * 2
        func strengths(_ waves: WaveSet, _ scale: Double) -> [Double] {
            waves.frequencies.map { _ in
                let bits = bytes[place / 2] >> (place & 1 == 0 ? 0 : 4) & 15
                place += 1
                return (Double(bits) / 7.5 - 1) * scale
            }
        }
        brightness.strengths = strengths(brightness.waves, Double(means >> 18 & 31) / 31)
        yellow.strengths = strengths(.color, Double(scales >> 3 & 63) / 63 * Self.saturation)
        red.strengths = strengths(.color, Double(scales >> 9 & 63) / 63 * Self.saturation)
        if hasAlpha { alpha.strengths = strengths(.alpha, Double(bytes[5] >> 4) / 15) }
    }

    func image(_ size: PixelSize) -> PixelBuffer {
        let columns = Cosines(7, size.width, offset: 0.5)
        let rows = Cosines(7, size.height, offset: 0.5)
        let format: PixelFormat = hasAlpha ? .rgba8 : .rgb8
        var buffer = MutablePixelBuffer(size: size, format: format)
        for y in 0..<size.height {
            buffer.withMutableRow(y) { row in
                for x in 0..<size.width {
                    func value(_ channel: Channel) -> Double {
                        var sum = channel.mean
                        for (wave, strength) in zip(channel.waves.frequencies, channel.strengths) {
                            sum += 2 * strength * columns[wave.x, x] * rows[wave.y, y]
                        }
                        return sum
                    }
                    let color = SRGBColor(
                        brightness: value(brightness), yellow: value(yellow), red: value(red),
                        alpha: value(alpha))
                    let place = x * format.channelCount
                    row[place] = SRGBColor.byte(color.red)
                    row[place + 1] = SRGBColor.byte(color.green)
                    row[place + 2] = SRGBColor.byte(color.blue)
                    if hasAlpha { row[place + 3] = SRGBColor.byte(color.alpha) }
                }
                if hasAlpha { PremultipliedAlpha.multiply(&row) }
            }
        }
        return buffer.finish()
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The content of the images of ``JPEGVariants``.
struct JPEGVariantImage {
    enum Content: String, CaseIterable {
        case noise, gradient, edges, flat, text, saturated, waves
    }

    var content: Content
    var width: Int
    var height: Int
    /// The number of components, 1 or 3.
    var channelCount: Int
    var seed: UInt64
    var encoding: JPEGEncoding

    /// The image as a binary PGM or PPM file.
    func pnm() -> [UInt8] {
        Array("P\(channelCount == 1 ? 5 : 6)\n\(width) \(height)\n255\n".utf8) + samples()
    }

    private func samples() -> [UInt8] {
        var random = SeededRandom(seed: seed)
        switch content {
        case .noise: return bytes(width * height * channelCount, &random)
        case .flat:
            let color = bytes(channelCount, &random)
            return draw { _, _, channel in color[channel] }
        case .gradient:
            let slopes = (0..<6).map { _ in Int.random(in: -1200...1200, using: &random) }
            let bases = bytes(3, &random).map { Int($0) * 256 }
            return draw { x, y, channel in
                let value = bases[channel] + slopes[channel] * x + slopes[3 + channel] * y
                return UInt8(max(0, min(255, value / 256)))
            }
        case .edges:
            let lines = (0..<3).map { _ in
                (
                    Int.random(in: -9...9, using: &random), Int.random(in: -9...9, using: &random),
                    Int.random(in: 0..<max(1, 9 * width), using: &random)
                )
            }
            let colors = bytes(8 * channelCount, &random)
            return draw { x, y, channel in
                let side = lines.reduce(0) { $0 * 2 + ($1.0 * x + $1.1 * y > $1.2 ? 1 : 0) }
                return colors[side * channelCount + channel]
            }
        case .text:
            let glyphs = (0..<16).map { _ in random.next() & random.next() }
            let ink = bytes(channelCount, &random).map { $0 / 4 }
            let row = (width + 5) / 6
            let order = bytes(row * ((height + 8) / 9) + 1, &random)
            return draw { x, y, channel in
                let glyph = glyphs[Int(order[y / 9 * row + x / 6]) & 15]
                let isInk = x % 6 < 5 && y % 9 < 7 && glyph >> UInt64(y % 9 * 5 + x % 6) & 1 == 1
                return isInk ? ink[channel] : 255
            }
        case .saturated:
            let side = Int.random(in: 1...12, using: &random)
            let row = (width + side - 1) / side
            let colors = bytes(row * ((height + side - 1) / side) * channelCount, &random)
            return draw { x, y, channel in
                colors[(y / side * row + x / side) * channelCount + channel] < 128 ? 0 : 255
            }
        case .waves:
            let steps = bytes(6, &random).map { Int($0) % 24 }
            let noise = bytes(256, &random).map { Int($0) % 17 - 8 }
            return draw { x, y, channel in
                let phase = (x * steps[channel] + y * steps[3 + channel]) % 512
                let wave = (phase < 256 ? phase : 511 - phase) + noise[(x * 31 + y * 57) & 255]
                return UInt8(max(0, min(255, wave)))
            }
        }
    }

    private func draw(_ sample: (_ x: Int, _ y: Int, _ channel: Int) -> UInt8) -> [UInt8] {
        var samples: [UInt8] = []
        samples.reserveCapacity(width * height * channelCount)
        for y in 0..<height {
            for x in 0..<width {
                for channel in 0..<channelCount { samples.append(sample(x, y, channel)) }
            }
        }
        return samples
    }

    private func bytes(_ count: Int, _ random: inout SeededRandom) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 7)
        while bytes.count < count {
            var value = random.next()
            for _ in 0..<8 {
                bytes.append(UInt8(truncatingIfNeeded: value))
                value >>= 8
            }
        }
        return Array(bytes.prefix(count))
    }
}

// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// Images computed by a formula, identical on every machine.
public enum TestImage {
    /// Smooth waves with noise, similar to photographs; alpha, if present, increases from left to right.
    public static func photograph(
        _ size: PixelSize, _ format: PixelFormat = .rgb8, seed: UInt64 = 1
    ) -> PixelBuffer {
        var random = SeededRandom(seed: seed)
        return make(size, format) { x, y, channel in
            let phase = (x * (channel + 2) + y * (5 - channel)) % 512
            let wave = phase < 256 ? phase : 511 - phase
            return UInt8(max(0, min(255, wave + Int(random.next() % 17) - 8)))
        }
    }

    /// Random samples: the most difficult image for a resampler.
    public static func noise(
        _ size: PixelSize, _ format: PixelFormat = .rgb8, seed: UInt64 = 1
    ) -> PixelBuffer {
        var random = SeededRandom(seed: seed)
        return make(size, format) { _, _, _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    /// One value in every sample.
    public static func flat(
        _ size: PixelSize, _ format: PixelFormat, _ value: [UInt8]
    ) -> PixelBuffer {
        make(size, format) { _, _, channel in value[channel] }
    }

    /// Calls `sample` for each sample; the colours of RGBA are then premultiplied.
    ///
    /// The place is that in the sample's plane; the planes of a planar format count as channels.
    public static func make(
        _ size: PixelSize, _ format: PixelFormat,
        _ sample: (_ x: Int, _ y: Int, _ channel: Int) -> UInt8
    ) -> PixelBuffer {
        var buffer = MutablePixelBuffer(size: size, format: format)
        for plane in 0..<format.planeCount {
            let channelCount = format.plane(plane).channelCount
            for y in 0..<buffer.layout(ofPlane: plane).size.height {
                buffer.withMutableRow(y, plane: plane) { row in
                    for index in 0..<row.count {
                        row[index] = sample(index / channelCount, y, plane + index % channelCount)
                    }
                    if format == .rgba8 { PremultipliedAlpha.multiply(&row) }
                }
            }
        }
        return buffer.finish()
    }
}

/// The generator SplitMix64: the same numbers for the same seed, everywhere.
public struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

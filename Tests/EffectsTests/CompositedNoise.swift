// SPDX-License-Identifier: Apache-2.0

import Effects
import ImageTesting
import Pixels
import Testing

/// Two random images, one composited onto the other.
struct CompositedNoise {
    static let size = PixelSize(width: 64, height: 64)

    let source, backdrop: PixelBuffer

    /// - Parameters:
    ///   - format: `rgba8` or `rgba16`.
    ///   - isOpaque: whether alpha is 1; otherwise some pixels are transparent and some opaque.
    init(_ format: PixelFormat, isOpaque: Bool = false) {
        source = Self.noise(format, seed: 1, isOpaque)
        backdrop = Self.noise(format, seed: 2, isOpaque)
    }

    private static func noise(
        _ format: PixelFormat, seed: UInt64, _ isOpaque: Bool
    ) -> PixelBuffer {
        var random = SeededRandom(seed: seed)
        let scale = format == .rgba8 ? 255 : 65535
        var image = MutablePixelBuffer(size: size, format: format)
        for y in 0..<size.height {
            image.withMutableRow(y) { row in
                for x in 0..<size.width {
                    let kind = random.next() % 8
                    let alpha =
                        kind == 1 || isOpaque
                        ? scale : kind == 0 ? 0 : Int(random.next() % UInt64(scale + 1))
                    for channel in 0..<4 {
                        let sample =
                            channel == 3 || alpha == 0
                            ? alpha : Int(random.next() % UInt64(alpha + 1))
                        if format == .rgba8 {
                            row[x * 4 + channel] = UInt8(sample)
                        } else {
                            row.storeSample16(UInt16(sample), at: x * 4 + channel)
                        }
                    }
                }
            }
        }
        return image.finish()
    }

    /// The premultiplied samples of an image from 0 to 1.
    static func samples(_ image: PixelBuffer) -> [Double] {
        var samples: [Double] = []
        for y in 0..<image.size.height {
            let row = image.row(y)
            if image.format == .rgba8 {
                for index in row.indices { samples.append(Double(row[index]) / 255) }
            } else {
                row.withSamples16 { row in
                    for index in row.indices { samples.append(Double(row[index]) / 65535) }
                }
            }
        }
        return samples
    }

    /// Returns the largest difference of the composited image from expected samples, which are
    /// premultiplied and from 0 to 1, in steps of the format.
    func difference(
        from expected: [Double], _ mode: BlendMode, _ composite: CompositeOperator,
        opacity: Double = 1
    ) throws -> Double {
        let effect = Effect.overlay(
            Overlay(source, identity: "", opacity: opacity, mode: mode, composite: composite))
        let result = Self.samples(try #require(effect.applied(to: backdrop)))
        try #require(result.count == expected.count)
        let largest = zip(result, expected).map { abs($0 - $1) }.max() ?? 0
        return largest * (source.format == .rgba8 ? 255 : 65535)
    }
}

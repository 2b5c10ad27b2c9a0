// SPDX-License-Identifier: Apache-2.0

/// Conversion between rows of ``PixelFormat/rgbaHalf`` and floats.
public enum HalfRow {
    /// Converts a row of premultiplied half floats to straight floats.
    ///
    /// - Parameters:
    ///   - row: the pixels, 8 bytes each.
    ///   - result: receives 4 floats per pixel; its count determines how many are converted. Where
    ///     alpha is 0 or less, the colours become 0.
    public static func read(_ row: Span<UInt8>, dividedByAlpha result: inout [Float]) {
        precondition(result.count * 2 <= row.count, "the row is too short for the floats")
        row.withSamples16 { samples in
            for pixel in stride(from: 0, to: result.count - 3, by: 4) {
                let alpha = Float(Float16(bitPattern: samples[pixel + 3]))
                let scale = alpha > 0 ? 1 / alpha : 0
                for channel in pixel..<pixel + 3 {
                    result[channel] = Float(Float16(bitPattern: samples[channel])) * scale
                }
                result[pixel + 3] = alpha
            }
        }
    }

    /// Converts straight floats to a row of premultiplied half floats.
    ///
    /// - Parameters:
    ///   - source: 4 floats per pixel.
    ///   - row: receives the pixels, 8 bytes each.
    public static func write(_ source: [Float], multipliedByAlpha row: inout MutableSpan<UInt8>) {
        precondition(source.count * 2 <= row.count, "the row is too short for the floats")
        for pixel in stride(from: 0, to: source.count - 3, by: 4) {
            let alpha = source[pixel + 3]
            for channel in pixel..<pixel + 3 {
                row.storeSample16(Float16(source[channel] * alpha).bitPattern, at: channel)
            }
            row.storeSample16(Float16(alpha).bitPattern, at: pixel + 3)
        }
    }
}

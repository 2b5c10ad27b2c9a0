// SPDX-License-Identifier: Apache-2.0

internal import Pixels

extension Span<UInt16> {
    /// Calls `body` with the samples as bytes in native byte order.
    func withSampleBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe withUnsafeBytes { bytes throws(Failure) in
            try body(unsafe Span<UInt8>(_unsafeElements: bytes.bindMemory(to: UInt8.self)))
        }
    }
}

extension PremultipliedAlpha {
    /// Multiplies the colours of a row of straight RGBA pixels by alpha.
    static func multiplyWide(_ row: inout MutableSpan<UInt16>) {
        for pixel in stride(from: 0, to: row.count - 3, by: 4) where row[pixel + 3] != .max {
            let alpha = UInt32(row[pixel + 3])
            for channel in pixel..<pixel + 3 {
                row[channel] = UInt16((UInt32(row[channel]) * alpha + 32767) / 65535)
            }
        }
    }

    /// Divides the colours of a row of premultiplied RGBA pixels by alpha.
    static func divideWide(_ row: inout MutableSpan<UInt16>) {
        for pixel in stride(from: 0, to: row.count - 3, by: 4) where row[pixel + 3] != .max {
            let alpha = UInt32(row[pixel + 3])
            for channel in pixel..<pixel + 3 {
                let color = UInt32(row[channel])
                row[channel] =
                    alpha == 0 ? 0 : UInt16(min(65535, (color * 65535 + alpha / 2) / alpha))
            }
        }
    }

    /// Limits each premultiplied colour to its alpha.
    static func clamp<Sample: FixedWidthInteger>(_ row: inout MutableSpan<Sample>) {
        for pixel in stride(from: 0, to: row.count - 3, by: 4) where row[pixel + 3] != .max {
            let alpha = row[pixel + 3]
            for channel in pixel..<pixel + 3 where row[channel] > alpha { row[channel] = alpha }
        }
    }
}

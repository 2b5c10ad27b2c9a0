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
    /// Returns a copy of a row, with straight alpha if the format is 8-bit or 16-bit RGBA.
    static func straight(_ row: Span<UInt8>, _ format: PixelFormat) -> [UInt8] {
        var copy = unsafe row.withUnsafeBufferPointer { unsafe Array($0) }
        var pixels = copy.mutableSpan
        if format == .rgba8 { divide(&pixels) }
        if format == .rgba16 { divide16(&pixels) }
        return copy
    }

    /// Limits each premultiplied colour to its alpha.
    static func clamp<Sample: FixedWidthInteger>(_ row: inout MutableSpan<Sample>) {
        for pixel in stride(from: 0, to: row.count - 3, by: 4) where row[pixel + 3] != .max {
            let alpha = row[pixel + 3]
            for channel in pixel..<pixel + 3 where row[channel] > alpha { row[channel] = alpha }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Pixels

extension PixelBuffer {
    /// Returns the image after `count` reductions to half its size; 8-bit interleaved samples only.
    func halved(_ count: Int) -> PixelBuffer {
        guard count > 0 else { return self }
        var result = MutablePixelBuffer(
            size: PixelSize(width: (size.width + 1) / 2, height: (size.height + 1) / 2),
            format: format, colorProfile: colorProfile)
        let channelCount = format.channelCount
        var means = [UInt8](repeating: 0, count: result.size.width * channelCount)
        for y in 0..<result.size.height {
            let lower = min(2 * y + 1, size.height - 1)
            halveRows(row(2 * y), row(lower), channelCount: channelCount, into: &means)
            result.withMutableRow(y) { $0.copy(means.span, at: 0) }
        }
        return result.snapshot.halved(count - 1)
    }

    /// Returns the image with its last column and row repeated at most once; interleaved samples only.
    func padded(to size: PixelSize) -> PixelBuffer {
        var result = MutablePixelBuffer(size: size, format: format, colorProfile: colorProfile)
        for y in 0..<size.height {
            let row = row(min(y, self.size.height - 1))
            result.withMutableRow(y) { target in
                target.copy(row, at: 0)
                guard size.width > self.size.width else { return }
                target.copy(row.extracting(last: format.bytesPerPixel), at: row.count)
            }
        }
        return result.snapshot
    }
}

/// Averages two rows in blocks of 2×2 pixels.
///
/// Means are rounded to the nearest integer, halves up. The last column of an odd width is the mean
/// of two pixels; for the last row of an odd height, pass the row twice.
///
/// - Parameters:
///   - upper: a row of 8-bit samples.
///   - lower: the row below, with the same length.
///   - channelCount: the number of samples in a pixel.
///   - result: receives half as many pixels, rounded up.
func halveRows(
    _ upper: Span<UInt8>, _ lower: Span<UInt8>, channelCount: Int, into result: inout [UInt8]
) {
    let pairCount = upper.count / channelCount / 2
    precondition(upper.count == lower.count, "both rows must have the same length")
    precondition(
        result.count == (upper.count / channelCount + 1) / 2 * channelCount,
        "a row of a wrong length")
    switch channelCount {
    case 1: halvePairs(upper, lower, pairCount, channelCount: 1, &result)
    case 3: halvePairs(upper, lower, pairCount, channelCount: 3, &result)
    default: halvePairs(upper, lower, pairCount, channelCount: channelCount, &result)
    }
    guard upper.count > pairCount * 2 * channelCount else { return }
    for channel in 0..<channelCount {
        let place = pairCount * 2 * channelCount + channel
        result[pairCount * channelCount + channel] =
            UInt8((UInt16(upper[place]) + UInt16(lower[place]) + 1) / 2)
    }
}

/// `channelCount` is a constant at every call but the last, so that the compiler unrolls the loop.
@inline(__always)
private func halvePairs(
    _ upper: Span<UInt8>, _ lower: Span<UInt8>, _ pairCount: Int, channelCount: Int,
    _ result: inout [UInt8]
) {
    var result = result.mutableSpan
    for pair in 0..<pairCount {
        for channel in 0..<channelCount {
            let left = pair &* 2 &* channelCount &+ channel
            let right = left &+ channelCount
            let above = unsafe UInt16(upper[unchecked: left]) &+ UInt16(upper[unchecked: right])
            let below = unsafe UInt16(lower[unchecked: left]) &+ UInt16(lower[unchecked: right])
            unsafe result[unchecked: pair &* channelCount &+ channel] =
                UInt8(truncatingIfNeeded: (above &+ below &+ 2) &>> 2)
        }
    }
}

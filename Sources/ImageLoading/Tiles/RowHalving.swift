// SPDX-License-Identifier: Apache-2.0

/// Makes one row of means of 2×2 pixels from two rows.
///
/// The mean is rounded to the nearest, halves up. A last column that is alone is the mean of its
/// two pixels, and a last row is given as both.
///
/// - Parameters:
///   - upper: a row of 8-bit samples.
///   - lower: the row below it, as long.
///   - channelCount: samples a pixel.
///   - result: half as many pixels, rounded up.
func halveRows(
    _ upper: Span<UInt8>, _ lower: Span<UInt8>, channelCount: Int, into result: inout [UInt8]
) {
    let pairCount = upper.count / channelCount / 2
    precondition(upper.count == lower.count, "rows of different lengths")
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
    unsafe upper.withUnsafeBufferPointer { upper in
        unsafe lower.withUnsafeBufferPointer { lower in
            unsafe result.withUnsafeMutableBufferPointer { result in
                for pair in 0..<pairCount {
                    for channel in 0..<channelCount {
                        let left = pair &* 2 &* channelCount &+ channel
                        let right = left &+ channelCount
                        let above = unsafe UInt16(upper[left]) &+ UInt16(upper[right])
                        let below = unsafe UInt16(lower[left]) &+ UInt16(lower[right])
                        unsafe result[pair &* channelCount &+ channel] =
                            UInt8(truncatingIfNeeded: (above &+ below &+ 2) &>> 2)
                    }
                }
            }
        }
    }
}

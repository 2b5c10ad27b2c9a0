// SPDX-License-Identifier: Apache-2.0

/// Expands 8-bit samples from video range, 16 to 235 or 16 to 240, to full range, 0 to 255.
enum VideoRange {
    /// Expands a row.
    ///
    /// - Parameters:
    ///   - row: the samples.
    ///   - isColor: whether they are colour differences, which stay centred at 128.
    ///   - result: receives the samples; at least as long as `row`.
    static func widen(_ row: Span<UInt8>, isColor: Bool, into result: inout [UInt8]) {
        precondition(row.count <= result.count, "the row does not fit")
        let count = row.count
        unsafe row.withUnsafeBufferPointer { row in
            unsafe result.withUnsafeMutableBufferPointer { result in
                if isColor {
                    for x in 0..<count { unsafe result[x] = color(row[x]) }
                } else {
                    for x in 0..<count { unsafe result[x] = luma(row[x]) }
                }
            }
        }
    }

    // Written in 16-bit integers, which processors multiply 8 at a time: a factor of 10 bits, and 8
    // more bits of it in a separate product.

    /// x ÷ 219 × 255, to the nearest.
    @inline(__always)
    private static func luma(_ sample: UInt8) -> UInt8 {
        let x = UInt16(min(max(sample, 16), 235)) &- 16
        let extra = (x &* 168 &+ (x &* 84) &>> 8 &+ 512) &>> 10
        return UInt8(truncatingIfNeeded: x &+ extra)
    }

    /// x ÷ 224 × 255 around 128, to the nearest, upwards in the middle.
    @inline(__always)
    private static func color(_ sample: UInt8) -> UInt8 {
        // One more than the result, so that nothing is below 0.
        let x = UInt16(min(max(sample, 15), 240)) &- 15
        let extra = (x &* 141 &+ (x &* 180) &>> 8 &+ 884) &>> 10
        return UInt8(truncatingIfNeeded: max(x &+ extra, 1) &- 1)
    }
}

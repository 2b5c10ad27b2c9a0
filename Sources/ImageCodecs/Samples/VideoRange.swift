// SPDX-License-Identifier: Apache-2.0

/// Brings samples of 8 bits from the range of video, 16 to 235 or 16 to 240, to 0 to 255.
enum VideoRange {
    /// - Parameters:
    ///   - row: the samples.
    ///   - isColor: whether they are colour differences, which stay around 128.
    ///   - result: takes them; at least as long.
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

    /// x ÷ 219 × 255, to the nearest.
    @inline(__always)
    static func luma(_ sample: UInt8) -> UInt8 {
        let x = UInt16(min(max(sample, 16), 235) &- 16)
        // Products of 32 bits, of which the halves are used: processors have them for 8 at once.
        let product = UInt32(x) &* 10773
        let extra =
            UInt16(truncatingIfNeeded: product &>> 16)
            &+ UInt16(truncatingIfNeeded: product) &>> 15
        return UInt8(truncatingIfNeeded: x &+ extra)
    }

    /// x ÷ 224 × 255 around 128, to the nearest, upwards in the middle.
    @inline(__always)
    static func color(_ sample: UInt8) -> UInt8 {
        let x = Int16(min(max(sample, 15), 240)) &- 128
        let product = Int32(x) &* 9069
        let low = UInt16(truncatingIfNeeded: product)
        let extra = Int16(truncatingIfNeeded: product &>> 16) &+ Int16(low &>> 15)
        return UInt8(truncatingIfNeeded: max(x &+ extra &+ 128, 0))
    }
}

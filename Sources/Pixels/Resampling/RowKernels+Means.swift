// SPDX-License-Identifier: Apache-2.0

extension RowKernels {
    /// Sums of no meaning that have to stand behind those of a row.
    static let sumPadding = 4

    /// Writes the means of blocks of pixels whose rows have been added up.
    ///
    /// - Parameters:
    ///   - sums: for each byte of a row, the sum of it and of those below, then ``sumPadding``.
    ///   - channelCount: the samples of a pixel, at most 4.
    ///   - blockWidth: how many pixels a block has in a row; the last one may have fewer.
    ///   - rows: how many rows have been added up.
    ///   - result: takes a pixel a block from `offset` on. With more than one channel, 3 numbers
    ///     behind them may be overwritten.
    ///   - offset: where the first mean goes.
    static func writeMeans(
        of sums: [UInt16], channelCount: Int, blockWidth: Int, rows: Int,
        into result: inout [Float], at offset: Int
    ) {
        let width = (sums.count - sumPadding) / channelCount
        let blockCount = (width + blockWidth - 1) / blockWidth
        precondition(
            result.count >= offset + blockCount * channelCount + (channelCount > 1 ? 3 : 0),
            "the result is shorter than the means")
        unsafe sums.withUnsafeBytes { sums in
            unsafe result.withUnsafeMutableBytes { result in
                guard let sums = sums.baseAddress, let base = result.baseAddress else { return }
                let result = unsafe base + offset * 4
                // Constants, so that the compiler makes a loop for each.
                switch channelCount {
                case 1: unsafe writeSamples(sums, width, blockWidth, rows, result)
                case 3: unsafe writePixels(sums, 3, width, blockWidth, rows, result)
                default: unsafe writePixels(sums, channelCount, width, blockWidth, rows, result)
                }
            }
        }
    }

    @inline(always)
    private static func writeSamples(
        _ sums: UnsafeRawPointer, _ width: Int, _ blockWidth: Int, _ rows: Int,
        _ result: UnsafeMutableRawPointer
    ) {
        var (column, place) = (0, 0)
        while column < width {
            let end = min(column &+ blockWidth, width)
            let scale = 1 / Float((end &- column) &* rows)
            var total: Int32 = 0
            while column < end {
                total &+= unsafe Int32(sums.load(fromByteOffset: column &* 2, as: UInt16.self))
                column &+= 1
            }
            unsafe result.storeBytes(of: Float(total) * scale, toByteOffset: place, as: Float.self)
            place &+= 4
        }
    }

    /// A pixel is read and written as 4 numbers: those too many belong to its neighbour, and are
    /// overwritten when the neighbour's turn comes.
    @inline(always)
    private static func writePixels(
        _ sums: UnsafeRawPointer, _ channelCount: Int, _ width: Int, _ blockWidth: Int,
        _ rows: Int, _ result: UnsafeMutableRawPointer
    ) {
        var (column, place) = (0, 0)
        while column < width {
            let end = min(column &+ blockWidth, width)
            let scale = 1 / Float((end &- column) &* rows)
            var total = SIMD4<UInt32>.zero
            while column < end {
                let pixel = unsafe sums.loadUnaligned(
                    fromByteOffset: column &* channelCount &* 2, as: SIMD4<UInt16>.self)
                total &+= SIMD4<UInt32>(truncatingIfNeeded: pixel)
                column &+= 1
            }
            unsafe result.storeBytes(
                of: exactNumbers(total) * scale, toByteOffset: place, as: SIMD4<Float>.self)
            place &+= channelCount &* 4
        }
    }

    /// Whole numbers below 2²⁴, of which each is a sum of at most 256 × 257 bytes.
    @inline(always)
    private static func exactNumbers(_ values: SIMD4<UInt32>) -> SIMD4<Float> {
        // The bits of 2²³ with a number in the lowest places are 2²³ and that number.
        let low = unsafe unsafeBitCast(values & 0xFFFF | 0x4B00_0000, to: SIMD4<Float>.self)
        let high = unsafe unsafeBitCast(values &>> 16 | 0x4B00_0000, to: SIMD4<Float>.self)
        return (high - 8_388_608) * 65536 + (low - 8_388_608)
    }
}

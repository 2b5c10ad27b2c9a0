// SPDX-License-Identifier: Apache-2.0

extension RowKernels {
    /// The number of unused elements after the sums of a row.
    static let sumPadding = 4

    /// Writes the means of blocks of pixels from the sums of their rows.
    ///
    /// - Parameters:
    ///   - sums: the sums of the bytes of each column, then ``sumPadding`` elements.
    ///   - channelCount: samples per pixel, at most 4.
    ///   - blockWidth: the width of a block in pixels; the last block may be narrower.
    ///   - rows: the number of rows in the sums.
    ///   - result: receives one pixel per block from `offset`. With more than one channel, 3 more
    ///     floats may be overwritten.
    ///   - offset: the index of the first float to write.
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
                // Constants, so that the compiler specializes the loop for each.
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
        // Constants, because vectors cost more than they save on so few columns.
        switch blockWidth {
        case 1: unsafe writeColumns(sums, width, rows, result)
        case 2: unsafe writeBlocks(sums, width, 2, rows, result)
        case 3: unsafe writeBlocks(sums, width, 3, rows, result)
        case 4: unsafe writeBlocks(sums, width, 4, rows, result)
        default: unsafe writeBlocks(sums, width, blockWidth, rows, result)
        }
    }

    /// Writes the means of blocks of one column.
    @inline(always)
    private static func writeColumns(
        _ sums: UnsafeRawPointer, _ width: Int, _ rows: Int, _ result: UnsafeMutableRawPointer
    ) {
        let scale = 1 / Float(rows)
        var column = 0
        while column &+ 4 <= width {
            let four = unsafe sums.loadUnaligned(
                fromByteOffset: column &* 2, as: SIMD4<UInt16>.self)
            unsafe result.storeBytes(
                of: exactFloats(SIMD4<UInt32>(truncatingIfNeeded: four)) * scale,
                toByteOffset: column &* 4, as: SIMD4<Float>.self)
            column &+= 4
        }
        while column < width {
            let sum = unsafe sums.load(fromByteOffset: column &* 2, as: UInt16.self)
            unsafe result.storeBytes(
                of: Float(sum) * scale, toByteOffset: column &* 4, as: Float.self)
            column &+= 1
        }
    }

    @inline(always)
    private static func writeBlocks(
        _ sums: UnsafeRawPointer, _ width: Int, _ blockWidth: Int, _ rows: Int,
        _ result: UnsafeMutableRawPointer
    ) {
        @inline(always)
        func mean(_ columns: Range<Int>, _ scale: Float) -> Float {
            var total: Int32 = 0
            for column in columns {
                total &+= unsafe Int32(sums.load(fromByteOffset: column &* 2, as: UInt16.self))
            }
            return Float(total) * scale
        }
        let scale = 1 / Float(blockWidth &* rows)
        var (column, offset) = (0, 0)
        while column &+ blockWidth <= width {
            let end = column &+ blockWidth
            unsafe result.storeBytes(
                of: mean(Range(uncheckedBounds: (column, end)), scale), toByteOffset: offset,
                as: Float.self)
            column = end
            offset &+= 4
        }
        guard column < width else { return }
        let last = mean(column..<width, 1 / Float((width &- column) &* rows))
        unsafe result.storeBytes(of: last, toByteOffset: offset, as: Float.self)
    }

    /// Reads and writes pixels as 4 samples: the excess belongs to the next pixel, which overwrites
    /// it.
    @inline(always)
    private static func writePixels(
        _ sums: UnsafeRawPointer, _ channelCount: Int, _ width: Int, _ blockWidth: Int,
        _ rows: Int, _ result: UnsafeMutableRawPointer
    ) {
        var (column, offset) = (0, 0)
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
                of: exactFloats(total) * scale, toByteOffset: offset, as: SIMD4<Float>.self)
            offset &+= channelCount &* 4
        }
    }

    /// Converts integers below 2²⁴ to floats exactly; each is a sum of at most 256 × 257 bytes.
    @inline(always)
    private static func exactFloats(_ values: SIMD4<UInt32>) -> SIMD4<Float> {
        // An integer in the low bits of the float 2²³ adds its value.
        let low = unsafe unsafeBitCast(values & 0xFFFF | 0x4B00_0000, to: SIMD4<Float>.self)
        let high = unsafe unsafeBitCast(values &>> 16 | 0x4B00_0000, to: SIMD4<Float>.self)
        return (high - 8_388_608) * 65536 + (low - 8_388_608)
    }
}

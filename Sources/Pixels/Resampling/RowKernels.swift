// SPDX-License-Identifier: Apache-2.0

/// The loops of the resampler, and the only place where it touches memory without a check: every
/// caller sizes its buffers from the same ``ResamplingWeights``.
///
/// The vectors are as wide as every x86-64 and arm64 processor has them.
enum RowKernels {
    /// Turns bytes into numbers.
    @inline(always)
    static func widen(_ source: Span<UInt8>, into result: inout [Float]) {
        let count = source.count
        precondition(result.count >= count, "the result is shorter than the row")
        unsafe source.withUnsafeBufferPointer { source in
            unsafe result.withUnsafeMutableBufferPointer { result in
                for i in 0..<count { unsafe result[i] = Float(source[i]) }
            }
        }
    }

    /// Adds a row of bytes to sums of up to 257 rows.
    @inline(always)
    static func accumulate(_ source: Span<UInt8>, into sums: inout [UInt16]) {
        let count = source.count
        precondition(sums.count >= count, "there are fewer sums than bytes")
        unsafe source.withUnsafeBufferPointer { source in
            unsafe sums.withUnsafeMutableBufferPointer { sums in
                for i in 0..<count { unsafe sums[i] &+= UInt16(source[i]) }
            }
        }
    }

    /// Makes a result row of `resultCount` pixels from a source row, along the row.
    ///
    /// - Parameters:
    ///   - source: interleaved samples, followed by at least `weights.tapStride × 4` numbers.
    ///   - weights: the taps of each result pixel.
    ///   - channelCount: 1, 3 or 4.
    ///   - result: where the row goes, from `offset` on; 4 further numbers may be overwritten.
    ///   - offset: where the result row begins.
    static func horizontal(
        _ source: [Float], _ weights: ResamplingWeights, channelCount: Int,
        into result: inout [Float], at offset: Int
    ) {
        precondition(
            source.count >= (weights.used.upperBound + 4 * weights.tapStride) * channelCount
                && result.count >= offset + weights.first.count * channelCount + 4,
            "a buffer is too short for the weights")
        unsafe source.withUnsafeBytes { source in
            unsafe result.withUnsafeMutableBytes { result in
                unsafe weights.weights.withUnsafeBufferPointer { taps in
                    if channelCount == 1 {
                        unsafe singleChannel(source, weights, taps, result, offset)
                    } else {
                        unsafe vectorChannels(source, weights, taps, channelCount, result, offset)
                    }
                }
            }
        }
    }

    @inline(always)
    private static func singleChannel(
        _ source: UnsafeRawBufferPointer, _ weights: ResamplingWeights,
        _ taps: UnsafeBufferPointer<Float>, _ result: UnsafeMutableRawBufferPointer, _ offset: Int
    ) {
        let tapStride = weights.tapStride
        let tapBytes = UnsafeRawBufferPointer(taps)
        for x in weights.first.indices {
            var sum = SIMD4<Float>.zero
            let first = weights.first[x] * 4
            let row = x * tapStride * 4
            for t in stride(from: 0, to: tapStride * 4, by: 16) {
                sum +=
                    unsafe source.loadUnaligned(fromByteOffset: first + t, as: SIMD4<Float>.self)
                    * tapBytes.loadUnaligned(fromByteOffset: row + t, as: SIMD4<Float>.self)
            }
            unsafe result.storeBytes(
                of: sum.sum(), toByteOffset: (offset + x) * 4, as: Float.self)
        }
    }

    /// A pixel of 3 channels is read and written as 4: the fourth belongs to its neighbour, and
    /// is overwritten when the neighbour's turn comes.
    @inline(always)
    private static func vectorChannels(
        _ source: UnsafeRawBufferPointer, _ weights: ResamplingWeights,
        _ taps: UnsafeBufferPointer<Float>, _ channelCount: Int,
        _ result: UnsafeMutableRawBufferPointer, _ offset: Int
    ) {
        let pixel = channelCount * 4
        for x in weights.first.indices {
            // Four sums, because an addition takes as long as four can be begun.
            var sums = (SIMD4<Float>.zero, SIMD4<Float>.zero, SIMD4<Float>.zero, SIMD4<Float>.zero)
            var place = weights.first[x] * pixel
            var tap = x * weights.tapStride
            let end = tap + (weights.count[x] + 3) / 4 * 4
            while tap < end {
                sums.0 +=
                    unsafe source.loadUnaligned(fromByteOffset: place, as: SIMD4<Float>.self)
                    * taps[tap]
                sums.1 +=
                    unsafe source.loadUnaligned(
                        fromByteOffset: place + pixel, as: SIMD4<Float>.self) * taps[tap + 1]
                sums.2 +=
                    unsafe source.loadUnaligned(
                        fromByteOffset: place + 2 * pixel, as: SIMD4<Float>.self) * taps[tap + 2]
                sums.3 +=
                    unsafe source.loadUnaligned(
                        fromByteOffset: place + 3 * pixel, as: SIMD4<Float>.self) * taps[tap + 3]
                place += 4 * pixel
                tap += 4
            }
            unsafe result.storeBytes(
                of: (sums.0 + sums.1) + (sums.2 + sums.3),
                toByteOffset: offset * 4 + x * pixel, as: SIMD4<Float>.self)
        }
    }

    /// Makes a row of bytes from rows of a ring, across the rows.
    ///
    /// - Parameters:
    ///   - ring: rows of `rowStride` numbers; row *y* of the source is row *y* mod `rowCount`.
    ///   - rowStride: a multiple of 4.
    ///   - rowCount: the rows that the ring holds.
    ///   - weights: the taps of each result row.
    ///   - y: the result row.
    ///   - result: `rowStride` bytes.
    static func vertical(
        _ ring: [Float], rowStride: Int, rowCount: Int,
        _ weights: ResamplingWeights, y: Int, into result: inout [UInt8]
    ) {
        precondition(
            ring.count >= rowStride * rowCount && result.count >= rowStride
                && rowStride % 4 == 0 && rowCount >= weights.count[y],
            "a buffer is too short for the weights")
        let count = weights.count[y]
        let starts = (0..<count).map { (weights.first[y] + $0) % rowCount * rowStride * 4 }
        let row = Array(weights.weights[y * weights.tapStride..<y * weights.tapStride + count])
        unsafe ring.withUnsafeBytes { ring in
            unsafe result.withUnsafeMutableBytes { result in
                unsafe starts.withUnsafeBufferPointer { starts in
                    unsafe row.withUnsafeBufferPointer { row in
                        for x in stride(from: 0, to: rowStride, by: 4) {
                            var sum = SIMD4<Float>.zero
                            for t in 0..<count {
                                sum +=
                                    unsafe ring.loadUnaligned(
                                        fromByteOffset: starts[t] + x * 4, as: SIMD4<Float>.self)
                                    * row[t]
                            }
                            unsafe result.storeBytes(
                                of: quantized(sum), toByteOffset: x, as: SIMD4<UInt8>.self)
                        }
                    }
                }
            }
        }
    }

    /// Makes a row of RGB from rows of luma and of both colour differences.
    ///
    /// - Parameters:
    ///   - planes: the samples of Y, Cb and Cr, each from its own offset on.
    ///   - offsets: where each of the rows begins.
    ///   - width: the samples of each row; the arrays hold 3 more that do not count.
    ///   - result: `width` × 3 bytes, followed by 13 that are overwritten.
    static func convertToRGB(
        _ planes: (y: [UInt8], cb: [UInt8], cr: [UInt8]), at offsets: (Int, Int, Int), width: Int,
        into result: inout [UInt8]
    ) {
        precondition(
            planes.y.count >= offsets.0 + width + 3 && planes.cb.count >= offsets.1 + width + 3
                && planes.cr.count >= offsets.2 + width + 3 && result.count >= width * 3 + 13,
            "a row is too short")
        unsafe planes.y.withUnsafeBytes { luma in
            unsafe planes.cb.withUnsafeBytes { blue in
                unsafe planes.cr.withUnsafeBytes { red in
                    unsafe result.withUnsafeMutableBytes { result in
                        for x in stride(from: 0, to: width, by: 4) {
                            let y = unsafe widened(luma, offsets.0 + x)
                            let cb = unsafe widened(blue, offsets.1 + x) - 128
                            let cr = unsafe widened(red, offsets.2 + x) - 128
                            let pixels =
                                quantizedBits(y + 1.402 * cr)
                                | quantizedBits(y - 0.344_136_286 * cb - 0.714_136_286 * cr) &<< 8
                                | quantizedBits(y + 1.772 * cb) &<< 16
                            // Each fourth byte is overwritten by the pixel that follows.
                            for i in 0..<4 {
                                unsafe result.storeBytes(
                                    of: pixels[i], toByteOffset: (x + i) * 3, as: UInt32.self)
                            }
                        }
                    }
                }
            }
        }
    }

    /// Copies a row behind what an array holds at `offset`.
    @inline(always)
    static func copy(_ source: Span<UInt8>, into result: inout [UInt8], at offset: Int) {
        precondition(result.count >= offset + source.count, "the array is too short")
        unsafe source.withUnsafeBytes { source in
            unsafe result.withUnsafeMutableBytes { result in
                unsafe UnsafeMutableRawBufferPointer(rebasing: result[offset...])
                    .copyMemory(from: source)
            }
        }
    }

    /// Four bytes as numbers.
    @inline(always)
    private static func widened(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> SIMD4<Float> {
        let four = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt8>.self)
        // The bits of 2²³ with a byte in the lowest places are 2²³ and that byte.
        let bits = SIMD4<UInt32>(truncatingIfNeeded: four) | 0x4B00_0000
        return unsafe unsafeBitCast(bits, to: SIMD4<Float>.self) - 8_388_608
    }

    /// The nearest bytes, ties to even.
    @inline(always)
    private static func quantized(_ value: SIMD4<Float>) -> SIMD4<UInt8> {
        SIMD4<UInt8>(truncatingIfNeeded: quantizedBits(value))
    }

    /// The nearest whole numbers from 0 to 255, ties to even.
    @inline(always)
    private static func quantizedBits(_ value: SIMD4<Float>) -> SIMD4<UInt32> {
        // Adding 1.5 × 2²³ leaves the rounded number in the low bits: far cheaper than conversion.
        let positive = value.replacing(with: 0, where: value .< 0)
        let limited = positive.replacing(with: 255, where: positive .> 255)
        let shifted = limited + SIMD4(repeating: 12_582_912)
        return unsafe unsafeBitCast(shifted, to: SIMD4<UInt32>.self) & 0xFF
    }
}

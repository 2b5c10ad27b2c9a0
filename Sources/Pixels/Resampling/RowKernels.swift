// SPDX-License-Identifier: Apache-2.0

/// The loops of the resampler, and the only place where it touches memory without a check: every
/// caller sizes its buffers from the same ``ResamplingWeights``.
///
/// The vectors are as wide as every x86-64 and arm64 processor has them.
enum RowKernels {
    /// Turns bytes into numbers, which go where `offset` says.
    static func widen(_ source: Span<UInt8>, into result: inout [Float], at offset: Int) {
        let count = source.count
        precondition(result.count >= offset + count, "the result is shorter than the row")
        unsafe source.withUnsafeBytes { source in
            unsafe result.withUnsafeMutableBytes { result in
                guard let source = source.baseAddress, let base = result.baseAddress else { return }
                let result = unsafe base + offset * 4
                var i = 0
                while i &+ 4 <= count {
                    unsafe result.storeBytes(
                        of: widened(source, i), toByteOffset: i &* 4, as: SIMD4<Float>.self)
                    i &+= 4
                }
                while i < count {
                    let byte = unsafe source.load(fromByteOffset: i, as: UInt8.self)
                    unsafe result.storeBytes(
                        of: Float(byte), toByteOffset: i &* 4, as: Float.self)
                    i &+= 1
                }
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

    /// Makes a result row of numbers from a source row, along the row.
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
        unsafe Taps.withPointers(source, weights) { row in
            unsafe result.withUnsafeMutableBytes { result in
                guard let base = result.baseAddress else { return }
                let result = unsafe base + offset * 4
                unsafe row.makeRow(channelCount) { sums, index in
                    unsafe result.storeBytes(
                        of: sums, toByteOffset: index &* 4, as: SIMD4<Float>.self)
                }
            }
        }
    }

    /// Makes a result row of bytes from a source row, along the row.
    ///
    /// - Parameters:
    ///   - source: samples, followed by at least `weights.tapStride × 4` pixels.
    ///   - weights: the taps of each result pixel.
    ///   - channelCount: 1, 3 or 4 samples a pixel.
    ///   - result: the row, followed by 4 bytes that may be overwritten.
    static func horizontal(
        _ source: [Float], _ weights: ResamplingWeights, channelCount: Int,
        into result: inout [UInt8]
    ) {
        precondition(
            source.count >= (weights.used.upperBound + 4 * weights.tapStride) * channelCount
                && result.count >= weights.first.count * channelCount + 4,
            "a buffer is too short for the weights")
        unsafe Taps.withPointers(source, weights) { row in
            unsafe result.withUnsafeMutableBytes { result in
                guard let result = result.baseAddress else { return }
                unsafe row.makeRow(channelCount) { sums, index in
                    unsafe result.storeBytes(
                        of: quantized(sums), toByteOffset: index, as: SIMD4<UInt8>.self)
                }
            }
        }
    }

    /// A source row and the weights of the result's pixels.
    @unsafe private struct Taps {
        let source: UnsafeRawPointer
        let taps: UnsafeRawPointer
        let first: UnsafePointer<Int>
        let count: Int
        let tapBytes: Int

        @inline(always)
        static func withPointers(
            _ source: [Float], _ weights: ResamplingWeights, _ body: (Taps) -> Void
        ) {
            unsafe source.withUnsafeBytes { source in
                unsafe weights.weights.withUnsafeBytes { taps in
                    unsafe weights.first.withUnsafeBufferPointer { first in
                        guard let source = source.baseAddress, let taps = taps.baseAddress,
                            let start = first.baseAddress
                        else { return }
                        unsafe body(
                            Taps(
                                source: source, taps: taps, first: start, count: first.count,
                                tapBytes: weights.tapStride * 4))
                    }
                }
            }
        }

        /// Calls `body` with the samples of the result, four at a time, and where they begin.
        ///
        /// A pixel of 3 channels is read and written as 4: the fourth belongs to its neighbour, and
        /// is overwritten when the neighbour's turn comes.
        @inline(always)
        func makeRow(_ channelCount: Int, _ body: (SIMD4<Float>, Int) -> Void) {
            // Constants, so that the compiler makes a loop for each.
            switch channelCount {
            case 1:
                var x = 0
                while unsafe x < count {
                    unsafe body(samples(at: x), x)
                    x &+= 4
                }
            case 3: unsafe makePixels(3, body)
            default: unsafe makePixels(4, body)
            }
        }

        @inline(always)
        private func makePixels(_ channelCount: Int, _ body: (SIMD4<Float>, Int) -> Void) {
            var x = 0
            while unsafe x < count {
                unsafe body(pixel(at: x, byteCount: channelCount &* 4), x &* channelCount)
                x &+= 1
            }
        }

        /// Four samples of the result; those behind the last have no meaning.
        @inline(always)
        func samples(at x: Int) -> SIMD4<Float> {
            let last = unsafe count &- 1
            let (x1, x2, x3) = (min(x &+ 1, last), min(x &+ 2, last), min(x &+ 3, last))
            let (source0, source1) = unsafe (source + first[x] &* 4, source + first[x1] &* 4)
            let (source2, source3) = unsafe (source + first[x2] &* 4, source + first[x3] &* 4)
            let (taps0, taps1) = unsafe (taps + x &* tapBytes, taps + x1 &* tapBytes)
            let (taps2, taps3) = unsafe (taps + x2 &* tapBytes, taps + x3 &* tapBytes)
            var a = SIMD4<Float>.zero
            var b = SIMD4<Float>.zero
            var c = SIMD4<Float>.zero
            var d = SIMD4<Float>.zero
            var t = 0
            while unsafe t < tapBytes {
                a += unsafe four(source0, t) * four(taps0, t)
                b += unsafe four(source1, t) * four(taps1, t)
                c += unsafe four(source2, t) * four(taps2, t)
                d += unsafe four(source3, t) * four(taps3, t)
                t &+= 16
            }
            return pairSums(pairSums(a, b), pairSums(c, d))
        }

        /// A pixel of the result, and a number without meaning if it has 3 channels.
        @inline(always)
        func pixel(at x: Int, byteCount: Int) -> SIMD4<Float> {
            // Four sums, because an addition takes as long as four can be begun.
            var a = SIMD4<Float>.zero
            var b = SIMD4<Float>.zero
            var c = SIMD4<Float>.zero
            var d = SIMD4<Float>.zero
            var place = unsafe source + first[x] &* byteCount
            let row = unsafe taps + x &* tapBytes
            var t = 0
            while unsafe t < tapBytes {
                let weights = unsafe four(row, t)
                a += unsafe four(place, 0) * weights[0]
                b += unsafe four(place, byteCount) * weights[1]
                c += unsafe four(place, byteCount &* 2) * weights[2]
                d += unsafe four(place, byteCount &* 3) * weights[3]
                unsafe place += byteCount &* 4
                t &+= 16
            }
            return (a + b) + (c + d)
        }
    }

    @inline(always)
    private static func four(_ pointer: UnsafeRawPointer, _ offset: Int) -> SIMD4<Float> {
        unsafe pointer.loadUnaligned(fromByteOffset: offset, as: SIMD4<Float>.self)
    }

    /// The sums of neighbours, those of `a` before those of `b`.
    @inline(always)
    private static func pairSums(_ a: SIMD4<Float>, _ b: SIMD4<Float>) -> SIMD4<Float> {
        SIMD4(a[0], a[2], b[0], b[2]) + SIMD4(a[1], a[3], b[1], b[3])
    }

    /// Makes a row of bytes from rows of numbers, across the rows.
    ///
    /// - Parameters:
    ///   - ring: the rows.
    ///   - starts: where each row begins that counts.
    ///   - weights: how much each of them counts, from `offset` on.
    ///   - offset: where the weights begin.
    ///   - columns: the numbers that are made of each row, a multiple of 16 and within it.
    ///   - result: the bytes, in the places of the numbers.
    static func vertical(
        _ ring: [Float], _ starts: ArraySlice<Int>, _ weights: [Float], at offset: Int,
        columns: Range<Int>, into result: inout [UInt8]
    ) {
        precondition(result.count >= columns.upperBound, "the result is too short")
        unsafe Columns.withPointers(ring, starts, weights, at: offset, columns) { rows in
            unsafe result.withUnsafeMutableBytes { result in
                guard let result = result.baseAddress else { return }
                var x = columns.lowerBound
                while x < columns.upperBound {
                    let sums = unsafe rows.sums(at: x)
                    let place = unsafe result + x
                    unsafe place.storeBytes(of: quantized(sums.0), as: SIMD4<UInt8>.self)
                    unsafe (place + 4).storeBytes(of: quantized(sums.1), as: SIMD4<UInt8>.self)
                    unsafe (place + 8).storeBytes(of: quantized(sums.2), as: SIMD4<UInt8>.self)
                    unsafe (place + 12).storeBytes(of: quantized(sums.3), as: SIMD4<UInt8>.self)
                    x &+= 16
                }
            }
        }
    }

    /// The same, but the result is numbers.
    static func vertical(
        _ ring: [Float], _ starts: ArraySlice<Int>, _ weights: [Float], at offset: Int,
        columns: Range<Int>, into result: inout [Float]
    ) {
        precondition(result.count >= columns.upperBound, "the result is too short")
        unsafe Columns.withPointers(ring, starts, weights, at: offset, columns) { rows in
            unsafe result.withUnsafeMutableBytes { result in
                guard let result = result.baseAddress else { return }
                var x = columns.lowerBound
                while x < columns.upperBound {
                    let sums = unsafe rows.sums(at: x)
                    let place = unsafe result + x &* 4
                    unsafe place.storeBytes(of: sums.0, as: SIMD4<Float>.self)
                    unsafe (place + 16).storeBytes(of: sums.1, as: SIMD4<Float>.self)
                    unsafe (place + 32).storeBytes(of: sums.2, as: SIMD4<Float>.self)
                    unsafe (place + 48).storeBytes(of: sums.3, as: SIMD4<Float>.self)
                    x &+= 16
                }
            }
        }
    }

    /// Rows of numbers and how much each counts.
    @unsafe private struct Columns {
        let ring: UnsafeRawPointer
        let starts: UnsafePointer<Int>
        let weights: UnsafePointer<Float>
        let count: Int

        @inline(always)
        static func withPointers(
            _ ring: [Float], _ starts: ArraySlice<Int>, _ weights: [Float], at offset: Int,
            _ columns: Range<Int>, _ body: (Columns) -> Void
        ) {
            precondition(
                columns.lowerBound % 16 == 0 && columns.upperBound % 16 == 0
                    && weights.count >= offset + starts.count
                    && starts.allSatisfy { $0 >= 0 && $0 + columns.upperBound <= ring.count },
                "a buffer is too short for the weights")
            unsafe ring.withUnsafeBytes { ring in
                unsafe starts.withUnsafeBufferPointer { starts in
                    unsafe weights.withUnsafeBufferPointer { weights in
                        guard let ring = ring.baseAddress, let first = starts.baseAddress,
                            let weight = weights.baseAddress
                        else { return }
                        unsafe body(
                            Columns(
                                ring: ring, starts: first, weights: weight + offset,
                                count: starts.count))
                    }
                }
            }
        }

        /// Sixteen sums: each column's numbers by the weights of their rows.
        @inline(always)
        func sums(
            at x: Int
        ) -> (SIMD4<Float>, SIMD4<Float>, SIMD4<Float>, SIMD4<Float>) {
            // Four vectors, because an addition takes as long as four can be begun.
            var a = SIMD4<Float>.zero
            var b = SIMD4<Float>.zero
            var c = SIMD4<Float>.zero
            var d = SIMD4<Float>.zero
            var t = 0
            while unsafe t < count {
                let weight = unsafe SIMD4(repeating: weights[t])
                let place = unsafe ring + (starts[t] &+ x) &* 4
                a += unsafe weight * four(place, 0)
                b += unsafe weight * four(place, 16)
                c += unsafe weight * four(place, 32)
                d += unsafe weight * four(place, 48)
                t &+= 1
            }
            return (a, b, c, d)
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
                        guard let luma = luma.baseAddress, let blue = blue.baseAddress,
                            let red = red.baseAddress, let result = result.baseAddress
                        else { return }
                        var x = 0
                        while x < width {
                            let y = unsafe widened(luma, offsets.0 &+ x)
                            let cb = unsafe widened(blue, offsets.1 &+ x) - 128
                            let cr = unsafe widened(red, offsets.2 &+ x) - 128
                            let pixels =
                                quantizedBits(y + 1.402 * cr)
                                | quantizedBits(y - 0.344_136_286 * cb - 0.714_136_286 * cr) &<< 8
                                | quantizedBits(y + 1.772 * cb) &<< 16
                            // Two pixels a number: one that is taken out of the four by itself
                            // would be worked out by itself.
                            let pairs = unsafe unsafeBitCast(pixels, to: SIMD2<UInt64>.self)
                            let packed = pairs & 0xFF_FFFF | pairs &>> 8 & 0xFFFF_FF00_0000
                            // The two bytes of 0 are overwritten by what follows.
                            let place = unsafe result + x &* 3
                            unsafe place.storeBytes(of: packed[0], as: UInt64.self)
                            unsafe (place + 6).storeBytes(of: packed[1], as: UInt64.self)
                            x &+= 4
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

    /// Moves a part of an array to its beginning.
    static func moveToFront(_ range: Range<Int>, of bytes: inout [UInt8]) {
        precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "no such part")
        unsafe bytes.withUnsafeMutableBytes { bytes in
            unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
    }

    /// Four bytes as numbers.
    @inline(always)
    private static func widened(_ bytes: UnsafeRawPointer, _ offset: Int) -> SIMD4<Float> {
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

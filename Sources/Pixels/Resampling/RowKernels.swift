// SPDX-License-Identifier: Apache-2.0

/// The inner loops of the resampler, the only part of it that accesses memory without bounds checks.
///
/// All buffers are sized from the same ``ResamplingWeights``. Vectors have 128 bits, the width of
/// the baseline instruction sets of x86-64 and arm64.
enum RowKernels {
    /// Rounds floats to bytes, ties to even.
    struct Rounding {
        /// The result for 255 and above, as in ``bits(_:)``.
        ///
        /// A variable: of a constant, the compiler makes four instructions instead of one, because
        /// it also combines it with each operation that follows.
        private var limit = SIMD4<Float>(repeating: 12_582_912 + 255)

        /// Returns the nearest integers from 0 to 255 in the low 16 bits; the high ones are 0x4B40.
        @inline(always)
        fileprivate func bits(_ value: SIMD4<Float>) -> SIMD4<UInt32> {
            // Adding 1.5 × 2²³ leaves the rounded integer in the low bits: much cheaper than
            // conversion.
            let zero = SIMD4<Float>(repeating: 12_582_912)
            let shifted = value + zero
            let positive = zero.replacing(with: shifted, where: shifted .> zero)
            let limited = positive.replacing(with: limit, where: positive .> limit)
            return unsafe unsafeBitCast(limited, to: SIMD4<UInt32>.self)
        }

        /// Returns the nearest bytes.
        @inline(always)
        fileprivate func bytes(_ value: SIMD4<Float>) -> SIMD4<UInt8> {
            SIMD4<UInt8>(truncatingIfNeeded: bits(value) & 0xFF)
        }

        /// Returns the nearest bytes, those of the lowest vector first.
        @inline(always)
        fileprivate func bytes(
            _ values: (SIMD4<Float>, SIMD4<Float>, SIMD4<Float>, SIMD4<Float>)
        ) -> SIMD16<UInt8> {
            let low = SIMD8(lowHalf: bits(values.0), highHalf: bits(values.1)) & 0xFF
            let high = SIMD8(lowHalf: bits(values.2), highHalf: bits(values.3)) & 0xFF
            return SIMD16<UInt8>(truncatingIfNeeded: SIMD16(lowHalf: low, highHalf: high))
        }
    }

    /// Converts bytes to floats and writes them to `result` from `offset`.
    static func widen(_ source: Span<UInt8>, into result: inout [Float], at offset: Int) {
        let count = source.count
        precondition(result.count >= offset + count, "the result is shorter than the row")
        let bytes = unsafe source.bytes
        unsafe result.withUnsafeMutableBytes { result in
            guard let base = result.baseAddress else { return }
            let result = unsafe base + offset * 4
            var i = 0
            while i &+ 4 <= count {
                unsafe result.storeBytes(
                    of: widened(bytes, i), toByteOffset: i &* 4, as: SIMD4<Float>.self)
                i &+= 4
            }
            while i < count {
                let byte = unsafe source[unchecked: i]
                unsafe result.storeBytes(of: Float(byte), toByteOffset: i &* 4, as: Float.self)
                i &+= 1
            }
        }
    }

    /// Adds a row of bytes to the sums of at most 256 earlier rows.
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

    /// Resamples a row horizontally, into floats.
    ///
    /// - Parameters:
    ///   - source: interleaved samples, followed by at least `weights.tapStride × 4` floats.
    ///   - weights: the taps of each result pixel.
    ///   - channelCount: 1, 3 or 4.
    ///   - result: receives the row from `offset`; 4 more floats may be overwritten.
    ///   - offset: the index of the first float to write.
    static func horizontal(
        _ source: [Float], _ weights: ResamplingWeights, channelCount: Int,
        into result: inout [Float], at offset: Int
    ) {
        precondition(
            source.count >= (weights.used.upperBound + 4 * weights.tapStride) * channelCount
                && result.count >= offset + weights.first.count * channelCount + 4,
            "a buffer is too short for the weights")
        let row = Taps(source.span, weights.weights.span, weights.first.span, weights.tapStride)
        unsafe result.withUnsafeMutableBytes { result in
            guard let base = result.baseAddress else { return }
            let result = unsafe base + offset * 4
            row.forEachVector(channelCount) { sums, index in
                unsafe result.storeBytes(
                    of: sums, toByteOffset: index &* 4, as: SIMD4<Float>.self)
            }
        }
    }

    /// Resamples a row horizontally, into bytes.
    ///
    /// - Parameters:
    ///   - source: samples, followed by at least `weights.tapStride × 4` pixels.
    ///   - weights: the taps of each result pixel.
    ///   - channelCount: samples per pixel: 1, 3 or 4.
    ///   - rounding: the conversion to bytes.
    ///   - result: receives the row; 4 more bytes may be overwritten.
    static func horizontal(
        _ source: [Float], _ weights: ResamplingWeights, channelCount: Int, _ rounding: Rounding,
        into result: inout [UInt8]
    ) {
        precondition(
            source.count >= (weights.used.upperBound + 4 * weights.tapStride) * channelCount
                && result.count >= weights.first.count * channelCount + 4,
            "a buffer is too short for the weights")
        let row = Taps(source.span, weights.weights.span, weights.first.span, weights.tapStride)
        unsafe result.withUnsafeMutableBytes { result in
            guard let result = result.baseAddress else { return }
            row.forEachVector(channelCount) { sums, index in
                unsafe result.storeBytes(
                    of: rounding.bytes(sums), toByteOffset: index, as: SIMD4<UInt8>.self)
            }
        }
    }

    /// A source row and the weights of the result's pixels.
    private struct Taps: ~Escapable {
        private let source: RawSpan
        private let weights: RawSpan
        private let first: Span<Int>
        private let bytesPerPixelWeights: Int

        @inline(always)
        @_lifetime(copy source, copy weights, copy first)
        init(
            _ source: Span<Float>, _ weights: Span<Float>, _ first: Span<Int>, _ tapStride: Int
        ) {
            self.source = unsafe source.bytes
            self.weights = unsafe weights.bytes
            self.first = first
            bytesPerPixelWeights = tapStride * 4
        }

        /// Calls `body` with four samples of the result at a time and the index of the first.
        ///
        /// Pixels of 3 channels are read and written as 4 samples: the fourth belongs to the next
        /// pixel, which overwrites it.
        @inline(always)
        func forEachVector(_ channelCount: Int, _ body: (SIMD4<Float>, Int) -> Void) {
            // Constants, so that the compiler specializes the loop for each.
            switch channelCount {
            case 1:
                var x = 0
                while x < first.count {
                    body(samples(at: x), x)
                    x &+= 4
                }
            case 3: forEachPixel(3, body)
            default: forEachPixel(4, body)
            }
        }

        @inline(always)
        private func forEachPixel(_ channelCount: Int, _ body: (SIMD4<Float>, Int) -> Void) {
            var x = 0
            while x < first.count {
                body(pixel(at: x, byteCount: channelCount &* 4), x &* channelCount)
                x &+= 1
            }
        }

        /// Returns the bytes of a pixel's taps from `offset`, without a bounds check.
        @inline(always)
        @_lifetime(copy bytes)
        private func tapBytes(_ bytes: RawSpan, _ offset: Int) -> RawSpan {
            let end = offset &+ bytesPerPixelWeights
            return unsafe bytes.extracting(unchecked: Range(uncheckedBounds: (offset, end)))
        }

        /// Returns four samples of the result; those after the last one are undefined.
        @inline(always)
        private func samples(at x: Int) -> SIMD4<Float> {
            let last = first.count &- 1
            let (x1, x2, x3) = (min(x &+ 1, last), min(x &+ 2, last), min(x &+ 3, last))
            let source0 = unsafe tapBytes(source, first[unchecked: x] &* 4)
            let source1 = unsafe tapBytes(source, first[unchecked: x1] &* 4)
            let source2 = unsafe tapBytes(source, first[unchecked: x2] &* 4)
            let source3 = unsafe tapBytes(source, first[unchecked: x3] &* 4)
            let taps0 = tapBytes(weights, x &* bytesPerPixelWeights)
            let taps1 = tapBytes(weights, x1 &* bytesPerPixelWeights)
            let taps2 = tapBytes(weights, x2 &* bytesPerPixelWeights)
            let taps3 = tapBytes(weights, x3 &* bytesPerPixelWeights)
            var a = SIMD4<Float>.zero
            var b = SIMD4<Float>.zero
            var c = SIMD4<Float>.zero
            var d = SIMD4<Float>.zero
            var t = 0
            while t < bytesPerPixelWeights {
                a += four(source0, t) * four(taps0, t)
                b += four(source1, t) * four(taps1, t)
                c += four(source2, t) * four(taps2, t)
                d += four(source3, t) * four(taps3, t)
                t &+= 16
            }
            return pairSums(pairSums(a, b), pairSums(c, d))
        }

        /// Returns a pixel of the result; with 3 channels, the fourth float is undefined.
        @inline(always)
        private func pixel(at x: Int, byteCount: Int) -> SIMD4<Float> {
            // Four independent sums hide the latency of the additions.
            var a = SIMD4<Float>.zero
            var b = SIMD4<Float>.zero
            var c = SIMD4<Float>.zero
            var d = SIMD4<Float>.zero
            var place = unsafe first[unchecked: x] &* byteCount
            var t = x &* bytesPerPixelWeights
            let end = t &+ bytesPerPixelWeights
            while t < end {
                let taps = four(weights, t)
                a += four(source, place) * taps[0]
                b += four(source, place &+ byteCount) * taps[1]
                c += four(source, place &+ byteCount &* 2) * taps[2]
                d += four(source, place &+ byteCount &* 3) * taps[3]
                place &+= byteCount &* 4
                t &+= 16
            }
            return (a + b) + (c + d)
        }
    }

    /// Returns the four floats at a byte offset, which must be within `bytes`.
    @inline(always)
    private static func four(_ bytes: RawSpan, _ offset: Int) -> SIMD4<Float> {
        unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: SIMD4<Float>.self)
    }

    /// Returns the sums of adjacent floats, those of `a` before those of `b`.
    @inline(always)
    private static func pairSums(_ a: SIMD4<Float>, _ b: SIMD4<Float>) -> SIMD4<Float> {
        SIMD4(a[0], a[2], b[0], b[2]) + SIMD4(a[1], a[3], b[1], b[3])
    }

    /// Resamples rows of floats vertically, into a row of bytes.
    ///
    /// - Parameters:
    ///   - ring: the ring buffer of rows.
    ///   - starts: the index in `ring` of the start of each contributing row.
    ///   - weights: the weight of each contributing row, from `offset`.
    ///   - offset: the index of the first weight.
    ///   - columns: the columns to compute; both bounds are multiples of 16 within a row.
    ///   - rounding: the conversion to bytes.
    ///   - result: receives the bytes, at the indices of `columns`.
    static func vertical(
        _ ring: [Float], _ starts: ArraySlice<Int>, _ weights: [Float], at offset: Int,
        columns: Range<Int>, _ rounding: Rounding, into result: inout [UInt8]
    ) {
        precondition(result.count >= columns.upperBound, "the result is too short")
        let rows = Columns(ring.span, starts.span, weights.span, at: offset, columns)
        unsafe result.withUnsafeMutableBytes { result in
            guard let result = result.baseAddress else { return }
            rows.forEach { sums, x in
                unsafe result.storeBytes(
                    of: rounding.bytes(sums), toByteOffset: x, as: SIMD16<UInt8>.self)
            }
        }
    }

    /// Resamples rows of floats vertically, into a row of floats; see the overload for bytes.
    static func vertical(
        _ ring: [Float], _ starts: ArraySlice<Int>, _ weights: [Float], at offset: Int,
        columns: Range<Int>, into result: inout [Float]
    ) {
        precondition(result.count >= columns.upperBound, "the result is too short")
        let rows = Columns(ring.span, starts.span, weights.span, at: offset, columns)
        unsafe result.withUnsafeMutableBytes { result in
            guard let result = result.baseAddress else { return }
            rows.forEach { sums, x in
                let place = unsafe result + x &* 4
                unsafe place.storeBytes(of: sums.0, as: SIMD4<Float>.self)
                unsafe (place + 16).storeBytes(of: sums.1, as: SIMD4<Float>.self)
                unsafe (place + 32).storeBytes(of: sums.2, as: SIMD4<Float>.self)
                unsafe (place + 48).storeBytes(of: sums.3, as: SIMD4<Float>.self)
            }
        }
    }

    /// Rows of floats and their weights.
    private struct Columns: ~Escapable {
        private let ring: RawSpan
        private let starts: Span<Int>
        private let weights: Span<Float>
        private let columns: Range<Int>

        typealias Sums = (SIMD4<Float>, SIMD4<Float>, SIMD4<Float>, SIMD4<Float>)

        @inline(always)
        @_lifetime(copy ring, copy starts, copy weights)
        init(
            _ ring: Span<Float>, _ starts: Span<Int>, _ weights: Span<Float>, at offset: Int,
            _ columns: Range<Int>
        ) {
            precondition(
                columns.lowerBound % 16 == 0 && columns.upperBound % 16 == 0
                    && starts.indices.allSatisfy {
                        starts[$0] >= 0 && starts[$0] + columns.upperBound <= ring.count
                    },
                "a buffer is too short for the weights")
            self.ring = unsafe ring.bytes
            self.starts = starts
            self.weights = weights.extracting(offset..<offset + starts.count)
            self.columns = columns
        }

        /// Calls `body` with 16 sums at a time and the first of their columns.
        @inline(always)
        func forEach(_ body: (Sums, Int) -> Void) {
            var x = columns.lowerBound
            // Twice as many columns share the loads of weights and starts.
            while x &+ 32 <= columns.upperBound {
                let (left, right) = sums32(at: x)
                body(left, x)
                body(right, x &+ 16)
                x &+= 32
            }
            if x < columns.upperBound { body(sums(at: x), x) }
        }

        /// Returns 16 sums, each of a column's floats times the weights of their rows.
        @inline(always)
        private func sums(at x: Int) -> Sums {
            // Independent sums hide the latency of the additions.
            var sums: Sums = (.zero, .zero, .zero, .zero)
            var t = 0
            while t < starts.count {
                let weight = unsafe SIMD4(repeating: weights[unchecked: t])
                add(weight, unsafe (starts[unchecked: t] &+ x) &* 4, to: &sums)
                t &+= 1
            }
            return sums
        }

        /// Returns the sums of 32 columns.
        @inline(always)
        private func sums32(at x: Int) -> (Sums, Sums) {
            var left: Sums = (.zero, .zero, .zero, .zero)
            var right: Sums = (.zero, .zero, .zero, .zero)
            var t = 0
            while t < starts.count {
                let weight = unsafe SIMD4(repeating: weights[unchecked: t])
                let place = unsafe (starts[unchecked: t] &+ x) &* 4
                add(weight, place, to: &left)
                add(weight, place &+ 64, to: &right)
                t &+= 1
            }
            return (left, right)
        }

        /// Adds 16 floats, times a weight.
        @inline(always)
        private func add(_ weight: SIMD4<Float>, _ place: Int, to sums: inout Sums) {
            sums.0 += weight * four(ring, place)
            sums.1 += weight * four(ring, place &+ 16)
            sums.2 += weight * four(ring, place &+ 32)
            sums.3 += weight * four(ring, place &+ 48)
        }
    }

    /// Converts rows of Y′, Cb and Cr to a row of RGB by JFIF's matrix (T.871, section 7).
    ///
    /// - Parameters:
    ///   - planes: the samples of Y′, Cb and Cr, each from its own offset.
    ///   - offsets: the index of the first sample of each row.
    ///   - width: the number of samples; each array contains 3 more, which are ignored.
    ///   - rounding: the conversion to bytes.
    ///   - result: receives `width` × 3 bytes; 13 more are overwritten.
    static func convertToRGB(
        _ planes: (y: [UInt8], cb: [UInt8], cr: [UInt8]), at offsets: (Int, Int, Int), width: Int,
        _ rounding: Rounding, into result: inout [UInt8]
    ) {
        precondition(
            planes.y.count >= offsets.0 + width + 3 && planes.cb.count >= offsets.1 + width + 3
                && planes.cr.count >= offsets.2 + width + 3 && result.count >= width * 3 + 13,
            "a row is too short")
        let luma = unsafe planes.y.span.bytes
        let blue = unsafe planes.cb.span.bytes
        let red = unsafe planes.cr.span.bytes
        unsafe result.withUnsafeMutableBytes { result in
            guard let result = result.baseAddress else { return }
            var x = 0
            while x < width {
                let y = widened(luma, offsets.0 &+ x)
                let cb = widened(blue, offsets.1 &+ x) - 128
                let cr = widened(red, offsets.2 &+ x) - 128
                let sums =
                    rounding.bits(y + 1.402 * cr)
                    &+ rounding.bits(y - 0.344_136_286 * cb - 0.714_136_286 * cr) &<< 8
                    &+ rounding.bits(y + 1.772 * cb) &<< 16
                // Without the sum of the high bits.
                let pixels = sums &- 0x8B40_0000
                // Pairs of pixels, because extracting single elements would make the compiler
                // compute each of them separately.
                let pairs = unsafe unsafeBitCast(pixels, to: SIMD2<UInt64>.self)
                let packed = pairs & 0xFF_FFFF | pairs &>> 8 & 0xFFFF_FF00_0000
                // The two zero bytes are overwritten by the next store.
                let place = unsafe result + x &* 3
                unsafe place.storeBytes(of: packed[0], as: UInt64.self)
                unsafe (place + 6).storeBytes(of: packed[1], as: UInt64.self)
                x &+= 4
            }
        }
    }

    /// Copies a row into an array from `offset`.
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

    /// Moves a range of an array to its start.
    static func moveToFront(_ range: Range<Int>, of bytes: inout [UInt8]) {
        precondition(
            range.lowerBound >= 0 && range.upperBound <= bytes.count,
            "range \(range) exceeds the array of \(bytes.count) bytes")
        unsafe bytes.withUnsafeMutableBytes { bytes in
            unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
    }

    /// Returns four bytes as floats; they must be within `bytes`.
    @inline(always)
    private static func widened(_ bytes: RawSpan, _ offset: Int) -> SIMD4<Float> {
        let four = unsafe bytes.unsafeLoadUnaligned(
            fromUncheckedByteOffset: offset, as: SIMD4<UInt8>.self)
        // A byte in the low bits of the float 2²³ adds its value.
        let bits = SIMD4<UInt32>(truncatingIfNeeded: four) | 0x4B00_0000
        return unsafe unsafeBitCast(bits, to: SIMD4<Float>.self) - 8_388_608
    }
}

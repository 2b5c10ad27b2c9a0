// SPDX-License-Identifier: Apache-2.0

#if JPEG
    /// The coefficients that are kept of a row of blocks, and what they become.
    ///
    /// Of each block the lowest *n* × *n* coefficients are kept, *n* being 1, 2, 4 or 8, and go through
    /// an *n*-point inverse cosine transform. Compared with a full transform and a reduction
    /// afterwards this is the reduction: the frequencies that the smaller picture cannot hold are
    /// exactly those that are left out.
    ///
    ///     sample(i, j) = 128 + ⅛ · Σ(u, v) B(u, i) · B(v, j) · coefficient(u, v)
    ///     B(0, i) = 1,  B(u, i) = √2 · cos((2i + 1)uπ / 2n)
    ///
    /// Each coefficient has an array of its own with an element a block, so that the transform
    /// works on as many blocks at a time as a register holds.
    struct LowFrequencyRow {
        /// n: the samples across and down that a block becomes.
        let blockSide: Int
        /// Room for the blocks of a row, in whole vectors.
        let stride: Int
        /// Where the arrays begin in a buffer that several rows share.
        let start: Int
        /// What the coefficients are multiplied with, in natural order; an eighth of the file's.
        private let factors: [Float]

        private typealias Vector = SIMD8<Float>

        /// - Parameters:
        ///   - blockSide: n, which is 1, 2, 4 or 8.
        ///   - blockCount: the blocks of the row.
        ///   - quantization: 64 factors in zigzag order.
        ///   - start: where the arrays begin in a buffer that several rows share.
        init(blockSide: Int, blockCount: Int, quantization: [UInt16], start: Int) {
            self.blockSide = blockSide
            self.start = start
            var factors = [Float](repeating: 0, count: blockSide * blockSide)
            for (index, factor) in quantization.enumerated() {
                let (row, column) = (ZigzagOrder.rows[index], ZigzagOrder.columns[index])
                guard row < blockSide, column < blockSide else { continue }
                factors[row * blockSide + column] = Float(factor) / 8
            }
            self.factors = factors
            stride = Self.stride(blockCount)
        }

        /// The numbers in the buffer: n² arrays, and one for what is dropped.
        var count: Int { (blockSide * blockSide + 1) * stride }

        /// The samples that the blocks become.
        var sampleCount: Int { blockSide * blockSide * stride }

        /// The position in zigzag order of the last coefficient that is kept.
        var lastKept: Int { [1: 0, 2: 4, 4: 24][blockSide] ?? 63 }

        /// Where the array of a coefficient begins behind ``start``, by its place in zigzag order.
        func offset(ofZigzag index: Int) -> Int {
            let isKept =
                index < 64 && ZigzagOrder.rows[index] < blockSide
                && ZigzagOrder.columns[index] < blockSide
            let array =
                isKept
                ? ZigzagOrder.rows[index] * blockSide + ZigzagOrder.columns[index]
                : blockSide * blockSide
            return array * stride
        }

        /// The room for so many blocks: a whole number of vectors.
        static func stride(_ blockCount: Int) -> Int {
            (blockCount + Vector.scalarCount - 1) / Vector.scalarCount * Vector.scalarCount
        }

        /// Makes the samples of the row.
        ///
        /// - Parameters:
        ///   - coefficients: the buffer in which the arrays are.
        ///   - samples: takes ``blockSide`` rows of ``blockSide`` × ``stride`` bytes.
        func makeSamples(from coefficients: [Int16], into samples: inout [UInt8]) {
            precondition(
                coefficients.count >= start + count && samples.count >= sampleCount,
                "a buffer is too short")
            unsafe coefficients.withUnsafeBufferPointer { coefficients in
                unsafe factors.withUnsafeBufferPointer { factors in
                    unsafe samples.withUnsafeMutableBytes { target in
                        guard let first = coefficients.baseAddress,
                            let factors = factors.baseAddress
                        else { return }
                        let source = unsafe Source(
                            coefficients: first + start, factors: factors, stride: stride)
                        var x = 0
                        while x < stride {
                            switch blockSide {
                            case 1: unsafe one(source, target, x)
                            case 2: unsafe two(source, target, x)
                            case 4: unsafe four(source, target, x)
                            default: unsafe eight(source, target, x)
                            }
                            x &+= Vector.scalarCount
                        }
                    }
                }
            }
        }

        /// The arrays of a row, and what their numbers are multiplied with.
        @unsafe private struct Source {
            let coefficients: UnsafePointer<Int16>
            let factors: UnsafePointer<Float>
            let stride: Int
        }

        @inline(always)
        private func numbers(_ source: Source, _ slot: Int, _ x: Int) -> SIMD8<Int16> {
            let place = unsafe source.coefficients + (slot &* source.stride &+ x)
            return unsafe UnsafeRawPointer(place).loadUnaligned(as: SIMD8<Int16>.self)
        }

        @inline(always)
        private func load(_ source: Source, _ slot: Int, _ x: Int) -> Vector {
            let numbers = unsafe numbers(source, slot, x)
            // As part of a float's bits a number is that float and 1.5 × 2²³, without a conversion.
            let bits = SIMD8<Int32>(truncatingIfNeeded: numbers) &+ 0x4B40_0000
            return unsafe (unsafeBitCast(bits, to: Vector.self) - 12_582_912)
                * source.factors[slot]
        }

        /// The first coefficients, with what lifts all samples: the 128 of the formula above, and
        /// 1/32 so that halves go up as in libjpeg.
        @inline(always)
        private func loadFirst(_ source: Source, _ x: Int) -> Vector {
            unsafe load(source, 0, x) + (128 + 1 / 32)
        }

        @inline(always)
        private func one(
            _ source: Source, _ target: UnsafeMutableRawBufferPointer, _ x: Int
        ) {
            let bytes = SIMD8<UInt8>(truncatingIfNeeded: quantized(unsafe loadFirst(source, x)))
            unsafe target.storeBytes(of: bytes, toByteOffset: x, as: SIMD8<UInt8>.self)
        }

        @inline(always)
        private func two(
            _ source: Source, _ target: UnsafeMutableRawBufferPointer, _ x: Int
        ) {
            let (a, b) = unsafe (loadFirst(source, x), load(source, 1, x))
            let (c, d) = unsafe (load(source, 2, x), load(source, 3, x))
            let (left, right) = (a + b, a - b)
            let (leftChange, rightChange) = (c + d, c - d)
            let upper = quantized(left + leftChange) | quantized(right + rightChange) &<< 8
            let lower = quantized(left - leftChange) | quantized(right - rightChange) &<< 8
            unsafe target.storeBytes(
                of: SIMD8<UInt16>(truncatingIfNeeded: upper), toByteOffset: x * 2,
                as: SIMD8<UInt16>.self)
            unsafe target.storeBytes(
                of: SIMD8<UInt16>(truncatingIfNeeded: lower), toByteOffset: (stride + x) * 2,
                as: SIMD8<UInt16>.self)
        }

        @inline(always)
        private func four(
            _ source: Source, _ target: UnsafeMutableRawBufferPointer, _ x: Int
        ) {
            var columns: (Four, Four, Four, Four)
            columns.0 = unsafe inverse(
                loadFirst(source, x), load(source, 4, x), load(source, 8, x), load(source, 12, x))
            columns.1 = unsafe inverse(
                load(source, 1, x), load(source, 5, x), load(source, 9, x), load(source, 13, x))
            columns.2 = unsafe inverse(
                load(source, 2, x), load(source, 6, x), load(source, 10, x), load(source, 14, x))
            columns.3 = unsafe inverse(
                load(source, 3, x), load(source, 7, x), load(source, 11, x), load(source, 15, x))
            unsafe store(
                inverse(columns.0.0, columns.1.0, columns.2.0, columns.3.0), target, 0, x)
            unsafe store(
                inverse(columns.0.1, columns.1.1, columns.2.1, columns.3.1), target, 1, x)
            unsafe store(
                inverse(columns.0.2, columns.1.2, columns.2.2, columns.3.2), target, 2, x)
            unsafe store(
                inverse(columns.0.3, columns.1.3, columns.2.3, columns.3.3), target, 3, x)
        }

        /// All 64 coefficients, which colour of half the resolution can need.
        @inline(never)
        private func eight(
            _ source: Source, _ target: UnsafeMutableRawBufferPointer, _ x: Int
        ) {
            if unsafe isLow(source, x) {
                unsafe eight(source, target, x, count: 4)
            } else {
                unsafe eight(source, target, x, count: 8)
            }
        }

        /// Whether none of the blocks has more than the lowest 4 × 4, as most colour does.
        @inline(always)
        private func isLow(_ source: Source, _ x: Int) -> Bool {
            var any = SIMD8<Int16>.zero
            for v in 0..<8 {
                for u in (v < 4 ? 4 : 0)..<8 { any |= unsafe numbers(source, v * 8 + u, x) }
            }
            return any == .zero
        }

        /// - Parameters:
        ///   - source: the coefficients.
        ///   - target: takes the samples.
        ///   - x: the first of the blocks.
        ///   - count: 8, or 4 if only the lowest 4 × 4 are not 0.
        @inline(always)
        private func eight(
            _ source: Source, _ target: UnsafeMutableRawBufferPointer, _ x: Int, count: Int
        ) {
            unsafe withUnsafeTemporaryAllocation(of: Vector.self, capacity: 8 * count) { columns in
                for u in 0..<count {
                    let first = u == 0 ? unsafe loadFirst(source, x) : unsafe load(source, u, x)
                    let column =
                        count == 4
                        ? unsafe inverse(
                            first, load(source, 8 + u, x), load(source, 16 + u, x),
                            load(source, 24 + u, x))
                        : unsafe inverse(
                            (
                                first, load(source, 16 + u, x), load(source, 32 + u, x),
                                load(source, 48 + u, x)
                            ),
                            (
                                load(source, 8 + u, x), load(source, 24 + u, x),
                                load(source, 40 + u, x), load(source, 56 + u, x)
                            ))
                    let (upper, lower) = column
                    unsafe (columns[u], columns[count + u]) = (upper.0, upper.1)
                    unsafe (columns[2 * count + u], columns[3 * count + u]) = (upper.2, upper.3)
                    unsafe (columns[4 * count + u], columns[5 * count + u]) = (lower.0, lower.1)
                    unsafe (columns[6 * count + u], columns[7 * count + u]) = (lower.2, lower.3)
                }
                for j in 0..<8 {
                    let row = unsafe UnsafeMutableBufferPointer(
                        rebasing: columns[j * count..<(j + 1) * count])
                    let (left, right) =
                        count == 4
                        ? unsafe inverse(row[0], row[1], row[2], row[3])
                        : unsafe inverse(
                            (row[0], row[2], row[4], row[6]), (row[1], row[3], row[5], row[7]))
                    var samples = SIMD16<UInt32>()
                    samples.evenHalf = packed(left)
                    samples.oddHalf = packed(right)
                    unsafe target.storeBytes(
                        of: samples, toByteOffset: (j * stride + x) * 8, as: SIMD16<UInt32>.self)
                }
            }
        }

        /// Eight points from the coefficients of even and of odd number.
        ///
        /// Those of even number are four points, and the same for the second half in reverse; those
        /// of odd number change their sign there.
        @inline(always)
        private func inverse(_ even: Four, _ odd: Four) -> (Four, Four) {
            let sums: Four = inverse(even.0, even.1, even.2, even.3)
            let (c1, c3, c5, c7) = Self.cosines
            let (f1, f3, f5, f7) = odd
            let d0 = f1 * c1 + f3 * c3 + f5 * c5 + f7 * c7
            let d1 = f1 * c3 - f3 * c7 - f5 * c1 - f7 * c5
            let d2 = f1 * c5 - f3 * c1 + f5 * c7 + f7 * c3
            let d3 = f1 * c7 - f3 * c5 + f5 * c3 - f7 * c1
            return (
                (sums.0 + d0, sums.1 + d1, sums.2 + d2, sums.3 + d3),
                (sums.3 - d3, sums.2 - d2, sums.1 - d1, sums.0 - d0)
            )
        }

        /// Eight points from the lowest four coefficients.
        @inline(always)
        private func inverse(
            _ f0: Vector, _ f1: Vector, _ f2: Vector, _ f3: Vector
        ) -> (Four, Four) {
            let sums: Four = inverse(f0, f2, .zero, .zero)
            let (c1, c3, c5, c7) = Self.cosines
            let (d0, d1) = (f1 * c1 + f3 * c3, f1 * c3 - f3 * c7)
            let (d2, d3) = (f1 * c5 - f3 * c1, f1 * c7 - f3 * c5)
            return (
                (sums.0 + d0, sums.1 + d1, sums.2 + d2, sums.3 + d3),
                (sums.3 - d3, sums.2 - d2, sums.1 - d1, sums.0 - d0)
            )
        }

        /// √2 · cos(uπ / 16), u being 1, 3, 5, 7.
        @inline(always)
        private static var cosines: (Float, Float, Float, Float) {
            (
                1.387_039_845_322_147_5, 1.175_875_602_419_359, 0.785_694_958_387_102_2,
                0.275_899_379_282_943_1
            )
        }

        private typealias Four = (Vector, Vector, Vector, Vector)

        /// Four points; B(2, i) is ±1, so two factors are all there is.
        @inline(always)
        private func inverse(_ f0: Vector, _ f1: Vector, _ f2: Vector, _ f3: Vector) -> Four {
            let long: Float = 1.306_562_964_876_376_5  // √2 · cos(π / 8)
            let short: Float = 0.541_196_100_146_197  // √2 · cos(3π / 8)
            let (outer, inner) = (f0 + f2, f0 - f2)
            let (outerChange, innerChange) = (f1 * long + f3 * short, f1 * short - f3 * long)
            return (
                outer + outerChange, inner + innerChange, inner - innerChange, outer - outerChange
            )
        }

        @inline(always)
        private func store(
            _ row: Four, _ target: UnsafeMutableRawBufferPointer, _ j: Int, _ x: Int
        ) {
            unsafe target.storeBytes(
                of: packed(row), toByteOffset: (j * stride + x) * 4, as: SIMD8<UInt32>.self)
        }

        /// Four samples of each block side by side.
        @inline(always)
        private func packed(_ row: Four) -> SIMD8<UInt32> {
            let left = quantized(row.0) | quantized(row.1) &<< 8
            return left | quantized(row.2) &<< 16 | quantized(row.3) &<< 24
        }

        /// The nearest byte of each.
        @inline(always)
        private func quantized(_ value: Vector) -> SIMD8<UInt32> {
            let positive = value.replacing(with: 0, where: value .< 0)
            // Adding 1.5 × 2²³ leaves the rounded number in the low bits.
            let bits = unsafe unsafeBitCast(positive + 12_582_912, to: SIMD8<Int32>.self)
            // All ones for what is above 255.
            let excess = (0x4B40_00FF &- bits) &>> 31
            return unsafe unsafeBitCast((bits | excess) & 255, to: SIMD8<UInt32>.self)
        }
    }

    /// The order in which a block's coefficients stand in a file (ITU-T T.81, figure 5).
    enum ZigzagOrder {
        static let rows = order.map(\.row)
        static let columns = order.map(\.column)

        private static let order: [(row: Int, column: Int)] = (0..<15).flatMap { sum in
            let line = (max(0, sum - 7)...min(sum, 7)).map { (row: $0, column: sum - $0) }
            return sum % 2 == 0 ? line.reversed() : line
        }
    }
#endif

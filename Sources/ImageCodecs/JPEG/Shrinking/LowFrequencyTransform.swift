// SPDX-License-Identifier: Apache-2.0

#if JPEG
/// The kept coefficients of a row of blocks, and their inverse transform (IDCT, T.81 A.3.3).
///
/// Of each block the lowest *n* × *n* coefficients are kept, *n* being 1, 2, 4 or 8, and pass
/// through an *n*-point inverse cosine transform. This transform is the reduction: the
/// frequencies that the smaller image cannot represent are exactly those that are dropped.
///
///     sample(i, j) = 128 + ⅛ · Σ(u, v) B(u, i) · B(v, j) · coefficient(u, v)
///     B(0, i) = 1,  B(u, i) = √2 · cos((2i + 1)uπ / 2n)
///
/// Each coefficient has an array with one element for each block, so that the transform
/// processes a vector of blocks at a time: four blocks with an even index, then those with an odd
/// one. These are the halves of the words of a vector, from which operations on vectors take them;
/// conversions of single elements would lead the compiler to shuffle them.
struct LowFrequencyRow {
    /// The side *n* of the *n* × *n* samples to which a block is decoded.
    let blockSide: Int
    /// The number of blocks of a row, rounded up to complete vectors.
    let stride: Int
    /// Where the arrays begin in a buffer that several rows share.
    let start: Int
    /// The quantization factors in natural order, divided by 8.
    private let factors: [Vector]
    private var numbers = Numbers()

    private typealias Vector = SIMD4<Float>
    private typealias Words = SIMD4<UInt32>
    private typealias Four = (Vector, Vector, Vector, Vector)

    /// The constants of the transform.
    ///
    /// Variables: of constants, the compiler makes several times as many instructions. It moves
    /// those to each operation that follows a clamp, and combines products with each other.
    private struct Numbers {
        /// The largest sample, as a result of ``rounded(_:)``.
        var limit = Vector(repeating: 12_582_912 + 255)
        /// √2 · cos(π / 8).
        var long = Vector(repeating: 1.306_562_964_876_376_5)
        /// √2 · cos(3π / 8).
        var short = Vector(repeating: 0.541_196_100_146_197)
        /// √2 · cos(uπ / 16), u being 1, 3, 5, 7.
        var cosines = (
            Vector(repeating: 1.387_039_845_322_147_5),
            Vector(repeating: 1.175_875_602_419_359),
            Vector(repeating: 0.785_694_958_387_102_2),
            Vector(repeating: 0.275_899_379_282_943_1)
        )
    }

    /// The number of blocks that are transformed at a time.
    private static let blocksAtOnce = 8

    /// Creates the layout of a row.
    ///
    /// - Parameters:
    ///   - blockSide: the side *n*: 1, 2, 4 or 8.
    ///   - blockCount: the number of blocks in the row.
    ///   - quantization: the quantization table in zigzag order.
    ///   - start: the offset of the arrays in a buffer that several rows share.
    init(blockSide: Int, blockCount: Int, quantization: [UInt16], start: Int) {
        self.blockSide = blockSide
        self.start = start
        var factors = [Vector](repeating: .zero, count: blockSide * blockSide)
        for (index, factor) in quantization.enumerated() {
            let (row, column) = (ZigzagOrder.rows[index], ZigzagOrder.columns[index])
            guard row < blockSide, column < blockSide else { continue }
            factors[row * blockSide + column] = Vector(repeating: Float(factor) / 8)
        }
        self.factors = factors
        stride = Self.stride(blockCount)
    }

    /// The number of elements in the buffer: *n*² arrays, and one for dropped coefficients.
    var count: Int { (blockSide * blockSide + 1) * stride }

    /// The number of samples of the row.
    var sampleCount: Int { blockSide * blockSide * stride }

    /// The zigzag index of the last kept coefficient.
    var lastKept: Int { [1: 0, 2: 4, 4: 24][blockSide] ?? 63 }

    /// Returns the offset of the array of a coefficient from ``start``, by zigzag index.
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

    /// Returns the number of blocks rounded up to complete vectors.
    static func stride(_ blockCount: Int) -> Int {
        (blockCount + blocksAtOnce - 1) / blocksAtOnce * blocksAtOnce
    }

    /// Transforms the coefficients into samples.
    ///
    /// - Parameters:
    ///   - coefficients: the buffer with the arrays.
    ///   - samples: receives ``blockSide`` rows of ``blockSide`` × ``stride`` bytes.
    func makeSamples(from coefficients: [Int16], into samples: inout [UInt8]) {
        precondition(
            coefficients.count >= start + count && samples.count >= sampleCount,
            "a buffer is too short")
        unsafe coefficients.withUnsafeBufferPointer { coefficients in
            unsafe samples.withUnsafeMutableBytes { target in
                guard let first = coefficients.baseAddress else { return }
                unsafe makeSamples(first + start, target)
            }
        }
    }

    @unsafe private func makeSamples(
        _ coefficients: UnsafePointer<Int16>, _ target: UnsafeMutableRawBufferPointer
    ) {
        unsafe factors.withUnsafeBufferPointer { factors in
            guard let factors = factors.baseAddress else { return }
            let source = unsafe Source(
                coefficients: coefficients, factors: factors, stride: stride)
            var x = 0
            while x < stride {
                switch blockSide {
                case 1: unsafe idct1(source, target, x)
                case 2: unsafe idct2(source, target, x)
                case 4: unsafe idct4(source, target, x)
                default: unsafe idct8(source, target, x)
                }
                x &+= Self.blocksAtOnce
            }
        }
    }

    /// The arrays of a row and their quantization factors.
    @unsafe private struct Source {
        let coefficients: UnsafePointer<Int16>
        let factors: UnsafePointer<Vector>
        let stride: Int
    }

    /// Which of the eight blocks at a time.
    private enum Half { case even, odd }

    /// Returns the coefficients of eight blocks; those of blocks with an odd index are the high halves.
    @inline(always)
    private func words(_ source: Source, _ slot: Int, _ x: Int) -> Words {
        let place = unsafe source.coefficients + (slot &* source.stride &+ x)
        return unsafe UnsafeRawPointer(place).loadUnaligned(as: Words.self)
    }

    @inline(always)
    private func load(_ source: Source, _ slot: Int, _ x: Int, _ half: Half) -> Vector {
        let words = unsafe words(source, slot, x)
        let values = half == .even ? words & 0xFFFF : words &>> 16
        // Conversion without an instruction: an unsigned integer in the low bits of the float 2²³
        // adds to it. The sign bit is inverted, which adds 2¹⁵.
        let bits = values ^ 0x4B00_8000
        return unsafe (unsafeBitCast(bits, to: Vector.self) - 8_421_376) * source.factors[slot]
    }

    /// Returns the DC coefficients, with the level shift of 128 (T.81 A.3.1) and 1/32, so that
    /// halves round up as in libjpeg.
    @inline(always)
    private func loadFirst(_ source: Source, _ x: Int, _ half: Half) -> Vector {
        unsafe load(source, 0, x, half) + (128 + 1 / 32)
    }

    @inline(always)
    private func idct1(
        _ source: Source, _ target: UnsafeMutableRawBufferPointer, _ x: Int
    ) {
        let (even, odd) = unsafe (loadFirst(source, x, .even), loadFirst(source, x, .odd))
        let bytes = SIMD4<UInt16>(truncatingIfNeeded: rounded(even) &+ rounded(odd) &<< 8)
        unsafe target.storeBytes(of: bytes, toByteOffset: x, as: SIMD4<UInt16>.self)
    }

    @inline(always)
    private func idct2(
        _ source: Source, _ target: UnsafeMutableRawBufferPointer, _ x: Int
    ) {
        let even = unsafe points2(source, x, .even)
        let odd = unsafe points2(source, x, .odd)
        unsafe target.storeBytes(
            of: packed(even.0, even.1, odd.0, odd.1), toByteOffset: x &* 2, as: Words.self)
        unsafe target.storeBytes(
            of: packed(even.2, even.3, odd.2, odd.3), toByteOffset: (stride &+ x) &* 2,
            as: Words.self)
    }

    /// Returns the points of the upper row, then those of the lower row.
    @inline(always)
    private func points2(_ source: Source, _ x: Int, _ half: Half) -> Four {
        let (a, b) = unsafe (loadFirst(source, x, half), load(source, 1, x, half))
        let (c, d) = unsafe (load(source, 2, x, half), load(source, 3, x, half))
        let (left, right) = (a + b, a - b)
        let (leftChange, rightChange) = (c + d, c - d)
        return (
            left + leftChange, right + rightChange, left - leftChange, right - rightChange
        )
    }

    @inline(always)
    private func idct4(
        _ source: Source, _ target: UnsafeMutableRawBufferPointer, _ x: Int
    ) {
        let even = unsafe rows4(source, x, .even)
        let odd = unsafe rows4(source, x, .odd)
        unsafe store(even.0, odd.0, target, 0, x)
        unsafe store(even.1, odd.1, target, 1, x)
        unsafe store(even.2, odd.2, target, 2, x)
        unsafe store(even.3, odd.3, target, 3, x)
    }

    /// Returns the samples of each of four rows.
    @inline(always)
    private func rows4(
        _ source: Source, _ x: Int, _ half: Half
    ) -> (Words, Words, Words, Words) {
        var columns: (Four, Four, Four, Four)
        columns.0 = unsafe inverse(
            loadFirst(source, x, half), load(source, 4, x, half), load(source, 8, x, half),
            load(source, 12, x, half))
        columns.1 = unsafe inverse(
            load(source, 1, x, half), load(source, 5, x, half), load(source, 9, x, half),
            load(source, 13, x, half))
        columns.2 = unsafe inverse(
            load(source, 2, x, half), load(source, 6, x, half), load(source, 10, x, half),
            load(source, 14, x, half))
        columns.3 = unsafe inverse(
            load(source, 3, x, half), load(source, 7, x, half), load(source, 11, x, half),
            load(source, 15, x, half))
        return (
            packed(inverse(columns.0.0, columns.1.0, columns.2.0, columns.3.0)),
            packed(inverse(columns.0.1, columns.1.1, columns.2.1, columns.3.1)),
            packed(inverse(columns.0.2, columns.1.2, columns.2.2, columns.3.2)),
            packed(inverse(columns.0.3, columns.1.3, columns.2.3, columns.3.3))
        )
    }

    @inline(always)
    private func store(
        _ even: Words, _ odd: Words, _ target: UnsafeMutableRawBufferPointer, _ j: Int, _ x: Int
    ) {
        var samples = SIMD8<UInt32>()
        samples.evenHalf = even
        samples.oddHalf = odd
        unsafe target.storeBytes(
            of: samples, toByteOffset: (j &* stride &+ x) &* 4, as: SIMD8<UInt32>.self)
    }

    /// All 64 coefficients, which chroma at half resolution can need.
    @inline(never)
    private func idct8(
        _ source: Source, _ target: UnsafeMutableRawBufferPointer, _ x: Int
    ) {
        if unsafe hasOnlyLow4x4(source, x) {
            unsafe idct8(source, target, x, count: 4)
        } else {
            unsafe idct8(source, target, x, count: 8)
        }
    }

    /// Returns whether all blocks have only the lowest 4 × 4 coefficients, as is common for
    /// chroma.
    @inline(always)
    private func hasOnlyLow4x4(_ source: Source, _ x: Int) -> Bool {
        var any = Words.zero
        for v in 0..<8 {
            for u in (v < 4 ? 4 : 0)..<8 { any |= unsafe words(source, v * 8 + u, x) }
        }
        return any == .zero
    }

    /// Transforms eight blocks.
    ///
    /// - Parameters:
    ///   - source: the coefficients.
    ///   - target: receives the samples.
    ///   - x: the first of the blocks.
    ///   - count: 8, or 4 if only the lowest 4 × 4 coefficients are nonzero.
    @inline(always)
    private func idct8(
        _ source: Source, _ target: UnsafeMutableRawBufferPointer, _ x: Int, count: Int
    ) {
        unsafe withUnsafeTemporaryAllocation(of: Vector.self, capacity: 16 * count) { columns in
            guard let columns = columns.baseAddress else { return }
            unsafe makeColumns(source, x, .even, columns, count: count)
            unsafe makeColumns(source, x, .odd, columns + 8 * count, count: count)
            for j in 0..<8 {
                var samples = SIMD8<UInt64>()
                unsafe samples.evenHalf = makeRow(columns + j * count, count: count)
                unsafe samples.oddHalf = makeRow(columns + (8 + j) * count, count: count)
                unsafe target.storeBytes(
                    of: samples, toByteOffset: (j &* stride &+ x) &* 8, as: SIMD8<UInt64>.self)
            }
        }
    }

    /// Transforms the columns of blocks; writes `count` points of each of eight rows.
    @inline(always)
    private func makeColumns(
        _ source: Source, _ x: Int, _ half: Half, _ points: UnsafeMutablePointer<Vector>,
        count: Int
    ) {
        for u in 0..<count {
            let first = u == 0 ? unsafe loadFirst(source, x, half) : unsafe load(source, u, x, half)
            let (upper, lower) =
                count == 4
                ? unsafe inverse(
                    first, load(source, 8 + u, x, half), load(source, 16 + u, x, half),
                    load(source, 24 + u, x, half))
                : unsafe inverse(
                    (
                        first, load(source, 16 + u, x, half), load(source, 32 + u, x, half),
                        load(source, 48 + u, x, half)
                    ),
                    (
                        load(source, 8 + u, x, half), load(source, 24 + u, x, half),
                        load(source, 40 + u, x, half), load(source, 56 + u, x, half)
                    ))
            unsafe (points[u], points[count + u]) = (upper.0, upper.1)
            unsafe (points[2 * count + u], points[3 * count + u]) = (upper.2, upper.3)
            unsafe (points[4 * count + u], points[5 * count + u]) = (lower.0, lower.1)
            unsafe (points[6 * count + u], points[7 * count + u]) = (lower.2, lower.3)
        }
    }

    /// Transforms a row of four blocks to eight samples of each.
    @inline(always)
    private func makeRow(_ row: UnsafeMutablePointer<Vector>, count: Int) -> SIMD4<UInt64> {
        let (left, right) =
            count == 4
            ? unsafe inverse(row[0], row[1], row[2], row[3])
            : unsafe inverse((row[0], row[2], row[4], row[6]), (row[1], row[3], row[5], row[7]))
        var samples = SIMD8<UInt32>()
        samples.evenHalf = packed(left)
        samples.oddHalf = packed(right)
        return unsafe unsafeBitCast(samples, to: SIMD4<UInt64>.self)
    }

    /// Returns eight points from the even and the odd coefficients.
    ///
    /// The even ones yield four points, mirrored in the second half; the odd ones change their
    /// sign there.
    @inline(always)
    private func inverse(_ even: Four, _ odd: Four) -> (Four, Four) {
        let sums: Four = inverse(even.0, even.1, even.2, even.3)
        let (c1, c3, c5, c7) = numbers.cosines
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

    /// Returns eight points from the lowest four coefficients.
    @inline(always)
    private func inverse(
        _ f0: Vector, _ f1: Vector, _ f2: Vector, _ f3: Vector
    ) -> (Four, Four) {
        let sums: Four = inverse(f0, f2, .zero, .zero)
        let (c1, c3, c5, c7) = numbers.cosines
        let (d0, d1) = (f1 * c1 + f3 * c3, f1 * c3 - f3 * c7)
        let (d2, d3) = (f1 * c5 - f3 * c1, f1 * c7 - f3 * c5)
        return (
            (sums.0 + d0, sums.1 + d1, sums.2 + d2, sums.3 + d3),
            (sums.3 - d3, sums.2 - d2, sums.1 - d1, sums.0 - d0)
        )
    }

    /// Returns four points; B(2, i) is ±1, so two factors suffice.
    @inline(always)
    private func inverse(_ f0: Vector, _ f1: Vector, _ f2: Vector, _ f3: Vector) -> Four {
        let (long, short) = (numbers.long, numbers.short)
        let (outer, inner) = (f0 + f2, f0 - f2)
        let (outerChange, innerChange) = (f1 * long + f3 * short, f1 * short - f3 * long)
        return (
            outer + outerChange, inner + innerChange, inner - innerChange, outer - outerChange
        )
    }

    /// Packs four adjacent samples of each block.
    @inline(always)
    private func packed(_ row: Four) -> Words { packed(row.0, row.1, row.2, row.3) }

    /// Rounds points and packs them, the first into the low bytes.
    @inline(always)
    private func packed(_ a: Vector, _ b: Vector, _ c: Vector, _ d: Vector) -> Words {
        let low = rounded(a) &+ rounded(b) &<< 8
        let high = rounded(c) &+ rounded(d) &<< 8
        // Without the sum of the exponents.
        return low &+ high &<< 16 &- 0x8B40_0000
    }

    /// Rounds to integers and clamps to 0 to 255; the other bits are those of 0x4B40_0000.
    @inline(always)
    private func rounded(_ value: Vector) -> Words {
        // Adding 1.5 × 2²³ leaves the rounded integer in the low bits.
        let zero = Vector(repeating: 12_582_912)
        let shifted = value + zero
        let positive = zero.replacing(with: shifted, where: shifted .> zero)
        let limit = numbers.limit
        return unsafe unsafeBitCast(
            positive.replacing(with: limit, where: positive .> limit), to: Words.self)
    }
}

/// The zigzag order of the coefficients of a block (T.81 A.3.6).
enum ZigzagOrder {
    static let rows = order.map(\.row)
    static let columns = order.map(\.column)

    private static let order: [(row: Int, column: Int)] = (0..<15).flatMap { sum in
        let line = (max(0, sum - 7)...min(sum, 7)).map { (row: $0, column: sum - $0) }
        return sum % 2 == 0 ? line.reversed() : line
    }
}
#endif

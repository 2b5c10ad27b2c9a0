// SPDX-License-Identifier: Apache-2.0

/// Fits end points and indices to the texels of a block of BC7, whose subsets have two end points each.
///
/// End points start at the ends of the principal axis of each subset. Least squares for the chosen indices
/// replaces them as long as the exact error decreases.
struct BC7Fit {
    /// A value of each of the 16 texels.
    typealias Lanes = SIMD16<Float>

    /// The precision of a mode.
    struct Precision {
        let channelCount: Int
        /// The bits of each channel of an end point, with the one that extends it.
        let bitCount: Int32
        let hasExtension: Bool
        /// Whether both end points of a subset have the same extension.
        let isShared: Bool
        /// Whether the extensions are 1, so that the largest value of alpha is exact.
        let isOpaque: Bool
        let indexBits: Int32

        init(
            _ channelCount: Int, bits: Int32, extends: Bool = false, isShared: Bool = false,
            isOpaque: Bool = false, indexBits: Int32
        ) {
            self.channelCount = channelCount
            bitCount = bits
            hasExtension = extends
            self.isShared = isShared
            self.isOpaque = isOpaque
            self.indexBits = indexBits
        }

        var largest: Int32 { (1 << bitCount) - 1 }
        var lastIndex: Float { Float((1 << indexBits) - 1) }
    }

    /// Two colours of a subset as they are stored, with their extensions as the lowest bits.
    struct Codes {
        var a = SIMD4<Int32>()
        var b = SIMD4<Int32>()
    }

    /// The subsets of texels.
    struct Subsets {
        let count: Int
        /// 1 for texels of the subset, else 0.
        let masks: InlineArray<3, Lanes>

        static let one = Subsets(
            count: 1,
            masks: [Lanes(repeating: 1), Lanes(repeating: 0), Lanes(repeating: 0)])
        static let two = (0..<64).map { Subsets(count: 2, partition: $0) }
        static let three = (0..<64).map { Subsets(count: 3, partition: $0) }

        private init(count: Int, masks: InlineArray<3, Lanes>) {
            self.count = count
            self.masks = masks
        }

        private init(count: Int, partition: Int) {
            self.count = count
            masks = InlineArray { subset in
                var mask = Lanes(repeating: 0)
                for place in 0..<16
                where BPTCPartitions.subset(of: place, count, partition) == subset {
                    mask[place] = 1
                }
                return mask
            }
        }
    }

    let precision: Precision
    private(set) var error = Float.infinity
    private(set) var codes = InlineArray<3, Codes>(repeating: Codes())
    private(set) var indices = Lanes(repeating: 0)

    /// Fits all subsets.
    ///
    /// - Parameters:
    ///   - channels: the samples; channels after those of the precision are ignored.
    ///   - subsets: the subsets.
    ///   - precision: the precision of the mode.
    ///   - refinementCount: the most solutions by least squares.
    ///   - stepCount: the most rounds of steps of single channels.
    ///   - limit: an error from which on the result is of no use.
    init(
        _ channels: borrowing InlineArray<4, Lanes>, _ subsets: borrowing Subsets,
        _ precision: Precision, refinementCount: Int, stepCount: Int, limit: Float
    ) {
        self.precision = precision
        var ends = InlineArray<3, Ends>(repeating: Ends())
        for subset in 0..<subsets.count {
            ends[subset] = Self.principal(
                channels, subsets.masks[subset], precision.channelCount)
        }
        for round in 0...refinementCount {
            var next = InlineArray<3, Codes>(repeating: Codes())
            for subset in 0..<subsets.count { next[subset] = quantized(ends[subset]) }
            var chosen = Lanes(repeating: 0)
            let nextError = evaluate(channels, subsets, next, &chosen)
            guard nextError < error else { break }
            (error, codes, indices) = (nextError, next, chosen)
            // Refinement seldom halves the error.
            guard error > 0, round < refinementCount, error < limit * 2 else { break }
            let shares = Self.weights(chosen, precision.lastIndex) * (1.0 / 64)
            for subset in 0..<subsets.count {
                let solution = solution(
                    channels, subsets.masks[subset], shares, precision.channelCount)
                ends[subset] = solution ?? Ends(Self.widened(next[subset], precision))
            }
        }
        guard error < limit else { return }
        for _ in 0..<stepCount where error > 0 {
            guard step(channels, subsets) else { break }
        }
    }

    /// Tries the next values of each channel of all end points.
    private mutating func step(
        _ channels: borrowing InlineArray<4, Lanes>, _ subsets: borrowing Subsets
    ) -> Bool {
        let start = error
        // Larger steps keep the extension.
        let size: Int32 = precision.hasExtension ? 2 : 1
        for subset in 0..<subsets.count {
            for channel in 0..<(precision.isOpaque ? 3 : precision.channelCount) {
                for (stepA, stepB) in BCColors.steps {
                    var next = codes
                    next[subset].a[channel] += stepA * size
                    next[subset].b[channel] += stepB * size
                    let (a, b) = (next[subset].a[channel], next[subset].b[channel])
                    guard a >= 0, b >= 0, a <= precision.largest, b <= precision.largest
                    else { continue }
                    var chosen = Lanes(repeating: 0)
                    let nextError = evaluate(channels, subsets, next, &chosen)
                    if nextError < error {
                        (error, codes, indices) = (nextError, next, chosen)
                    }
                }
            }
        }
        return error < start
    }

    // MARK: - Exact error

    /// Rounds to the nearest integer below 2²².
    @inline(__always)
    static func rounded(_ values: Lanes) -> Lanes { (values + 12_582_912) - 12_582_912 }

    /// The weights of the second end point, of 64, for indices up to the last one.
    @inline(__always)
    static func weights(_ indices: Lanes, _ last: Float) -> Lanes {
        rounded(indices * (64 / last))
    }

    /// Chooses the index of each texel; returns the sum of the squared errors.
    @inline(__always)
    private func evaluate(
        _ channels: borrowing InlineArray<4, Lanes>, _ subsets: borrowing Subsets,
        _ codes: InlineArray<3, Codes>, _ chosen: inout Lanes
    ) -> Float {
        var starts = InlineArray<4, Lanes>(repeating: Lanes(repeating: 0))
        var ways = InlineArray<4, Lanes>(repeating: Lanes(repeating: 0))
        var scale = Lanes(repeating: 0)
        let last = precision.lastIndex
        for subset in 0..<subsets.count {
            let wide = Self.widened(codes[subset], precision)
            var way = wide.b - wide.a
            if precision.channelCount < 4 { way.w = 0 }
            let length = (way * way).sum()
            let mask = subsets.masks[subset]
            for channel in 0..<precision.channelCount {
                starts[channel] += mask * wide.a[channel]
                ways[channel] += mask * way[channel]
            }
            scale += mask * (length > 0 ? last / length : 0)
        }
        var position = Lanes(repeating: 0)
        for channel in 0..<precision.channelCount {
            position += (channels[channel] - starts[channel]) * ways[channel]
        }
        position = Self.rounded(position * scale)
        position.replace(with: Lanes(repeating: 0), where: position .< 0)
        position.replace(with: Lanes(repeating: last), where: position .> last)
        let weights = Self.weights(position, last) * (1.0 / 64)
        var sum = Lanes(repeating: 0)
        for channel in 0..<precision.channelCount {
            // Sums of 64ths are never halfway between integers after 1/128 is added.
            let value = Self.rounded(starts[channel] + ways[channel] * weights + 1.0 / 128)
            let difference = value - channels[channel]
            sum += difference * difference
        }
        chosen = position
        return sum.sum()
    }

    // MARK: - End points

    /// Two colours of 8 bits before they are rounded.
    private struct Ends {
        var a = SIMD4<Float>()
        var b = SIMD4<Float>()

        init() {}

        init(_ colors: (a: SIMD4<Float>, b: SIMD4<Float>)) { (a, b) = colors }
    }

    @inline(__always)
    private static func widened(
        _ codes: Codes, _ precision: Precision
    ) -> (a: SIMD4<Float>, b: SIMD4<Float>) {
        let (up, down) = (8 &- precision.bitCount, 2 &* precision.bitCount &- 8)
        return (
            SIMD4<Float>((codes.a &<< up) | (codes.a &>> down)),
            SIMD4<Float>((codes.b &<< up) | (codes.b &>> down))
        )
    }

    /// Returns the nearest codes, with the extensions that lead to the least error.
    private func quantized(_ ends: Ends) -> Codes {
        guard precision.hasExtension else {
            return Codes(a: nearest(ends.a, 0, 1).code, b: nearest(ends.b, 0, 1).code)
        }
        if precision.isOpaque {
            return Codes(a: nearest(ends.a, 1, 2).code, b: nearest(ends.b, 1, 2).code)
        }
        let (a0, a1) = (nearest(ends.a, 0, 2), nearest(ends.a, 1, 2))
        let (b0, b1) = (nearest(ends.b, 0, 2), nearest(ends.b, 1, 2))
        if precision.isShared {
            return a0.error + b0.error <= a1.error + b1.error
                ? Codes(a: a0.code, b: b0.code) : Codes(a: a1.code, b: b1.code)
        }
        return Codes(
            a: a0.error <= a1.error ? a0.code : a1.code,
            b: b0.error <= b1.error ? b0.code : b1.code)
    }

    @inline(__always)
    private func nearest(
        _ color: SIMD4<Float>, _ lowest: Int32, _ step: Int32
    ) -> (code: SIMD4<Int32>, error: Float) {
        let largest = precision.largest
        let scaled = color * (Float(largest) / 255)
        let steps = (scaled - Float(lowest)) * (1 / Float(step))
        let limited = steps.limited(to: SIMD4(repeating: Float(largest / step)))
        let code = limited.nearestIntegers &* step &+ lowest
        var difference = Self.widened(Codes(a: code), precision).a - color
        if precision.channelCount < 4 { difference.w = 0 }
        return (code, (difference * difference).sum())
    }

    /// Returns the ends of the principal axis of the texels of a subset.
    private static func principal(
        _ channels: borrowing InlineArray<4, Lanes>, _ mask: Lanes, _ channelCount: Int
    ) -> Ends {
        let count = mask.sum()
        var mean = SIMD4<Float>()
        var offsets = InlineArray<4, Lanes>(repeating: Lanes(repeating: 0))
        for channel in 0..<channelCount {
            mean[channel] = (channels[channel] * mask).sum() / count
            offsets[channel] = (channels[channel] - mean[channel]) * mask
        }
        let axis = Self.axis(covariance(offsets, channelCount), channelCount)
        var position = Lanes(repeating: 0)
        for channel in 0..<channelCount { position += offsets[channel] * axis[channel] }
        return Ends((mean + axis * position.min(), mean + axis * position.max()))
    }

    private static func covariance(
        _ offsets: borrowing InlineArray<4, Lanes>, _ channelCount: Int
    ) -> InlineArray<4, SIMD4<Float>> {
        var rows = InlineArray<4, SIMD4<Float>>(repeating: SIMD4())
        for first in 0..<channelCount {
            for second in first..<channelCount {
                let sum = (offsets[first] * offsets[second]).sum()
                rows[first][second] = sum
                rows[second][first] = sum
            }
        }
        return rows
    }

    /// Returns the direction of the greatest variance, of length 1.
    private static func axis(
        _ rows: InlineArray<4, SIMD4<Float>>, _ channelCount: Int
    ) -> SIMD4<Float> {
        // The row of the channel with the greatest variance is near the axis.
        var axis = rows[0]
        for channel in 1..<4 where rows[channel][channel] > axis[channel - 1] {
            if rows[channel][channel] > axis.max() { axis = rows[channel] }
        }
        for _ in 0..<6 {
            let next =
                rows[0] * axis.x + rows[1] * axis.y + rows[2] * axis.z + rows[3] * axis.w
            let length = max(abs(next.max()), abs(next.min()))
            guard length > 1e-6 else { break }
            axis = next / length
        }
        let length = (axis * axis).sum().squareRoot()
        return length > 0 ? axis / length : SIMD4()
    }

    /// Returns the end points that are best for the shares of the second one; `nil` if the shares do not
    /// determine both.
    private func solution(
        _ channels: borrowing InlineArray<4, Lanes>, _ mask: Lanes, _ shares: Lanes,
        _ channelCount: Int
    ) -> Ends? {
        let second = shares * mask
        let first = mask - second
        let aa = (first * first).sum()
        let ab = (first * second).sum()
        let bb = (second * second).sum()
        let determinant = aa * bb - ab * ab
        guard determinant > 0.001 else { return nil }
        var ends = Ends()
        for channel in 0..<channelCount {
            let sumA = (channels[channel] * first).sum()
            let sumB = (channels[channel] * second).sum()
            ends.a[channel] = (sumA * bb - sumB * ab) / determinant
            ends.b[channel] = (sumB * aa - sumA * ab) / determinant
        }
        return ends
    }
}

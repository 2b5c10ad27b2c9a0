// SPDX-License-Identifier: Apache-2.0

/// The 7×7 pixels that depend on the colours of a word of 4×4, in rows of eight of which the last is not
/// used.
struct PVRTCWindow {
    /// Values for eight pixels of a row.
    typealias Lanes = SIMD8<Int16>
    /// Sums, and weights that are chosen by them.
    typealias Wide = SIMD8<Int32>

    /// The weights by which the pixels of a row take the colours of the columns of words.
    private static let left = Lanes(3, 2, 1, 0, 0, 0, 0, 0)
    private static let own = Lanes(1, 2, 3, 4, 3, 2, 1, 0)
    private static let right = Lanes(0, 0, 0, 0, 1, 2, 3, 0)
    private static let used = Wide(-1, -1, -1, -1, -1, -1, -1, 0)

    let channelCount: Int
    /// The pixels, by row and channel.
    var source = InlineArray<7, InlineArray<4, Lanes>>(repeating: .init(repeating: Lanes()))
    /// The weights of the second colour, by row: 0, 3, 5 or 8.
    var weights = InlineArray<7, Wide>(repeating: Wide())
    /// The sums that the other words contribute to the first and second colour, times 16.
    private var othersA = InlineArray<7, InlineArray<4, Lanes>>(
        repeating: .init(repeating: Lanes()))
    private var othersB = InlineArray<7, InlineArray<4, Lanes>>(
        repeating: .init(repeating: Lanes()))

    init(channelCount: Int) { self.channelCount = channelCount }

    /// The colours of the 3×3 words around the window, row by row.
    typealias Neighbors = InlineArray<9, SIMD4<Int16>>

    mutating func setOthers(_ a: Neighbors, _ b: Neighbors) {
        for channel in 0..<channelCount {
            let rowsA = Self.horizontal(a, channel)
            let rowsB = Self.horizontal(b, channel)
            for row in 0..<7 {
                othersA[row][channel] = Self.vertical(rowsA, row)
                othersB[row][channel] = Self.vertical(rowsB, row)
            }
        }
    }

    /// Returns the sums of each row of words, without the word in the middle.
    private static func horizontal(
        _ words: Neighbors, _ channel: Int
    ) -> (Lanes, Lanes, Lanes) {
        func sum(_ start: Int, _ middle: Lanes) -> Lanes {
            left &* words[start][channel] &+ middle &* words[start + 1][channel]
                &+ right &* words[start + 2][channel]
        }
        return (sum(0, own), sum(3, Lanes()), sum(6, own))
    }

    private static func vertical(_ rows: (Lanes, Lanes, Lanes), _ row: Int) -> Lanes {
        row < 3
            ? rows.0 &* Int16(3 - row) &+ rows.1 &* Int16(row + 1)
            : rows.1 &* Int16(7 - row) &+ rows.2 &* Int16(row - 3)
    }

    /// Returns the weight of the word in the middle for each pixel of a row, at most 16.
    @inline(__always)
    private static func share(_ row: Int) -> Lanes { own &* Int16(row < 4 ? row + 1 : 7 - row) }

    // MARK: - Exact error

    /// Widens sums to 8 bits as decoders do.
    @inline(__always)
    private static func widened(_ sum: Lanes, _ channel: Int) -> Lanes {
        channel == 3 ? sum &+ sum &>> 4 : sum &>> 1 &+ sum &>> 6
    }

    @inline(__always)
    private static func square(_ difference: Lanes) -> Wide {
        Wide(truncatingIfNeeded: SIMD8<UInt16>(truncatingIfNeeded: difference &* difference))
    }

    /// Chooses the best weight of each pixel for two colours of the word.
    ///
    /// - Parameters:
    ///   - a: the first colour.
    ///   - b: the second colour.
    ///   - limit: the error at which to give up.
    ///   - chosen: receives the weights.
    /// - Returns: the sum of squared differences, or `limit` or more.
    func error(
        _ a: SIMD4<Int16>, _ b: SIMD4<Int16>, below limit: Int32,
        _ chosen: inout InlineArray<7, Wide>
    ) -> Int32 {
        var total: Int32 = 0
        for row in 0..<7 {
            let share = Self.share(row)
            var errors = InlineArray<4, Wide>(repeating: Wide())
            for channel in 0..<channelCount {
                let colorA = Self.widened(
                    othersA[row][channel] &+ share &* a[channel], channel)
                let colorB = Self.widened(
                    othersB[row][channel] &+ share &* b[channel], channel)
                let difference = colorB &- colorA
                let missing = source[row][channel] &- colorA
                errors[0] &+= Self.square(missing)
                errors[1] &+= Self.square(missing &- (difference &* 3) &>> 3)
                errors[2] &+= Self.square(missing &- (difference &* 5) &>> 3)
                errors[3] &+= Self.square(missing &- difference)
            }
            var least = errors[0]
            var weight = Wide()
            for index in 1..<4 {
                let isLess = errors[index] .< least
                least.replace(with: errors[index], where: isLess)
                weight.replace(with: Self.levels[index], where: isLess)
            }
            chosen[row] = weight
            total &+= (least & Self.used).wrappedSum()
            if total >= limit { return total }
        }
        return total
    }

    private static let levels: InlineArray<4, Int32> = [0, 3, 5, 8]

    // MARK: - Least squares

    /// Returns the two colours of the word, not quantized, that are best for the current weights.
    ///
    /// - Parameters:
    ///   - a: the present first colour, from which the result departs only where pixels demand it.
    ///   - b: the present second colour.
    /// - Returns: both colours in the precision of words.
    func solution(
        _ a: SIMD4<Int16>, _ b: SIMD4<Int16>
    ) -> (a: SIMD4<Float>, b: SIMD4<Float>) {
        var squares = InlineArray<3, SIMD8<Float>>(repeating: SIMD8())
        var sumsA = InlineArray<4, SIMD8<Float>>(repeating: SIMD8())
        var sumsB = InlineArray<4, SIMD8<Float>>(repeating: SIMD8())
        for row in 0..<7 {
            let weight = weights[row]
            let share = Wide(truncatingIfNeeded: Self.share(row))
            let partA = SIMD8<Float>((8 &- weight) &* share)
            let partB = SIMD8<Float>(weight &* share)
            let floatWeight = SIMD8<Float>(weight)
            squares[0] += partA * partA
            squares[1] += partA * partB
            squares[2] += partB * partB
            for channel in 0..<channelCount {
                let others = SIMD8<Float>(Wide(truncatingIfNeeded: othersA[row][channel]))
                let othersB = SIMD8<Float>(Wide(truncatingIfNeeded: othersB[row][channel]))
                let pixel = SIMD8<Float>(Wide(truncatingIfNeeded: source[row][channel]))
                let wanted = (pixel + Self.truncated) * Self.scale(channel)
                let rest = wanted - others * (8 - floatWeight) - othersB * floatWeight
                sumsA[channel] += partA * rest
                sumsB[channel] += partB * rest
            }
        }
        let aa = squares[0].sum() + Self.inertia
        let bb = squares[2].sum() + Self.inertia
        let ab = squares[1].sum()
        let determinant = aa * bb - ab * ab
        var (first, second) = (SIMD4<Float>(a), SIMD4<Float>(b))
        for channel in 0..<channelCount {
            let sumA = sumsA[channel].sum() + Self.inertia * Float(a[channel])
            let sumB = sumsB[channel].sum() + Self.inertia * Float(b[channel])
            first[channel] = (sumA * bb - sumB * ab) / determinant
            second[channel] = (sumB * aa - sumA * ab) / determinant
        }
        return (first, second)
    }

    /// What decoders truncate from an 8-bit sample, on average.
    private static let truncated: Float = 0.9
    /// The weight of the present colours, against a singular system.
    private static let inertia: Float = 4

    /// Returns the sum of the weighted colours, times 128, for an 8-bit sample of 1.
    private static func scale(_ channel: Int) -> Float {
        channel == 3 ? 8 * 16 / 17 : 8 / (0.5 + 1.0 / 64)
    }
}

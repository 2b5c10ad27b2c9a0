// SPDX-License-Identifier: Apache-2.0

/// The 15×7 pixels that depend on the colours of a word of 8×4, in rows of sixteen of which the last is
/// not used.
struct PVRTC2Window {
    /// Values for sixteen pixels of a row.
    typealias Lanes = SIMD16<Int16>
    /// The colours of the 3×3 words around the window, row by row.
    typealias Neighbors = PVRTCWindow.Neighbors

    /// The shares of the columns of words in the pixels of a row, at most 8.
    private static let left = Lanes(7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    private static let own = Lanes(1, 2, 3, 4, 5, 6, 7, 8, 7, 6, 5, 4, 3, 2, 1, 0)
    private static let right = Lanes(0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 0)
    /// The share of the last pixel is 0, and so is its weight.
    private static let unused = 15

    let channelCount: Int
    /// The pixels, by row and channel.
    private var source = InlineArray<7, InlineArray<4, Lanes>>(
        repeating: .init(repeating: Lanes()))
    /// The weights of the second colour, by row, from 0 to 8.
    private var weights = InlineArray<7, Lanes>(repeating: Lanes())
    /// The sums that the other words contribute to the first and second colour, times 32.
    private var othersA = InlineArray<7, InlineArray<4, Lanes>>(
        repeating: .init(repeating: Lanes()))
    private var othersB = InlineArray<7, InlineArray<4, Lanes>>(
        repeating: .init(repeating: Lanes()))

    init(channelCount: Int) { self.channelCount = channelCount }

    mutating func setRow(_ row: Int, _ channel: Int, _ values: Lanes) {
        source[row][channel] = values
        source[row][channel][Self.unused] = 0
    }

    mutating func setWeights(_ row: Int, _ values: Lanes) { weights[row] = values }

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

    /// Returns the share of the word in the middle in each pixel of a row, at most 32.
    @inline(__always)
    private static func share(_ row: Int) -> Lanes { own &* Int16(row < 4 ? row + 1 : 7 - row) }

    // MARK: - Exact error

    /// Widens sums to 8 bits as decoders do.
    @inline(__always)
    private static func widened(_ sum: Lanes, _ channel: Int) -> Lanes {
        channel == 3 ? sum &>> 1 &+ sum &>> 5 : sum &>> 2 &+ sum &>> 7
    }

    /// Returns the sum of squared differences for two colours of the word, or `limit` or more.
    func error(_ a: SIMD4<Int16>, _ b: SIMD4<Int16>, below limit: Int32) -> Int32 {
        var total: Int32 = 0
        for row in 0..<7 {
            let share = Self.share(row)
            let weight = weights[row]
            var sum = SIMD16<UInt32>()
            for channel in 0..<channelCount {
                let colorA = Self.widened(
                    othersA[row][channel] &+ share &* a[channel], channel)
                let colorB = Self.widened(
                    othersB[row][channel] &+ share &* b[channel], channel)
                let mixed = (colorA &* (8 &- weight) &+ colorB &* weight) &>> 3
                let missing = source[row][channel] &- mixed
                sum &+= SIMD16<UInt32>(
                    truncatingIfNeeded: SIMD16<UInt16>(truncatingIfNeeded: missing &* missing))
            }
            sum[Self.unused] = 0
            total &+= Int32(truncatingIfNeeded: sum.wrappedSum())
            if total >= limit { return total }
        }
        return total
    }

    // MARK: - Least squares

    /// Returns the two colours of the word, not quantized, that are best for the weights.
    ///
    /// - Parameters:
    ///   - a: the present first colour, from which the result departs only where pixels demand it.
    ///   - b: the present second colour.
    /// - Returns: both colours in the precision of words.
    func solution(
        _ a: SIMD4<Int16>, _ b: SIMD4<Int16>
    ) -> (a: SIMD4<Float>, b: SIMD4<Float>) {
        var squares = InlineArray<3, SIMD16<Float>>(repeating: SIMD16())
        var sumsA = InlineArray<4, SIMD16<Float>>(repeating: SIMD16())
        var sumsB = InlineArray<4, SIMD16<Float>>(repeating: SIMD16())
        for row in 0..<7 {
            // Without a share, the last pixel adds nothing.
            let partA = Self.floats((8 &- weights[row]) &* Self.share(row))
            let partB = Self.floats(weights[row] &* Self.share(row))
            let weight = Self.floats(weights[row])
            squares[0] += partA * partA
            squares[1] += partA * partB
            squares[2] += partB * partB
            for channel in 0..<channelCount {
                let wanted =
                    (Self.floats(source[row][channel]) + Self.truncated) * Self.scale(channel)
                let rest =
                    wanted - Self.floats(othersA[row][channel]) * (8 - weight)
                    - Self.floats(othersB[row][channel]) * weight
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

    @inline(__always)
    private static func floats(_ lanes: Lanes) -> SIMD16<Float> {
        SIMD16<Float>(SIMD16<Int32>(truncatingIfNeeded: lanes))
    }

    /// What decoders truncate from an 8-bit sample, on average.
    private static let truncated: Float = 0.9
    /// The weight of the present colours, against a singular system.
    private static let inertia: Float = 64

    /// Returns the sum of the weighted colours, times 256, for an 8-bit sample of 1.
    private static func scale(_ channel: Int) -> Float {
        channel == 3 ? 8 * 32 / 17 : 8 * 128 / 33
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The filters of the horizontal and the vertical pass.
struct AxisKernels {
    var horizontal: ResamplingKernel
    var vertical: ResamplingKernel
}

/// The two passes of separable resampling; result rows are computed as early as possible.
///
/// By default each source row is resampled horizontally into a ring buffer of rows, which the
/// vertical pass reads. Where that is less work, the ring buffer contains source rows and the
/// horizontal pass is last.
struct Scaler {
    /// The maximum bytes of a ring of source rows; a larger one exceeds the processor's cache.
    private static let maximumRingByteCount = 256 << 10

    private let channelCount: Int
    /// Whether samples have 16 bits; these are never averaged in blocks first.
    private let isDeep: Bool
    private let horizontal: ResamplingWeights
    private let vertical: ResamplingWeights
    private let sourceHeight: Int
    private let isVerticalFirst: Bool
    /// The columns that the vertical pass computes, in whole vectors.
    private let columns: Range<Int>
    private var rounding = RowKernels.Rounding()
    private let rowStride: Int
    private var reducer: BoxReducer?
    /// The input row of the horizontal pass, with padding for taps of weight 0.
    private var source: [Float]
    /// The ring buffer of input rows of the vertical pass.
    private var ring: [Float]
    /// The number of rows appended to the ring so far.
    private var ringRow = 0
    /// The offsets in the ring of the rows that contribute to a result row.
    private var starts: [Int]
    /// The current row of the result.
    private(set) var result: [UInt8]
    /// The same row before rounding, for 16-bit samples.
    private var deepResult: [Float]

    init(
        _ sourceSize: PixelSize, _ channelCount: Int, isDeep: Bool, _ region: SampleRegion,
        _ resultSize: PixelSize, _ kernels: AxisKernels,
        _ approximation: RowResampler.Approximation
    ) {
        self.channelCount = channelCount
        self.isDeep = isDeep
        sourceHeight = sourceSize.height
        var sourceSize = sourceSize
        var region = region
        var meanCounts = (x: 1, y: 1)
        if approximation == .boxFirst, !isDeep {
            let x = BoxReducer.factor(forScale: region.width / Double(resultSize.width))
            let y = BoxReducer.factor(forScale: region.height / Double(resultSize.height))
            if x > 1 || y > 1 {
                reducer = BoxReducer(
                    width: sourceSize.width, channelCount: channelCount,
                    horizontalFactor: x, verticalFactor: y)
                sourceSize = PixelSize(
                    width: (sourceSize.width + x - 1) / x, height: (sourceSize.height + y - 1) / y)
                region = region.scaled(horizontally: 1 / Double(x), vertically: 1 / Double(y))
                meanCounts = (x, y)
            }
        }
        horizontal = ResamplingWeights(
            kernels.horizontal, sourceCount: sourceSize.width,
            start: region.x, extent: region.width, resultCount: resultSize.width,
            meanCount: meanCounts.x)
        vertical = ResamplingWeights(
            kernels.vertical, sourceCount: sourceSize.height,
            start: region.y, extent: region.height, resultCount: resultSize.height,
            meanCount: meanCounts.y)
        // The last pixel of a row is written as 4 samples.
        let sourceStride = Self.wholeVectors(sourceSize.width * channelCount + 4)
        let resultStride = Self.wholeVectors(resultSize.width * channelCount + 4)
        isVerticalFirst =
            !isDeep && sourceStride * vertical.tapCount * 4 <= Self.maximumRingByteCount
            && Self.isLessWork(horizontal, vertical, channelCount)
        rowStride = isVerticalFirst ? sourceStride : resultStride
        columns =
            isVerticalFirst
            ? horizontal.used.lowerBound * channelCount / 16
                * 16..<Self.wholeVectors(horizontal.used.upperBound * channelCount)
            : 0..<resultStride
        source = Array(repeating: 0, count: sourceStride + 4 * horizontal.tapStride * channelCount)
        ring = Array(repeating: 0, count: rowStride * vertical.tapCount)
        starts = Array(repeating: 0, count: vertical.tapCount)
        result = Array(repeating: 0, count: isDeep ? resultStride * 2 : resultStride)
        deepResult = Array(repeating: 0, count: isDeep ? resultStride : 0)
    }

    var byteCount: Int {
        (source.count + ring.count + deepResult.count) * MemoryLayout<Float>.stride + result.count
            + (reducer?.byteCount ?? 0)
    }

    /// The rows of the source that contribute to the result.
    var usedRows: Range<Int> {
        let factor = reducer?.verticalFactor ?? 1
        let end = min(vertical.used.upperBound * factor, sourceHeight)
        return vertical.used.lowerBound * factor..<end
    }

    /// The sums of the blocks whose means are resampled; `nil` if every pixel is.
    func makeBlockSums(height: Int) -> BlockSums? { reducer.map { BlockSums($0, height: height) } }

    /// Appends row `y` of the source.
    ///
    /// - Returns: whether a row was added to the ring.
    mutating func append(_ row: Span<UInt8>, y: Int) -> Bool {
        if reducer != nil {
            let isLast = y == sourceHeight - 1
            let offset = ringOffset
            let hasRow =
                isVerticalFirst
                ? reducer?.append(row, isLast: isLast, into: &ring, at: offset)
                : reducer?.append(row, isLast: isLast, into: &source, at: 0)
            guard hasRow == true else { return false }
        } else if vertical.used.contains(ringRow) {
            if isDeep {
                RowKernels.widenSamples16(row, into: &source)
            } else if isVerticalFirst {
                RowKernels.widen(row, into: &ring, at: ringOffset)
            } else {
                RowKernels.widen(row, into: &source, at: 0)
            }
        }
        return appendInputRow()
    }

    /// Appends row `y` of blocks, instead of the rows of the source.
    ///
    /// - Returns: whether a row was added to the ring.
    mutating func append(_ sums: BlockSums, y: Int) -> Bool {
        if isVerticalFirst {
            sums.writeMeans(ofRow: y, into: &ring, at: ringOffset)
        } else {
            sums.writeMeans(ofRow: y, into: &source, at: 0)
        }
        return appendInputRow()
    }

    /// The offset in the ring of the next row.
    private var ringOffset: Int { ringRow % vertical.tapCount * rowStride }

    private mutating func appendInputRow() -> Bool {
        defer { ringRow += 1 }
        guard vertical.used.contains(ringRow) else { return false }
        if !isVerticalFirst {
            RowKernels.horizontal(
                source, horizontal, channelCount: channelCount, into: &ring, at: ringOffset)
        }
        return true
    }

    /// Computes row `y` of the result if the ring contains all of its source rows.
    ///
    /// - Returns: whether `result` contains the row.
    mutating func makeRow(_ y: Int) -> Bool {
        let (first, count) = (vertical.first[y], vertical.count[y])
        guard first + count <= ringRow else { return false }
        for t in 0..<count { starts[t] = (first + t) % vertical.tapCount * rowStride }
        let weights = y * vertical.tapStride
        if isVerticalFirst {
            RowKernels.vertical(
                ring, starts[..<count], vertical.weights, at: weights, columns: columns,
                into: &source)
            RowKernels.horizontal(
                source, horizontal, channelCount: channelCount, rounding, into: &result)
        } else if isDeep {
            RowKernels.vertical(
                ring, starts[..<count], vertical.weights, at: weights, columns: columns,
                into: &deepResult)
            RowKernels.roundToSamples16(deepResult, into: &result)
        } else {
            RowKernels.vertical(
                ring, starts[..<count], vertical.weights, at: weights, columns: columns,
                rounding, into: &result)
        }
        return true
    }

    /// Clamps colours to alpha, which kernels with negative lobes can make them exceed.
    mutating func limitColorsToAlpha() {
        if isDeep { return RowKernels.limitColorsToAlpha16(&result) }
        for pixel in stride(from: 0, to: result.count - 3, by: 4) {
            let alpha = result[pixel + 3]
            for channel in pixel..<pixel + 3 where result[channel] > alpha {
                result[channel] = alpha
            }
        }
    }

    private static func wholeVectors(_ count: Int) -> Int { (count + 15) / 16 * 16 }

    /// Returns whether fewer multiplications are needed if the vertical pass is first.
    private static func isLessWork(
        _ horizontal: ResamplingWeights, _ vertical: ResamplingWeights, _ channelCount: Int
    ) -> Bool {
        // Horizontally, adding up a sample's partial sums costs as much as 8 multiplications; for
        // pixels, which are read as 4 samples, each weight has to be broadcast.
        let horizontalCost =
            horizontal.first.count
            * (channelCount == 1 ? horizontal.tapStride + 8 : horizontal.tapStride * 5)
        let verticalCost = vertical.first.count * vertical.tapCount * channelCount
        return verticalCost * horizontal.used.count + vertical.first.count * horizontalCost
            <= vertical.used.count * horizontalCost + verticalCost * horizontal.first.count
    }
}

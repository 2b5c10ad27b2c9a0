// SPDX-License-Identifier: Apache-2.0

/// What weighs the samples along a row and across rows.
struct AxisKernels {
    var horizontal: ResamplingKernel
    var vertical: ResamplingKernel
}

/// The two passes, each result row made as soon as its last source row is there.
///
/// Either each source row is resampled along itself into a ring of rows and the result is made
/// across these, or, where that is less work, the ring holds source rows and the other pass is last.
struct Scaler {
    /// More does not stay near the processor while all of it is read for each result row.
    private static let largestRing = 256 << 10

    private let channelCount: Int
    /// Whether samples have 16 bits; then every pixel is weighed by the kernel, whatever it costs.
    private let isDeep: Bool
    private let horizontal: ResamplingWeights
    private let vertical: ResamplingWeights
    private let sourceHeight: Int
    private let isVerticalFirst: Bool
    /// The columns that the vertical pass makes, in whole vectors.
    private let columns: Range<Int>
    private let rowStride: Int
    private var reducer: BoxReducer?
    /// The row that the horizontal pass reads, and room for taps of weight 0 behind it.
    private var source: [Float]
    /// The rows that the vertical pass reads.
    private var ring: [Float]
    /// How many rows have gone into the ring so far.
    private var ringRow = 0
    /// Where the rows lie in the ring that make a result row.
    private var starts: [Int]
    /// A row of the result as bytes.
    private(set) var result: [UInt8]
    /// The same before it is rounded, for samples of 16 bits.
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
        // The last pixel of a row is written as one of four channels.
        let sourceStride = Self.wholeVectors(sourceSize.width * channelCount + 4)
        let resultStride = Self.wholeVectors(resultSize.width * channelCount + 4)
        isVerticalFirst =
            !isDeep && sourceStride * vertical.tapCount * 4 <= Self.largestRing
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

    /// - Returns: whether a row went into the ring.
    mutating func append(_ row: Span<UInt8>, y: Int) -> Bool {
        let place = ringRow % vertical.tapCount * rowStride
        if reducer != nil {
            let isLast = y == sourceHeight - 1
            let hasRow =
                isVerticalFirst
                ? reducer?.append(row, isLast: isLast, into: &ring, at: place)
                : reducer?.append(row, isLast: isLast, into: &source, at: 0)
            guard hasRow == true else { return false }
        }
        defer { ringRow += 1 }
        guard vertical.used.contains(ringRow) else { return false }
        if isVerticalFirst {
            if reducer == nil { RowKernels.widen(row, into: &ring, at: place) }
        } else {
            if isDeep {
                RowKernels.widenSamples16(row, into: &source)
            } else if reducer == nil {
                RowKernels.widen(row, into: &source, at: 0)
            }
            RowKernels.horizontal(
                source, horizontal, channelCount: channelCount, into: &ring, at: place)
        }
        return true
    }

    /// - Returns: whether the ring held all that row `y` needs, and `result` holds it now.
    mutating func makeRow(_ y: Int) -> Bool {
        let (first, count) = (vertical.first[y], vertical.count[y])
        guard first + count <= ringRow else { return false }
        for t in 0..<count { starts[t] = (first + t) % vertical.tapCount * rowStride }
        let weights = y * vertical.tapStride
        if isVerticalFirst {
            RowKernels.vertical(
                ring, starts[..<count], vertical.weights, at: weights, columns: columns,
                into: &source)
            RowKernels.horizontal(source, horizontal, channelCount: channelCount, into: &result)
        } else if isDeep {
            RowKernels.vertical(
                ring, starts[..<count], vertical.weights, at: weights, columns: columns,
                into: &deepResult)
            RowKernels.roundToSamples16(deepResult, into: &result)
        } else {
            RowKernels.vertical(
                ring, starts[..<count], vertical.weights, at: weights, columns: columns,
                into: &result)
        }
        return true
    }

    /// A kernel with negative lobes can leave a colour above its alpha, which no premultiplied pixel has.
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

    /// Whether fewer products are made if the pass across the rows comes first.
    private static func isLessWork(
        _ horizontal: ResamplingWeights, _ vertical: ResamplingWeights, _ channelCount: Int
    ) -> Bool {
        // Along a row the sums of each result sample have to be joined, as much as 8 products;
        // of pixels, which are read as four, each weight has to be made four.
        let along =
            horizontal.first.count
            * (channelCount == 1 ? horizontal.tapStride + 8 : horizontal.tapStride * 5)
        let across = vertical.first.count * vertical.tapCount * channelCount
        return across * horizontal.used.count + vertical.first.count * along
            <= vertical.used.count * along + across * horizontal.first.count
    }
}

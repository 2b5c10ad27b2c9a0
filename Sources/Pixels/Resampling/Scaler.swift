// SPDX-License-Identifier: Apache-2.0

/// What weighs the samples along a row and across rows.
struct AxisKernels {
    var horizontal: ResamplingKernel
    var vertical: ResamplingKernel
}

/// The two passes: each source row is resampled along itself into a ring of rows, and each result
/// row is made from the ring as soon as its last source row is there.
struct Scaler {
    private let channelCount: Int
    private let rowStride: Int
    private let horizontal: ResamplingWeights
    private let vertical: ResamplingWeights
    private let sourceHeight: Int
    private var reducer: BoxReducer?
    /// The current source row as numbers, and room for taps of weight 0 behind it.
    private var source: [Float]
    private var ring: [Float]
    /// How many rows have gone into the ring so far.
    private var ringRow = 0
    private(set) var result: [UInt8]

    init(
        _ sourceSize: PixelSize, _ channelCount: Int, _ region: SampleRegion,
        _ resultSize: PixelSize, _ kernels: AxisKernels,
        _ approximation: RowResampler.Approximation
    ) {
        self.channelCount = channelCount
        sourceHeight = sourceSize.height
        var sourceSize = sourceSize
        var region = region
        if approximation == .boxFirst {
            let x = BoxReducer.factor(forScale: region.width / Double(resultSize.width))
            let y = BoxReducer.factor(forScale: region.height / Double(resultSize.height))
            if x > 1 || y > 1 {
                reducer = BoxReducer(
                    width: sourceSize.width, channelCount: channelCount,
                    horizontalFactor: x, verticalFactor: y)
                sourceSize = PixelSize(
                    width: (sourceSize.width + x - 1) / x, height: (sourceSize.height + y - 1) / y)
                region = region.scaled(horizontally: 1 / Double(x), vertically: 1 / Double(y))
            }
        }
        horizontal = ResamplingWeights(
            kernels.horizontal, sourceCount: sourceSize.width,
            start: region.x, extent: region.width, resultCount: resultSize.width)
        vertical = ResamplingWeights(
            kernels.vertical, sourceCount: sourceSize.height,
            start: region.y, extent: region.height, resultCount: resultSize.height)
        source = Array(
            repeating: 0, count: (sourceSize.width + 4 * horizontal.tapStride) * channelCount)
        rowStride = (resultSize.width * channelCount + 4 + 3) / 4 * 4
        ring = Array(repeating: 0, count: rowStride * vertical.tapCount)
        result = Array(repeating: 0, count: rowStride)
    }

    var byteCount: Int {
        (source.count + ring.count) * MemoryLayout<Float>.stride + result.count
            + (reducer?.byteCount ?? 0)
    }

    /// - Returns: whether a row went into the ring.
    mutating func append(_ row: Span<UInt8>, y: Int) -> Bool {
        if reducer != nil {
            let isLast = y == sourceHeight - 1
            guard reducer?.append(row, isLast: isLast, into: &source) == true else { return false }
        }
        defer { ringRow += 1 }
        guard vertical.used.contains(ringRow) else { return false }
        if reducer == nil { RowKernels.widen(row, into: &source) }
        RowKernels.horizontal(
            source, horizontal, channelCount: channelCount,
            into: &ring, at: ringRow % vertical.tapCount * rowStride)
        return true
    }

    /// - Returns: whether the ring held all that row `y` needs, and `result` holds it now.
    mutating func makeRow(_ y: Int) -> Bool {
        guard vertical.first[y] + vertical.count[y] <= ringRow else { return false }
        RowKernels.vertical(
            ring, rowStride: rowStride, rowCount: vertical.tapCount, vertical, y: y, into: &result)
        return true
    }

    /// A kernel with negative lobes can leave a colour above its alpha, which no premultiplied pixel has.
    mutating func limitColorsToAlpha() {
        for pixel in stride(from: 0, to: result.count - 3, by: 4) {
            let alpha = result[pixel + 3]
            for channel in pixel..<pixel + 3 where result[channel] > alpha {
                result[channel] = alpha
            }
        }
    }
}

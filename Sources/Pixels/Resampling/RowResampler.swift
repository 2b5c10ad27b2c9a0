// SPDX-License-Identifier: Apache-2.0

/// Resizes and turns a picture while its rows come in from a decoder.
///
/// Memory is in proportion to the result: it holds the result, and as many rows of the result's
/// width as the kernel is high. Both passes are separable; weights apply in the picture's own
/// gamma space and, with alpha, to premultiplied colours. A reduction by 6 or more starts with
/// whole-pixel means (``BoxReducer``), unless ``Approximation/none`` is asked for.
///
/// - SeeAlso: Ken Turkowski, “Filters for Common Resampling Tasks”, *Graphics Gems*, 1990.
public struct RowResampler: ~Copyable {
    /// What may be given up for speed.
    public enum Approximation: Hashable, Sendable {
        /// Every source pixel is weighed by the kernel.
        case none
        /// Large reductions start with means of whole pixels and leave the kernel a factor of 3 or more.
        case boxFirst
    }

    private let sourceSize: PixelSize
    private let channelCount: Int
    private let resultSize: PixelSize
    private let hasAlpha: Bool
    private var writer: OrientedWriter
    private var scaler: Scaler?
    private var nextSourceRow = 0

    /// - Parameters:
    ///   - sourceSize: the size of the picture whose rows will come; both sides at least 1.
    ///   - format: what the bytes of the rows mean; an interleaved format.
    ///   - region: the part of the picture that is kept; `nil` for all of it.
    ///   - resultSize: the size that the part becomes, before it is turned.
    ///   - kernel: what weighs the pixels by distance.
    ///   - approximation: what may be given up for speed.
    ///   - orientation: how the result is turned as it is written.
    ///   - colorProfile: which colours the numbers stand for; only noted in the result.
    public init(
        from sourceSize: PixelSize, _ format: PixelFormat, region: SampleRegion? = nil,
        to resultSize: PixelSize, kernel: ResamplingKernel = .lanczos3,
        approximation: Approximation = .boxFirst, orientation: Orientation = .upright,
        colorProfile: ColorProfile = .sRGB
    ) {
        precondition(!sourceSize.isEmpty && !resultSize.isEmpty, "a picture is at least 1x1")
        let region = region ?? SampleRegion(sourceSize)
        self.sourceSize = sourceSize
        self.resultSize = resultSize
        channelCount = format.channelCount
        hasAlpha = format == .rgba8
        writer = OrientedWriter(resultSize, format, colorProfile, orientation: orientation)
        if resultSize != sourceSize || region != SampleRegion(sourceSize) {
            scaler = Scaler(
                sourceSize, channelCount, region, resultSize, kernel, approximation)
        }
    }

    /// Whether every row of the result has been made; further rows change nothing.
    public var isComplete: Bool { writer.nextRow == resultSize.height }

    /// The bytes that are held besides the result; the height of the source has no part in it.
    public var workingByteCount: Int { scaler?.byteCount ?? 0 }

    /// Takes the next row of the source from the top, as many bytes as its format says.
    public mutating func append(_ row: Span<UInt8>) {
        precondition(nextSourceRow < sourceSize.height, "the source has \(sourceSize.height) rows")
        precondition(row.count == sourceSize.width * channelCount, "the row's length is wrong")
        let y = nextSourceRow
        nextSourceRow += 1
        guard scaler != nil else { return writer.append(row) }
        guard !isComplete, scaler?.append(row, y: y) == true else { return }
        while !isComplete, scaler?.makeRow(writer.nextRow) == true {
            if hasAlpha { scaler?.limitColorsToAlpha() }
            if let result = scaler?.result {
                writer.append(result.span.extracting(first: resultSize.width * channelCount))
            }
        }
    }

    /// The resized picture.
    ///
    /// Every row of the source must have come in.
    public consuming func finish() -> PixelBuffer {
        precondition(isComplete, "the source ended after \(nextSourceRow) rows")
        return writer.finish()
    }
}

/// The two passes: each source row is resampled along itself into a ring of rows, and each result
/// row is made from the ring as soon as its last source row is there.
private struct Scaler {
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
        _ resultSize: PixelSize, _ kernel: ResamplingKernel,
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
            kernel, sourceCount: sourceSize.width,
            start: region.x, extent: region.width, resultCount: resultSize.width)
        vertical = ResamplingWeights(
            kernel, sourceCount: sourceSize.height,
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

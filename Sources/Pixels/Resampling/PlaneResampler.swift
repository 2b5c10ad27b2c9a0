// SPDX-License-Identifier: Apache-2.0

/// Resizes one plane, or a picture of a single plane, while its rows come in.
struct PlaneResampler {
    private let sourceSize: PixelSize
    private let resultSize: PixelSize
    private let channelCount: Int
    private let bytesPerPixel: Int
    private let hasAlpha: Bool
    private var scaler: Scaler?
    private var nextSourceRow = 0
    private var nextResultRow = 0

    init(
        from sourceSize: PixelSize, channelCount: Int, bytesPerChannel: Int = 1,
        hasAlpha: Bool = false,
        region: SampleRegion, to resultSize: PixelSize, kernels: AxisKernels,
        approximation: RowResampler.Approximation = .boxFirst
    ) {
        precondition(!sourceSize.isEmpty && !resultSize.isEmpty, "a picture is at least 1x1")
        self.sourceSize = sourceSize
        self.resultSize = resultSize
        self.channelCount = channelCount
        bytesPerPixel = channelCount * bytesPerChannel
        self.hasAlpha = hasAlpha
        if resultSize != sourceSize || region != SampleRegion(sourceSize) {
            scaler = Scaler(
                sourceSize, channelCount, isDeep: bytesPerChannel == 2, region, resultSize,
                kernels, approximation)
        }
    }

    /// The rows of the result that have been made, from the top.
    var completedRowCount: Int { nextResultRow }

    /// Whether every row of the result has been made; further rows change nothing.
    var isComplete: Bool { nextResultRow == resultSize.height }

    /// The bytes that are held; the height of the source has no part in it.
    var workingByteCount: Int { scaler?.byteCount ?? 0 }

    /// Takes the next row of the source from the top and hands on the rows of the result that can
    /// be made now.
    mutating func append<Sink: PlaneSink & ~Copyable>(
        _ row: Span<UInt8>, into sink: inout Sink, plane: Int
    ) {
        precondition(nextSourceRow < sourceSize.height, "the source has \(sourceSize.height) rows")
        precondition(row.count == sourceSize.width * bytesPerPixel, "the row's length is wrong")
        let y = nextSourceRow
        nextSourceRow += 1
        guard scaler != nil else {
            nextResultRow += 1
            return sink.append(row, plane: plane)
        }
        guard !isComplete, scaler?.append(row, y: y) == true else { return }
        while !isComplete, scaler?.makeRow(nextResultRow) == true {
            nextResultRow += 1
            if hasAlpha { scaler?.limitColorsToAlpha() }
            if let result = scaler?.result {
                sink.append(
                    result.span.extracting(first: resultSize.width * bytesPerPixel), plane: plane)
            }
        }
    }
}

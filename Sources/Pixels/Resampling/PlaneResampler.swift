// SPDX-License-Identifier: Apache-2.0

/// Resizes one plane row by row.
struct PlaneResampler {
    private let sourceSize: PixelSize
    private let resultSize: PixelSize
    private let bytesPerPixel: Int
    private let hasAlpha: Bool
    private var scaler: Scaler?
    /// The part of the source that is copied if nothing is resampled.
    private let part: PixelRect
    private var nextSourceRow = 0
    private var nextResultRow = 0

    init(
        from sourceSize: PixelSize, channelCount: Int, bytesPerChannel: Int = 1,
        hasAlpha: Bool = false,
        region: SampleRegion, to resultSize: PixelSize, kernels: AxisKernels,
        approximation: RowResampler.Approximation = .boxFirst
    ) {
        precondition(
            !sourceSize.isEmpty && !resultSize.isEmpty,
            "both sizes must be at least 1x1, not \(sourceSize) and \(resultSize)")
        self.sourceSize = sourceSize
        self.resultSize = resultSize
        bytesPerPixel = channelCount * bytesPerChannel
        self.hasAlpha = hasAlpha
        let copied = region.pixels.flatMap { PixelRect(sourceSize).contains($0) ? $0 : nil }
        part = copied ?? PixelRect(sourceSize)
        if resultSize != copied?.size {
            scaler = Scaler(
                sourceSize, channelCount, isDeep: bytesPerChannel == 2, region, resultSize,
                kernels, approximation)
        }
    }

    /// The rows of the source that contribute to the result.
    var usedRows: Range<Int> { scaler?.usedRows ?? part.y..<part.y + part.height }

    /// The number of complete rows of the result, from the top.
    var completedRowCount: Int { nextResultRow }

    /// Whether every row of the result is complete; further rows are ignored.
    var isComplete: Bool { nextResultRow == resultSize.height }

    /// The number of bytes held, independent of the source's height.
    var workingByteCount: Int { scaler?.byteCount ?? 0 }

    /// Appends the next row of the source and passes completed rows of the result to `sink`.
    mutating func append<Sink: PlaneSink & ~Copyable>(
        _ row: Span<UInt8>, into sink: inout Sink, plane: Int
    ) {
        precondition(
            nextSourceRow < sourceSize.height, "too many rows: the source has \(sourceSize.height)")
        precondition(
            row.count == sourceSize.width * bytesPerPixel,
            "a row must have \(sourceSize.width * bytesPerPixel) bytes, not \(row.count)")
        let y = nextSourceRow
        nextSourceRow += 1
        guard scaler != nil else {
            guard y >= part.y, !isComplete else { return }
            nextResultRow += 1
            let first = part.x * bytesPerPixel
            return sink.append(
                row.extracting(first..<first + part.width * bytesPerPixel), plane: plane)
        }
        guard !isComplete, scaler?.append(row, y: y) == true else { return }
        makeRows(into: &sink, plane: plane)
    }

    /// The sums of blocks of the source; `nil` if it is not reduced by means.
    var blockSums: BlockSums? { scaler?.makeBlockSums(height: sourceSize.height) }

    /// Appends the whole source as sums and passes the result to `sink`.
    mutating func append<Sink: PlaneSink & ~Copyable>(
        _ sums: BlockSums, into sink: inout Sink, plane: Int
    ) {
        precondition(nextSourceRow == 0, "rows have been appended")
        nextSourceRow = sourceSize.height
        for y in 0..<sums.rowCount where !isComplete {
            if scaler?.append(sums, y: y) == true { makeRows(into: &sink, plane: plane) }
        }
    }

    private mutating func makeRows<Sink: PlaneSink & ~Copyable>(into sink: inout Sink, plane: Int) {
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

// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// One result of a decode: the plan, and the resampler that carries it out.
struct RowOutput: ~Copyable {
    var plan: DecodePlan
    /// Overrides the profile that the decoder reports.
    private let profile: ColorProfile?
    private var resampler: RowResampler?
    private var planes: YCbCrResampler?
    /// The sums of pixels that are appended in any order.
    private var sums: BlockSums?

    init(_ plan: DecodePlan, profile: ColorProfile? = nil) {
        self.plan = plan
        self.profile = profile
    }

    var hasBegun: Bool { resampler != nil || planes != nil }

    /// The size of the rows that are buffered until those of other planes arrive, in bytes.
    var waitingByteCount: Int { mutating get { planes?.waitingByteCount ?? 0 } }

    var completedRowCount: Int { mutating get { resampler?.completedRowCount ?? 0 } }

    var snapshot: PixelBuffer? { mutating get { resampler?.snapshot } }

    /// Prepares for interleaved rows.
    ///
    /// - Parameters:
    ///   - size: the size of the decoded image.
    ///   - format: the format of the result.
    ///   - colorProfile: the profile that the decoder reports.
    ///   - lattice: the positions of the samples, unless each covers an equal part of the image.
    mutating func begin(
        _ size: PixelSize, _ format: PixelFormat, _ colorProfile: ColorProfile,
        lattice: SampleLattice?
    ) {
        resampler = RowResampler(
            from: size, format,
            // A shrunk side is rounded up, so that the last sample covers less than the others.
            region: lattice?.region(plan.geometry.region)
                ?? plan.geometry.region.scaled(
                    horizontally: scale(size.width, plan.storedSize.width),
                    vertically: scale(size.height, plan.storedSize.height)),
            to: plan.geometry.size, kernel: plan.kernel, orientation: plan.orientation,
            colorProfile: profile ?? colorProfile)
    }

    /// Prepares for planes of luma and chroma.
    mutating func begin(_ planes: [SourcePlane], _ colorProfile: ColorProfile) {
        self.planes = YCbCrResampler(
            from: planes, region: plan.geometry.region, to: plan.geometry.size, plan.yCbCrFormat,
            kernel: plan.kernel, orientation: plan.orientation,
            colorProfile: profile ?? colorProfile)
    }

    /// Returns the rows that contribute to the result: of a plane, or of interleaved rows.
    mutating func usedRows(ofPlane plane: Int) -> Range<Int> {
        planes?.usedRows(ofPlane: plane) ?? resampler?.usedRows ?? 0..<0
    }

    mutating func append(_ row: Span<UInt8>) { resampler?.append(row) }

    mutating func append(_ row: Span<UInt8>, plane: Int) { planes?.append(row, plane: plane) }

    /// Prepares for pixels in any order.
    ///
    /// - Returns: the memory that they need, in bytes; `nil` if rows are needed.
    mutating func beginUnordered() -> Int? {
        sums = resampler?.blockSums
        return sums?.byteCount
    }

    /// Appends pixels at equal distances in a row; see ``BlockSums/add(_:y:from:step:)``.
    mutating func append(_ pixels: Span<UInt8>, y: Int, from column: Int, step: Int) {
        sums?.add(pixels, y: y, from: column, step: step)
    }

    /// Makes the result from the pixels in any order.
    mutating func finishUnordered() {
        if let sums = sums.take() { resampler?.append(sums) }
    }

    /// Discards the rows so far and their description.
    mutating func restart() {
        sums = nil
        resampler = nil
        planes = nil
    }

    /// Appends rows of zeros until the result is complete.
    ///
    /// - Returns: whether interleaved rows have begun.
    mutating func fillRest(_ row: Span<UInt8>) -> Bool {
        guard resampler != nil else { return false }
        while resampler?.isComplete == false { resampler?.append(row) }
        return true
    }

    /// The result; `nil` if rows are missing.
    consuming func finish() -> PixelBuffer? {
        if let planes = planes.take() { return planes.isComplete ? planes.finish() : nil }
        guard let resampler = resampler.take(), resampler.isComplete else { return nil }
        return resampler.finish()
    }

    /// The scale of a side: a power of two if that results in `size`, otherwise the quotient.
    private func scale(_ size: Int, _ stored: Int) -> Double {
        // A scalable image was drawn at this size.
        if plan.isScalable { return Double(size) / Double(stored) }
        var factor = 1
        while (stored + factor - 1) / factor > size { factor *= 2 }
        return (stored + factor - 1) / factor == size
            ? 1 / Double(factor) : Double(size) / Double(stored)
    }
}

/// A further result of a decode that has one already.
final class FurtherOutput {
    let options: DecodeOptions
    /// `nil` once the decoder has made a choice that is wrong for this result.
    var output: RowOutput?

    init(_ options: DecodeOptions, _ plan: DecodePlan) {
        self.options = options
        output = RowOutput(plan)
    }

    func finish() -> PixelBuffer? { output.take()?.finish() }
}

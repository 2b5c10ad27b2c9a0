// SPDX-License-Identifier: Apache-2.0

/// Resizes and orients an image row by row, as a decoder delivers it.
///
/// Memory is proportional to the result: the result itself, and as many rows as the kernel has
/// taps. Filtering is separable, in the image's own gamma space, and on premultiplied colours. A
/// reduction by 5 or more starts with means of whole pixels, unless it is ``Approximation/none``.
///
/// - SeeAlso: Ken Turkowski, “Filters for Common Resampling Tasks”, *Graphics Gems*, 1990.
public struct RowResampler: ~Copyable {
    /// The trade-off between accuracy and speed.
    public enum Approximation: Hashable, Sendable {
        /// The kernel weights every source pixel.
        case none
        /// Large reductions average blocks of whole pixels first; a factor of 2.5 or more remains
        /// for the kernel.
        case boxFirst
    }

    private var resampler: PlaneResampler
    private var writer: OrientedWriter

    /// Creates a resampler and allocates the result.
    ///
    /// - Parameters:
    ///   - sourceSize: the size of the source in pixels; both sides at least 1.
    ///   - format: the format of the rows and of the result; single-plane, with integer samples.
    ///   - region: the source region in pixels; `nil` for the whole image.
    ///   - resultSize: the size of the resampled region in stored orientation; at least 1x1.
    ///   - kernel: the resampling filter.
    ///   - approximation: the trade-off between accuracy and speed.
    ///   - orientation: the transform applied to the result.
    ///   - colorProfile: the colour profile of the result; it does not change samples.
    public init(
        from sourceSize: PixelSize, _ format: PixelFormat, region: SampleRegion? = nil,
        to resultSize: PixelSize, kernel: ResamplingKernel = .lanczos3,
        approximation: Approximation = .boxFirst, orientation: Orientation = .upright,
        colorProfile: ColorProfile = .sRGB
    ) {
        precondition(
            !sourceSize.isEmpty && !resultSize.isEmpty,
            "both sizes must be at least 1x1, not \(sourceSize) and \(resultSize)")
        precondition(format.planeCount == 1, "use YCbCrResampler for the planes of \(format)")
        precondition(
            format.canBeResampled, "convert \(format) to \(format.withIntegerSamples) first")
        resampler = PlaneResampler(
            from: sourceSize, channelCount: format.channelCount,
            bytesPerChannel: format.plane(0).bytesPerChannel,
            hasAlpha: format == .rgba8 || format == .rgba16,
            region: region ?? SampleRegion(sourceSize), to: resultSize,
            kernels: AxisKernels(horizontal: kernel, vertical: kernel),
            approximation: approximation)
        writer = OrientedWriter(resultSize, format, colorProfile, orientation: orientation)
    }

    /// The rows of the source that contribute to the result; the pixels of others do not matter.
    package var usedRows: Range<Int> { resampler.usedRows }

    /// Whether every row of the result is complete; further rows are ignored.
    public var isComplete: Bool { resampler.isComplete }

    /// The number of complete rows of the result, from the top in stored orientation.
    public var completedRowCount: Int { resampler.completedRowCount }

    /// A copy of the result so far; rows not yet complete are 0.
    public var snapshot: PixelBuffer { writer.snapshot }

    /// The number of bytes held in addition to the result, independent of the source's height.
    public var workingByteCount: Int { resampler.workingByteCount }

    /// Appends the next row of the source, from the top.
    ///
    /// - Parameter row: the pixels without padding: source width × bytes per pixel.
    public mutating func append(_ row: Span<UInt8>) {
        resampler.append(row, into: &writer, plane: 0)
    }

    /// The sums of the pixels of the source, to which no pixels have been added.
    ///
    /// `nil` if the resampler does not start with means of blocks.
    public var blockSums: BlockSums? { resampler.blockSums }

    /// Appends the whole source, instead of its rows.
    ///
    /// - Parameter sums: ``blockSums`` of this resampler, to which all pixels have been added.
    public mutating func append(_ sums: BlockSums) {
        resampler.append(sums, into: &writer, plane: 0)
    }

    /// Returns the result, which must be complete (``isComplete``).
    public consuming func finish() -> PixelBuffer {
        precondition(isComplete, "append all rows of the source before finish()")
        return writer.finish()
    }
}

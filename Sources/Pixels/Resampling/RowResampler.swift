// SPDX-License-Identifier: Apache-2.0

/// Resizes and turns a picture while its rows come in from a decoder.
///
/// Memory is in proportion to the result: it holds the result, and as many rows of the result's
/// width as the kernel is high. Both passes are separable; weights apply in the picture's own
/// gamma space and, with alpha, to premultiplied colours. A reduction by 5 or more starts with
/// whole-pixel means (`BoxReducer`), unless ``Approximation/none`` is asked for.
///
/// - SeeAlso: Ken Turkowski, “Filters for Common Resampling Tasks”, *Graphics Gems*, 1990.
public struct RowResampler: ~Copyable {
    /// What may be given up for speed.
    public enum Approximation: Hashable, Sendable {
        /// Every source pixel is weighed by the kernel.
        case none
        /// Large reductions start with means of whole pixels and leave the kernel a factor of 2.5 or more.
        case boxFirst
    }

    private var resampler: PlaneResampler
    private var writer: OrientedWriter

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
        precondition(format.planeCount == 1, "the planes of \(format) come one by one")
        precondition(format.canBeResampled, "\(format) has no samples of whole numbers")
        resampler = PlaneResampler(
            from: sourceSize, channelCount: format.channelCount,
            bytesPerChannel: format.plane(0).bytesPerChannel,
            hasAlpha: format == .rgba8 || format == .rgba16,
            region: region ?? SampleRegion(sourceSize), to: resultSize,
            kernels: AxisKernels(horizontal: kernel, vertical: kernel),
            approximation: approximation)
        writer = OrientedWriter(resultSize, format, colorProfile, orientation: orientation)
    }

    /// Whether every row of the result has been made; further rows change nothing.
    public var isComplete: Bool { resampler.isComplete }

    /// The rows of the result that have been made, from the top of the picture as it is stored.
    public var completedRowCount: Int { resampler.completedRowCount }

    /// The result as far as it has been made; the rest is 0.
    public var snapshot: PixelBuffer { writer.snapshot }

    /// The bytes that are held besides the result; the height of the source has no part in it.
    public var workingByteCount: Int { resampler.workingByteCount }

    /// Takes the next row of the source from the top, as many bytes as its format says.
    public mutating func append(_ row: Span<UInt8>) {
        resampler.append(row, into: &writer, plane: 0)
    }

    /// The resized picture.
    ///
    /// Every row of the source must have come in.
    public consuming func finish() -> PixelBuffer {
        precondition(isComplete, "rows of the source are missing")
        return writer.finish()
    }
}

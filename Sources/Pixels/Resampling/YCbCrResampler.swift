// SPDX-License-Identifier: Apache-2.0

/// One plane of an image as a decoder delivers it.
public struct SourcePlane: Hashable, Sendable {
    /// The size in samples.
    public var size: PixelSize
    /// Samples per column of the stored image: ⅛ for a plane of an eighth of its width.
    public var horizontalScale: Double
    /// Samples per row of the stored image.
    public var verticalScale: Double

    /// Creates a plane from its size in samples and its samples per pixel of the stored image.
    public init(size: PixelSize, horizontalScale: Double, verticalScale: Double) {
        self.size = size
        self.horizontalScale = horizontalScale
        self.verticalScale = verticalScale
    }
}

/// Resizes and orients an image that is delivered in planes of Y′, Cb and Cr.
///
/// Each plane may have its own resolution and is resampled to the result in one step. Samples are
/// sited at the centre of their pixels, as in JFIF. A chroma plane coarser than the result is
/// enlarged linearly, as JPEG decoders do.
public struct YCbCrResampler: ~Copyable {
    private var resamplers: [PlaneResampler] = []
    private var writer: YCbCrWriter

    /// Creates a resampler and allocates the result.
    ///
    /// - Parameters:
    ///   - planes: the planes of Y′, Cb and Cr.
    ///   - region: the source region in pixels of the stored image.
    ///   - resultSize: the size of the resampled region in stored orientation; at least 1x1.
    ///   - format: the format of the result: ``PixelFormat/yCbCr420`` or ``PixelFormat/rgb8``.
    ///   - kernel: the resampling filter.
    ///   - orientation: the transform applied to the result.
    ///   - colorProfile: the colour profile of the result; it does not change samples.
    public init(
        from planes: [SourcePlane], region: SampleRegion, to resultSize: PixelSize,
        _ format: PixelFormat, kernel: ResamplingKernel = .lanczos3,
        orientation: Orientation = .upright, colorProfile: ColorProfile = .sRGB
    ) {
        precondition(planes.count == 3, "three planes are required, not \(planes.count)")
        precondition(
            format == .yCbCr420 || format == .rgb8, "the result cannot be \(format)")
        writer = YCbCrWriter(resultSize, format, colorProfile, orientation: orientation)
        for (index, plane) in planes.enumerated() {
            if index == 2, plane == planes[1] {
                // Cr reuses the weights of Cb.
                resamplers.append(resamplers[1])
                continue
            }
            let size = format == .rgb8 ? resultSize : format.planeSize(index, of: resultSize)
            let covered =
                size == resultSize
                ? region : Self.region(coveredBy: size, region, resultSize, orientation)
            let part = covered.scaled(
                horizontally: plane.horizontalScale, vertically: plane.verticalScale)
            resamplers.append(
                PlaneResampler(
                    from: plane.size, channelCount: 1, region: part, to: size,
                    kernels: AxisKernels(
                        horizontal: Self.kernel(
                            kernel, isChroma: index > 0, part.width / Double(size.width)),
                        vertical: Self.kernel(
                            kernel, isChroma: index > 0, part.height / Double(size.height)))))
        }
    }

    /// Whether every row of the result is complete.
    public var isComplete: Bool { writer.isComplete }

    /// The number of bytes of rows that are buffered until other planes deliver theirs.
    public var waitingByteCount: Int { writer.waitingByteCount }

    /// Returns the rows of a plane that contribute to the result; the samples of others do not matter.
    package func usedRows(ofPlane plane: Int) -> Range<Int> { resamplers[plane].usedRows }

    /// Appends the next row of a plane, from the top.
    ///
    /// - Parameters:
    ///   - row: the samples without padding, as many as the plane has columns.
    ///   - plane: 0 for Y′, 1 for Cb, 2 for Cr.
    public mutating func append(_ row: Span<UInt8>, plane: Int) {
        resamplers[plane].append(row, into: &writer, plane: plane)
    }

    /// Returns the result, which must be complete (``isComplete``).
    public consuming func finish() -> PixelBuffer {
        precondition(isComplete, "append all rows of all planes before finish()")
        return writer.finish()
    }

    /// Returns the source region of a halved plane, which exceeds the result where a side is odd.
    ///
    /// It does so at the right and the bottom of the oriented result; the orientation determines
    /// the corresponding sides of the stored image.
    private static func region(
        coveredBy half: PixelSize, _ region: SampleRegion, _ result: PixelSize,
        _ orientation: Orientation
    ) -> SampleRegion {
        let extraWidth =
            region.width * Double(half.width * 2 - result.width) / Double(result.width)
        let extraHeight =
            region.height * Double(half.height * 2 - result.height) / Double(result.height)
        return SampleRegion(
            x: orientation.reversesColumns ? region.x - extraWidth : region.x,
            y: orientation.reversesRows ? region.y - extraHeight : region.y,
            width: region.width + extraWidth, height: region.height + extraHeight)
    }

    /// The scale from which chroma counts as enlarged.
    ///
    /// Above it the linear filter would only blur: samples are hardly closer than those of the plane.
    private static let enlargedScale = 0.95

    /// Returns the filter of a plane: linear for chroma that is enlarged.
    private static func kernel(
        _ kernel: ResamplingKernel, isChroma: Bool, _ scale: Double
    ) -> ResamplingKernel {
        isChroma && scale < enlargedScale && kernel.radius > 1 ? .triangle : kernel
    }
}

/// Writes the rows of three planes, or converts them to rows of RGB.
private struct YCbCrWriter: ~Copyable, PlaneSink {
    private var writer: OrientedWriter
    private let width: Int
    /// Rows that are buffered until other planes deliver theirs; empty unless the result is RGB.
    private var queues: [RowQueue]
    private var rgb: [UInt8]
    private var rounding = RowKernels.Rounding()

    init(
        _ size: PixelSize, _ format: PixelFormat, _ colorProfile: ColorProfile,
        orientation: Orientation
    ) {
        writer = OrientedWriter(size, format, colorProfile, orientation: orientation)
        width = size.width
        queues = format == .rgb8 ? Array(repeating: RowQueue(width: width), count: 3) : []
        rgb = Array(repeating: 0, count: width * 3 + 13)
    }

    var isComplete: Bool { writer.isComplete }

    var waitingByteCount: Int { queues.reduce(0) { $0 + $1.bytes.count } }

    mutating func append(_ row: Span<UInt8>, plane: Int) {
        guard !queues.isEmpty else { return writer.append(row, plane: plane) }
        queues[plane].append(row)
        while queues.allSatisfy({ !$0.isEmpty }) {
            RowKernels.convertToRGB(
                (queues[0].bytes, queues[1].bytes, queues[2].bytes),
                at: (queues[0].start, queues[1].start, queues[2].start), width: width, rounding,
                into: &rgb)
            for plane in 0..<3 { queues[plane].removeFirst() }
            let row = rgb
            writer.append(row.span.extracting(first: width * 3), plane: 0)
        }
    }

    consuming func finish() -> PixelBuffer { writer.finish() }
}

/// A first-in, first-out queue of rows.
private struct RowQueue {
    private let width: Int
    /// The rows, followed by padding for a vector.
    private(set) var bytes: [UInt8] = []
    /// The offset of the first row.
    private(set) var start = 0
    /// The offset of the end of the last row.
    private var end = 0

    init(width: Int) { self.width = width }

    var isEmpty: Bool { start == end }

    mutating func append(_ row: Span<UInt8>) {
        if start > 0, start * 2 >= end {
            // The capacity is bounded by the longest queue, and each byte is moved at most once.
            RowKernels.moveToFront(start..<end, of: &bytes)
            end -= start
            start = 0
        }
        let missing = end + width + 3 - bytes.count
        if missing > 0 { bytes += Array(repeating: 0, count: missing) }
        RowKernels.copy(row, into: &bytes, at: end)
        end += width
    }

    mutating func removeFirst() { start += width }
}

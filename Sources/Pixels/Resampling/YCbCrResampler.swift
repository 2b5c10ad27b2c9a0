// SPDX-License-Identifier: Apache-2.0

/// One plane of a picture as a decoder delivers it.
public struct SourcePlane: Hashable, Sendable {
    /// The samples that will come.
    public var size: PixelSize
    /// Samples for each column of the picture as it is stored: ⅛ for a plane at an eighth of its width.
    public var horizontalScale: Double
    /// Samples for each row of the picture as it is stored.
    public var verticalScale: Double

    public init(size: PixelSize, horizontalScale: Double, verticalScale: Double) {
        self.size = size
        self.horizontalScale = horizontalScale
        self.verticalScale = verticalScale
    }
}

/// Resizes and turns a picture whose luma and colour differences come in as planes of their own.
///
/// The planes may be of any resolution; each goes to the result's in one step, by JFIF's siting:
/// a sample stands in the middle of the pixels that it is for. A plane of colour that is coarser
/// than the result is enlarged linearly, as JPEG decoders do.
public struct YCbCrResampler: ~Copyable {
    private var resamplers: [PlaneResampler] = []
    private var writer: YCbCrWriter

    /// - Parameters:
    ///   - planes: Y, Cb and Cr as their rows will come.
    ///   - region: the part of the picture that is kept, in pixels as they are stored.
    ///   - resultSize: the size that the part becomes, before it is turned.
    ///   - format: what is made: ``PixelFormat/yCbCr420`` or ``PixelFormat/rgb8``.
    ///   - kernel: what weighs the samples by distance.
    ///   - orientation: how the result is turned as it is written.
    ///   - colorProfile: which colours the numbers stand for; only noted in the result.
    public init(
        from planes: [SourcePlane], region: SampleRegion, to resultSize: PixelSize,
        _ format: PixelFormat, kernel: ResamplingKernel = .lanczos3,
        orientation: Orientation = .upright, colorProfile: ColorProfile = .sRGB
    ) {
        precondition(planes.count == 3, "there is a plane each for Y, Cb and Cr")
        precondition(format == .yCbCr420 || format == .rgb8, "\(format) is not made of planes")
        writer = YCbCrWriter(resultSize, format, colorProfile, orientation: orientation)
        for (index, plane) in planes.enumerated() {
            if index == 2, plane == planes[1] {
                // The weights need not be worked out again.
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
                            kernel, isColor: index > 0, part.width / Double(size.width)),
                        vertical: Self.kernel(
                            kernel, isColor: index > 0, part.height / Double(size.height)))))
        }
    }

    /// Whether every row of the result has been made.
    public var isComplete: Bool { writer.isComplete }

    /// The bytes of rows that wait for those of another plane.
    public var waitingByteCount: Int { writer.waitingByteCount }

    /// Takes the next row of a plane from the top: 0 for Y, 1 for Cb, 2 for Cr.
    public mutating func append(_ row: Span<UInt8>, plane: Int) {
        resamplers[plane].append(row, into: &writer, plane: plane)
    }

    /// The picture; every row of every plane must have come in.
    public consuming func finish() -> PixelBuffer {
        precondition(isComplete, "rows of the source are missing")
        return writer.finish()
    }

    /// The part of the picture under a halved plane, which reaches past an odd side of the result.
    ///
    /// It does so on the right and at the bottom of the result; how the result is turned says
    /// which sides of the stored picture those are.
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

    private static func kernel(
        _ kernel: ResamplingKernel, isColor: Bool, _ scale: Double
    ) -> ResamplingKernel {
        isColor && scale < 1 && kernel.radius > 1 ? .triangle : kernel
    }
}

/// Puts the rows of three planes where they belong, or joins them to rows of RGB.
private struct YCbCrWriter: ~Copyable, PlaneSink {
    private var writer: OrientedWriter
    private let width: Int
    /// Rows that wait for those of another plane, if they are made into RGB.
    private var queues: [RowQueue]
    private var rgb: [UInt8]

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
                at: (queues[0].start, queues[1].start, queues[2].start), width: width, into: &rgb)
            for plane in 0..<3 { queues[plane].removeFirst() }
            let row = rgb
            writer.append(row.span.extracting(first: width * 3), plane: 0)
        }
    }

    consuming func finish() -> PixelBuffer { writer.finish() }
}

/// Rows one after the other, taken from the front.
private struct RowQueue {
    private let width: Int
    /// The rows, and room for a vector behind them.
    private(set) var bytes: [UInt8] = []
    /// Where the first row begins, and where the last ends.
    private(set) var start = 0
    private var end = 0

    init(width: Int) { self.width = width }

    var isEmpty: Bool { start == end }

    mutating func append(_ row: Span<UInt8>) {
        if start > 0, start * 2 >= end {
            // So the room is that of the longest wait, and each byte is moved once at most.
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

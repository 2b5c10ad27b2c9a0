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
    private let isRGB: Bool
    private let width: Int
    /// Rows of each plane that wait for those of another, and room for a vector behind them.
    private var waiting: [[UInt8]]
    /// How many bytes of ``waiting`` have been used, and how many are there.
    private var used = [0, 0, 0]
    private var filled = [0, 0, 0]
    private var rgb: [UInt8]

    init(
        _ size: PixelSize, _ format: PixelFormat, _ colorProfile: ColorProfile,
        orientation: Orientation
    ) {
        writer = OrientedWriter(size, format, colorProfile, orientation: orientation)
        isRGB = format == .rgb8
        width = size.width
        waiting = Array(repeating: [], count: 3)
        rgb = Array(repeating: 0, count: isRGB ? width * 3 + 13 : 0)
    }

    var isComplete: Bool { writer.isComplete }

    var waitingByteCount: Int { waiting.reduce(0) { $0 + $1.count } }

    mutating func append(_ row: Span<UInt8>, plane: Int) {
        guard isRGB else { return writer.append(row, plane: plane) }
        wait(row, plane)
        while filled[0] > used[0] && filled[1] > used[1] && filled[2] > used[2] {
            RowKernels.convertToRGB(
                (waiting[0], waiting[1], waiting[2]), at: (used[0], used[1], used[2]),
                width: width, into: &rgb)
            for plane in 0..<3 { used[plane] += width }
            let row = rgb
            writer.append(row.span.extracting(first: width * 3), plane: 0)
        }
    }

    consuming func finish() -> PixelBuffer { writer.finish() }

    private mutating func wait(_ row: Span<UInt8>, _ plane: Int) {
        if used[plane] > 0, used[plane] * 2 >= filled[plane] {
            // What is left moves to the front, so that the room is that of the longest wait.
            let rest = filled[plane] - used[plane]
            for index in 0..<rest { waiting[plane][index] = waiting[plane][used[plane] + index] }
            used[plane] = 0
            filled[plane] = rest
        }
        let needed = filled[plane] + width + 3
        if waiting[plane].count < needed {
            waiting[plane] += Array(repeating: 0, count: needed - waiting[plane].count)
        }
        RowKernels.copy(row, into: &waiting[plane], at: filled[plane])
        filled[plane] += width
    }
}

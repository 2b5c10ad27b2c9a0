// SPDX-License-Identifier: Apache-2.0

package import Pixels

/// The results of one pass over a file.
public struct DecodedSizes: Sendable {
    /// A result for each size, or `nil` if it needs another pass; the first is never `nil`.
    public var images: [DecodedImage?]
    /// The planes that the decoder has made, if they were wanted and can be kept.
    public var reduced: ReducedImage?

    /// The results, and the planes.
    public init(images: [DecodedImage?], reduced: ReducedImage? = nil) {
        self.images = images
        self.reduced = reduced
    }
}

/// The planes of Y′, Cb and Cr that a decoder has made of a file, and the results for which it makes them.
public struct ReducedPlanes: Sendable {
    /// One plane.
    package struct Plane: Sendable {
        /// The samples, in the format ``PixelFormat/gray8``.
        package let samples: PixelBuffer
        /// Samples per column of the stored image.
        package let horizontalScale: Double
        /// Samples per row of the stored image.
        package let verticalScale: Double

        /// A plane of the given samples.
        package init(_ samples: PixelBuffer, horizontalScale: Double, verticalScale: Double) {
            self.samples = samples
            self.horizontalScale = horizontalScale
            self.verticalScale = verticalScale
        }

        var source: SourcePlane {
            SourcePlane(
                size: samples.size, horizontalScale: horizontalScale, verticalScale: verticalScale)
        }
    }

    /// Y′, Cb and Cr.
    package let planes: [Plane]
    /// The values of ``DecodePlan/reduction(ofChroma:)`` for luma at which the decoder makes these planes.
    package let reductions: Range<Double>

    /// Planes, and the reductions at which the decoder makes them.
    package init(_ planes: [Plane], _ reductions: Range<Double>) {
        self.planes = planes
        self.reductions = reductions
    }
}

/// The planes of a file, kept so that results of further sizes are resampled from them.
///
/// A decoder that shrinks makes the same planes for a range of sizes. Each of these sizes gets exactly the
/// pixels of a decode of its own: ``ImageSource/resampled(_:_:)``.
public struct ReducedImage: Sendable {
    /// The planes, and the results for which the decoder makes them.
    package let planes: ReducedPlanes
    /// The plan of the result for which they were decoded.
    private let plan: DecodePlan
    /// How they were decoded.
    let report: DecodeReport

    init(_ planes: ReducedPlanes, _ plan: DecodePlan, _ report: DecodeReport) {
        self.planes = planes
        self.plan = plan
        self.report = report
    }

    /// Checks planes that were received from another process.
    ///
    /// - Throws: ``CodecError/decoderStopped(_:)``.
    init(
        received planes: ReducedPlanes, _ plan: DecodePlan, _ report: DecodeReport
    ) throws(CodecError) {
        self.init(planes, plan, report)
        let stored = plan.storedSize
        let areValid = planes.planes.allSatisfy { plane in
            let size = plane.samples.size
            return plane.samples.format == .gray8
                && Self.isReduced(size.width, stored.width, plane.horizontalScale)
                && Self.isReduced(size.height, stored.height, plane.verticalScale)
        }
        guard planes.planes.count == 3, areValid,
            planes.reductions.contains(plan.reduction(ofChroma: false))
        else {
            throw .decoderStopped(.nonsense(reason: "planes that do not fit the image"))
        }
    }

    /// The size of all planes in bytes, including padding.
    public var byteCount: Int { planes.planes.reduce(0) { $0 + $1.samples.byteCount } }

    /// Returns whether the decoder makes these planes for another plan.
    func serves(_ other: DecodePlan) -> Bool {
        other.isMadeOfSamePlanes(as: plan)
            && planes.reductions.contains(other.reduction(ofChroma: false))
    }

    /// Returns whether the planes of another image of the same file would be the same.
    public func makesSizes(of other: ReducedImage) -> Bool { serves(other.plan) }

    /// Resamples a result that ``serves(_:)`` allows.
    func resampled(_ plan: DecodePlan, _ profile: ColorProfile) -> PixelBuffer {
        var resampler = YCbCrResampler(
            from: planes.planes.map(\.source), region: plan.geometry.region, to: plan.geometry.size,
            plan.yCbCrFormat, kernel: plan.kernel, orientation: plan.orientation,
            colorProfile: profile)
        let heights = planes.planes.map(\.samples.size.height)
        // Rows of all planes in turn, so that few are buffered.
        for y in 0..<heights[0] {
            for (index, plane) in planes.planes.enumerated() {
                let rows = y * heights[index] / heights[0]..<(y + 1) * heights[index] / heights[0]
                for row in rows { resampler.append(plane.samples.row(row), plane: index) }
            }
        }
        return resampler.finish()
    }

    /// Returns whether a side of a plane agrees with that of the image, but for rounding up twice.
    private static func isReduced(_ side: Int, _ stored: Int, _ scale: Double) -> Bool {
        let exact = Double(stored) * scale
        return scale > 0 && scale <= 1 && Double(side) >= exact && Double(side) < exact + 2
    }
}

/// Collects the planes of a decode, in memory that the next decode uses again.
package final class PlaneCollector {
    private var maximumByteCount = 0
    private var buffers: [PlaneBuffer] = []
    private var sources: [SourcePlane] = []
    private var reductions = 0.0..<0.0

    /// A collector without memory.
    package init() {}

    /// Whether the rows of the current decode are kept.
    private(set) var isCollecting = false

    /// Prepares for a decode, whose planes are kept if they are not larger than a number of bytes.
    func prepare(maximumByteCount: Int) {
        self.maximumByteCount = maximumByteCount
        isCollecting = false
    }

    /// Keeps the rows that follow, unless they are too many or most of the image is not decoded.
    func begin(_ planes: [SourcePlane], _ plan: DecodePlan, _ reductions: Range<Double>) {
        let byteCount = planes.reduce(0) { $0 + PixelBuffer.byteCount(of: $1.size, .gray8) }
        guard reductions.contains(plan.reduction(ofChroma: false)), plan.showsMost,
            byteCount <= maximumByteCount
        else { return }
        isCollecting = true
        (sources, self.reductions) = (planes, reductions)
        if buffers.map(\.size) != planes.map(\.size) {
            buffers = planes.map { PlaneBuffer($0.size) }
        }
        for buffer in buffers { buffer.restart() }
    }

    func append(_ row: Span<UInt8>, plane: Int) {
        if isCollecting { buffers[plane].append(row) }
    }

    func restart() { isCollecting = false }

    /// Returns the planes; `nil` if rows are missing.
    func finish() -> ReducedPlanes? {
        guard isCollecting, buffers.allSatisfy(\.isComplete) else { return nil }
        let planes = zip(buffers, sources).map { buffer, source in
            ReducedPlanes.Plane(
                buffer.samples.snapshot, horizontalScale: source.horizontalScale,
                verticalScale: source.verticalScale)
        }
        return ReducedPlanes(planes, reductions)
    }
}

/// A plane that is filled row by row.
private final class PlaneBuffer {
    private(set) var samples: MutablePixelBuffer
    private var nextRow = 0

    init(_ size: PixelSize) { samples = MutablePixelBuffer(size: size, format: .gray8) }

    var size: PixelSize { samples.size }

    var isComplete: Bool { nextRow == samples.size.height }

    func restart() { nextRow = 0 }

    func append(_ row: Span<UInt8>) {
        samples.withMutableRow(nextRow) { row.copy(into: &$0) }
        nextRow += 1
    }
}

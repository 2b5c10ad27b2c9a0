// SPDX-License-Identifier: Apache-2.0

/// A consumer of the rows of an image's planes.
protocol PlaneSink: ~Copyable {
    /// Appends the next row of a plane, from the top.
    mutating func append(_ row: Span<UInt8>, plane: Int)
}

/// Writes the rows of a stored image into an upright buffer.
///
/// Each row is written directly to its final row or column, so orientation needs no second buffer.
struct OrientedWriter: ~Copyable, PlaneSink {
    private var buffer: MutablePixelBuffer
    private let orientation: Orientation
    private let planes: [PlaneLayout]
    /// The index of the next row of each plane.
    private var nextRows: [Int]

    init(
        _ storedSize: PixelSize, _ format: PixelFormat, _ colorProfile: ColorProfile,
        orientation: Orientation
    ) {
        self.orientation = orientation
        let size = orientation.oriented(storedSize)
        buffer = MutablePixelBuffer(size: size, format: format, colorProfile: colorProfile)
        planes = (0..<format.planeCount).map { PlaneLayout($0, format, size) }
        nextRows = Array(repeating: 0, count: planes.count)
    }

    /// Whether every row of every plane has been written.
    var isComplete: Bool {
        for (plane, row) in zip(planes, nextRows)
        where row < orientation.oriented(plane.size).height {
            return false
        }
        return true
    }

    mutating func append(_ row: Span<UInt8>, plane: Int) {
        let y = nextRows[plane]
        nextRows[plane] += 1
        guard orientation != .upright else {
            return buffer.withMutableRow(y, plane: plane) { $0.copy(row, at: 0) }
        }
        switch planes[plane].bytesPerPixel {
        case 1: scatter(row, y: y, planes[plane], bytesPerPixel: 1)
        case 2: scatter(row, y: y, planes[plane], bytesPerPixel: 2)
        case 3: scatter(row, y: y, planes[plane], bytesPerPixel: 3)
        case 4: scatter(row, y: y, planes[plane], bytesPerPixel: 4)
        case 6: scatter(row, y: y, planes[plane], bytesPerPixel: 6)
        default: scatter(row, y: y, planes[plane], bytesPerPixel: 8)
        }
    }

    consuming func finish() -> PixelBuffer { buffer.finish() }

    /// A copy of the image so far; rows not yet written are 0.
    var snapshot: PixelBuffer { buffer.snapshot }

    /// Writes a row pixel by pixel.
    ///
    /// `bytesPerPixel` is a constant at every call site, so that the compiler unrolls the copy.
    @inline(always)
    private mutating func scatter(
        _ row: Span<UInt8>, y: Int, _ plane: PlaneLayout, bytesPerPixel: Int
    ) {
        let storedSize = orientation.oriented(plane.size)
        let first = orientation.position(ofX: 0, y: y, in: storedSize)
        let second = orientation.position(ofX: 1, y: y, in: storedSize)
        let step =
            (second.y - first.y) * plane.bytesPerRow + (second.x - first.x) * bytesPerPixel
        var offset = plane.offset + first.y * plane.bytesPerRow + first.x * bytesPerPixel
        var result = buffer.bytes
        for x in 0..<storedSize.width {
            for byte in 0..<bytesPerPixel {
                result[offset + byte] = row[x * bytesPerPixel + byte]
            }
            offset += step
        }
    }
}

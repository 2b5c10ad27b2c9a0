// SPDX-License-Identifier: Apache-2.0

/// Takes the rows of the planes of a picture, each plane's from the top.
protocol PlaneSink: ~Copyable {
    mutating func append(_ row: Span<UInt8>, plane: Int)
}

/// Writes the rows of a stored picture into a buffer in which it stands upright.
///
/// Each row goes to where it is shown at once, as a row or as a column, so turning a picture takes
/// no second buffer.
struct OrientedWriter: ~Copyable, PlaneSink {
    private var buffer: MutablePixelBuffer
    private let orientation: Orientation
    private let planes: [PlaneLayout]
    /// The row that comes next, for each plane.
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
            buffer.withMutableRow(y, plane: plane) { result in
                unsafe row.withUnsafeBytes { source in
                    unsafe result.withUnsafeMutableBytes { unsafe $0.copyMemory(from: source) }
                }
            }
            return
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

    /// The picture as far as it has been written; the rest is 0.
    var snapshot: PixelBuffer { buffer.snapshot }

    /// `bytesPerPixel` is a constant at every call, so that the compiler unrolls the copy.
    @inline(always)
    private mutating func scatter(
        _ row: Span<UInt8>, y: Int, _ plane: PlaneLayout, bytesPerPixel: Int
    ) {
        let storedSize = orientation.oriented(plane.size)
        let first = orientation.position(ofX: 0, y: y, in: storedSize)
        let second = orientation.position(ofX: 1, y: y, in: storedSize)
        let step =
            (second.y - first.y) * plane.bytesPerRow + (second.x - first.x) * bytesPerPixel
        var place = plane.offset + first.y * plane.bytesPerRow + first.x * bytesPerPixel
        var result = buffer.bytes
        for x in 0..<storedSize.width {
            for byte in 0..<bytesPerPixel {
                result[place + byte] = row[x * bytesPerPixel + byte]
            }
            place += step
        }
    }
}

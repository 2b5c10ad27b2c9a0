// SPDX-License-Identifier: Apache-2.0

/// Writes the rows of a stored picture into a buffer in which it stands upright.
///
/// Each row goes to where it is shown at once, as a row or as a column, so turning a picture takes
/// no second buffer.
struct OrientedWriter: ~Copyable {
    private var buffer: MutablePixelBuffer
    private let storedSize: PixelSize
    private let orientation: Orientation
    private(set) var nextRow = 0

    init(
        _ storedSize: PixelSize, _ format: PixelFormat, _ colorProfile: ColorProfile,
        orientation: Orientation
    ) {
        self.storedSize = storedSize
        self.orientation = orientation
        buffer = MutablePixelBuffer(
            size: orientation.oriented(storedSize), format: format, colorProfile: colorProfile)
    }

    mutating func append(_ row: Span<UInt8>) {
        let y = nextRow
        nextRow += 1
        guard orientation != .upright else {
            buffer.withMutableRow(y) { result in
                unsafe row.withUnsafeBytes { source in
                    unsafe result.withUnsafeMutableBytes { unsafe $0.copyMemory(from: source) }
                }
            }
            return
        }
        switch buffer.format.bytesPerPixel {
        case 1: scatter(row, y: y, bytesPerPixel: 1)
        case 3: scatter(row, y: y, bytesPerPixel: 3)
        default: scatter(row, y: y, bytesPerPixel: 4)
        }
    }

    consuming func finish() -> PixelBuffer { buffer.finish() }

    /// `bytesPerPixel` is a constant at every call, so that the compiler unrolls the copy.
    @inline(always)
    private mutating func scatter(_ row: Span<UInt8>, y: Int, bytesPerPixel: Int) {
        let width = storedSize.width
        let first = orientation.position(ofX: 0, y: y, in: storedSize)
        let second = orientation.position(ofX: 1, y: y, in: storedSize)
        let step =
            (second.y - first.y) * buffer.bytesPerRow + (second.x - first.x) * bytesPerPixel
        var place = first.y * buffer.bytesPerRow + first.x * bytesPerPixel
        var result = buffer.bytes
        for x in 0..<width {
            for byte in 0..<bytesPerPixel {
                result[place + byte] = row[x * bytesPerPixel + byte]
            }
            place += step
        }
    }
}

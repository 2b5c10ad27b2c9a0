// SPDX-License-Identifier: Apache-2.0

extension PixelBuffer {
    /// A copy of a part that lies within the picture; the picture has one plane.
    public func cut(_ part: PixelRect) -> PixelBuffer {
        precondition(
            format.planeCount == 1 && !part.isEmpty && PixelRect(size).contains(part),
            "\(part) is no part of \(size)")
        var result = MutablePixelBuffer(
            size: part.size, format: format, colorProfile: colorProfile)
        let bytesPerPixel = format.bytesPerPixel
        let columns = part.x * bytesPerPixel..<(part.x + part.width) * bytesPerPixel
        for y in 0..<part.height {
            let source = row(part.y + y).extracting(columns)
            result.withMutableRow(y) { $0.copy(source, at: 0) }
        }
        return result.finish()
    }
}

extension MutablePixelBuffer {
    /// Writes a picture of the same format over a part of this one.
    public mutating func copy(_ image: PixelBuffer, to place: (x: Int, y: Int)) {
        precondition(image.format == format, "\(image.format) is not \(format)")
        let start = place.x * format.bytesPerPixel
        for y in 0..<image.size.height {
            withMutableRow(place.y + y) { $0.copy(image.row(y), at: start) }
        }
    }
}

extension MutableSpan<UInt8> {
    /// Writes bytes over those from `start` on.
    public mutating func copy(_ bytes: Span<UInt8>, at start: Int) {
        precondition(start >= 0 && start + bytes.count <= count, "the row is too short")
        unsafe bytes.withUnsafeBytes { source in
            unsafe withUnsafeMutableBytes { target in
                unsafe UnsafeMutableRawBufferPointer(rebasing: target[start...])
                    .copyMemory(from: source)
            }
        }
    }
}

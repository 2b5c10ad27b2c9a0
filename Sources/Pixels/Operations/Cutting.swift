// SPDX-License-Identifier: Apache-2.0

extension PixelBuffer {
    /// Returns a copy of a rectangle of a single-plane image.
    ///
    /// - Parameter part: the rectangle in pixels; not empty and within the image.
    /// - Returns: an image of the size of `part`, with the same format and colour profile.
    public func cut(_ part: PixelRect) -> PixelBuffer {
        precondition(
            format.planeCount == 1 && !part.isEmpty && PixelRect(size).contains(part),
            "\(part) is empty or outside the image of \(size) pixels")
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
    /// Copies an image into this one; both have the same single-plane format.
    ///
    /// - Parameters:
    ///   - image: the image to copy; it must fit at `place`.
    ///   - place: the position of its top left corner, in pixels.
    public mutating func copy(_ image: PixelBuffer, to place: (x: Int, y: Int)) {
        precondition(image.format == format, "the formats differ: \(image.format) and \(format)")
        let start = place.x * format.bytesPerPixel
        for y in 0..<image.size.height {
            withMutableRow(place.y + y) { $0.copy(image.row(y), at: start) }
        }
    }
}

extension MutableSpan<UInt8> {
    /// Copies `bytes` to the bytes from `start`; all of them must fit.
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

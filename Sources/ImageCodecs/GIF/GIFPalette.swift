// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// The colour table of an image, as pixels.
struct GIFPalette {
    /// The number of bytes after the last pixel that may be overwritten.
    static let writeAhead = 4

    /// The RGBA bytes of each index; alpha is 0 or 255.
    private var colors = [UInt32](repeating: 0, count: 256)
    /// The number of indices with a colour.
    private let count: Int
    private let transparentIndex: Int?
    /// Whether all colours are grey.
    private(set) var isGray = true

    init(_ frame: GIFFrame, _ file: Span<UInt8>) {
        transparentIndex = frame.transparentIndex
        if let range = frame.palette, range.upperBound <= file.count {
            count = range.count / 3
            for index in 0..<count {
                let place = range.lowerBound + index * 3
                let (red, green, blue) = (file[place], file[place + 1], file[place + 2])
                isGray = isGray && red == green && green == blue
                colors[index] = Self.pixel(red, green, blue)
            }
        } else {
            // Without a colour table the decoder chooses: a grey ramp.
            count = 256
            for index in 0..<256 {
                let gray = UInt8(truncatingIfNeeded: index)
                colors[index] = Self.pixel(gray, gray, gray)
            }
        }
        if let transparentIndex { colors[transparentIndex] = 0 }
    }

    private static func pixel(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> UInt32 {
        UInt32(littleEndian: UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16 | 0xFF00_0000)
    }

    /// Whether an index may have no colour.
    var mayBeTransparent: Bool { transparentIndex != nil || count < 256 }

    /// Returns whether a pixel has the transparent index, or an index without a colour.
    func hasTransparency(among indices: GIFLZWDecoder) -> Bool {
        guard mayBeTransparent else { return false }
        let transparent = transparentIndex ?? 256
        let colorCount = count
        return unsafe indices.bytes.withUnsafeBufferPointer { bytes in
            var found = false
            for place in 0..<indices.count {
                let index = unsafe Int(bytes[place])
                found = found || index == transparent || index >= colorCount
            }
            return found
        }
    }

    /// Writes the colours of a range of indices as RGBA to the start of a row.
    func color(_ indices: [UInt8], _ range: Range<Int>, into row: inout MutableSpan<UInt8>) {
        precondition(
            range.upperBound <= indices.count && range.count * 4 <= row.count,
            "the pixels do not fit")
        var pixels = unsafe row.mutableBytes
        write(indices.span.extracting(range), bytesPerPixel: 4, into: &pixels, at: 0)
    }

    /// Writes the colours of a range of indices.
    ///
    /// - Parameters:
    ///   - indices: the indices of the image.
    ///   - range: the range of indices to convert.
    ///   - format: 8-bit grey, RGB or RGBA.
    ///   - row: receives the pixels; ``writeAhead`` bytes after them may change.
    ///   - start: the offset of the first pixel in `row`.
    func color(
        _ indices: [UInt8], _ range: Range<Int>, _ format: PixelFormat,
        into row: inout [UInt8], at start: Int
    ) {
        let bytesPerPixel = format.bytesPerPixel
        precondition(
            range.upperBound <= indices.count
                && start + range.count * bytesPerPixel + Self.writeAhead <= row.count,
            "the pixels do not fit")
        var bytes = row.mutableSpan
        var pixels = unsafe bytes.mutableBytes
        write(
            indices.span.extracting(range), bytesPerPixel: bytesPerPixel, into: &pixels, at: start)
    }

    /// Writes the colours of indices to the start of a row, which ``writeAhead`` bytes follow.
    func color(_ indices: Span<UInt8>, _ format: PixelFormat, into row: inout [UInt8]) {
        let bytesPerPixel = format.bytesPerPixel
        precondition(
            indices.count * bytesPerPixel + Self.writeAhead <= row.count, "the pixels do not fit")
        var bytes = row.mutableSpan
        var pixels = unsafe bytes.mutableBytes
        write(indices, bytesPerPixel: bytesPerPixel, into: &pixels, at: 0)
    }

    /// Writes four bytes per index; the caller has checked that they fit.
    @inline(always)
    private func write(
        _ indices: Span<UInt8>, bytesPerPixel: Int, into pixels: inout MutableRawSpan,
        at start: Int
    ) {
        let colors = colors.span
        var place = start
        for x in 0..<indices.count {
            let color = unsafe colors[unchecked: Int(indices[unchecked: x])]
            unsafe pixels.storeBytes(of: color, toUncheckedByteOffset: place, as: UInt32.self)
            place &+= bytesPerPixel
        }
    }
}

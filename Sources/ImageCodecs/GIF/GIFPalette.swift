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

    /// Returns whether a pixel has the transparent index, or an index without a colour.
    func hasTransparency(among indices: GIFIndices) -> Bool {
        guard transparentIndex != nil || count < 256 else { return false }
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
        unsafe indices.withUnsafeBufferPointer { indices in
            unsafe colors.withUnsafeBufferPointer { colors in
                unsafe row.withUnsafeMutableBytes { row in
                    guard let row = row.baseAddress else { return }
                    for x in 0..<range.count {
                        let color = unsafe colors[Int(indices[range.lowerBound &+ x])]
                        unsafe row.storeBytes(of: color, toByteOffset: x &* 4, as: UInt32.self)
                    }
                }
            }
        }
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
        unsafe indices.withUnsafeBufferPointer { indices in
            unsafe colors.withUnsafeBufferPointer { colors in
                unsafe row.withUnsafeMutableBytes { row in
                    guard let row = unsafe row.baseAddress?.advanced(by: start) else { return }
                    for x in 0..<range.count {
                        let color = unsafe colors[Int(indices[range.lowerBound &+ x])]
                        unsafe row.storeBytes(
                            of: color, toByteOffset: x &* bytesPerPixel, as: UInt32.self)
                    }
                }
            }
        }
    }
}

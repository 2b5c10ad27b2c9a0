// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// The colours that a picture's indices stand for.
struct GIFPalette {
    /// Bytes behind the last pixel that may be written over.
    static let writeAhead = 4

    /// The four bytes of each index: red, green, blue, and alpha, which is 0 or 255.
    private var colors = [UInt32](repeating: 0, count: 256)
    /// How many indices have a colour.
    private let count: Int
    private let transparentIndex: Int?
    /// Whether red, green and blue of all colours are equal.
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
            // A file without palettes leaves the colours to whoever shows it.
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

    /// Whether a pixel has the transparent index, or one without a colour.
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

    /// Writes the colours of some indices as RGBA, at the beginning of a row.
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

    /// Writes the colours of some indices.
    ///
    /// - Parameters:
    ///   - indices: those of the picture.
    ///   - range: which of them.
    ///   - format: grey, RGB or RGBA of 8 bits.
    ///   - row: where the pixels go; ``writeAhead`` bytes behind them may change.
    ///   - start: where they begin.
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

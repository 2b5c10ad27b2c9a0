// SPDX-License-Identifier: Apache-2.0

/// The inner loops over the pixels of a row.
///
/// They check their buffers once, before the loop.
enum BMPRowKernels {
    /// The number of bytes after the last pixel that may be overwritten.
    static let writeAhead = 4

    /// Writes the colours of 8-bit indices.
    ///
    /// - Parameters:
    ///   - indices: at least `width` indices.
    ///   - width: the number of pixels.
    ///   - table: 256 colours, red in the lowest byte.
    ///   - byteCount: 1 for grey, 3 for RGB.
    ///   - pixels: receives the pixels; ``writeAhead`` bytes after them may change.
    static func lookUp(
        _ indices: Span<UInt8>, width: Int, _ table: [UInt32], byteCount: Int,
        into pixels: inout [UInt8]
    ) {
        precondition(
            indices.count >= width && table.count == 256,
            "there must be an index for each pixel and 256 colours")
        precondition(pixels.count >= width * byteCount + writeAhead, "the pixels do not fit")
        let table = table.span
        if byteCount == 1 {
            var grays = pixels.mutableSpan
            for x in 0..<width {
                let color = unsafe table[unchecked: Int(indices[unchecked: x])]
                unsafe grays[unchecked: x] = UInt8(truncatingIfNeeded: color)
            }
            return
        }
        var span = pixels.mutableSpan
        var bytes = unsafe span.mutableBytes
        for x in 0..<width {
            let color = unsafe table[unchecked: Int(indices[unchecked: x])].littleEndian
            unsafe bytes.storeBytes(
                of: color, toUncheckedByteOffset: x &* 3, as: UInt32.self)
        }
    }

    /// Unpacks indices of 1, 2 or 4 bits; the leftmost pixel is in the highest bits.
    static func unpack(_ row: Span<UInt8>, bits: Int, width: Int, into indices: inout [UInt8]) {
        precondition(row.count * 8 >= width * bits && indices.count >= width, "a row is too short")
        let mask = UInt8(truncatingIfNeeded: 1 << bits - 1)
        unsafe row.withUnsafeBufferPointer { row in
            unsafe indices.withUnsafeMutableBufferPointer { indices in
                for x in 0..<width {
                    let place = x &* bits
                    let byte = unsafe row[place &>> 3]
                    let shift = UInt8(truncatingIfNeeded: 8 &- bits &- (place & 7))
                    unsafe indices[x] = (byte &>> shift) & mask
                }
            }
        }
    }

    /// Converts BGR or BGRX to RGB.
    ///
    /// - Parameters:
    ///   - row: the stored pixels.
    ///   - width: the number of pixels.
    ///   - step: the bytes of a pixel, 3 or 4.
    ///   - pixels: receives RGB; ``writeAhead`` bytes after them may change.
    static func reverse(
        _ row: Span<UInt8>, width: Int, step: Int, into pixels: inout [UInt8]
    ) {
        precondition(row.count >= width * step, "a row is too short")
        precondition(pixels.count >= width * 3 + writeAhead, "the pixels do not fit")
        unsafe row.withUnsafeBytes { row in
            unsafe pixels.withUnsafeMutableBytes { pixels in
                guard let row = row.baseAddress, let pixels = pixels.baseAddress else { return }
                var x = 0
                // Four bytes at a time, except for the last pixel, which may have no fourth byte.
                while x < width - 1 {
                    let color = unsafe row.loadUnaligned(
                        fromByteOffset: x &* step, as: UInt32.self)
                    unsafe pixels.storeBytes(
                        of: color.byteSwapped.littleEndian &>> 8, toByteOffset: x &* 3,
                        as: UInt32.self)
                    x &+= 1
                }
                for channel in 0..<3 {
                    let sample = unsafe row.load(
                        fromByteOffset: x &* step &+ 2 &- channel, as: UInt8.self)
                    unsafe pixels.storeBytes(
                        of: sample, toByteOffset: x &* 3 &+ channel, as: UInt8.self)
                }
            }
        }
    }

    /// Converts BGRA with straight alpha to premultiplied RGBA.
    static func premultiply(_ row: Span<UInt8>, width: Int, into pixels: inout [UInt8]) {
        precondition(row.count >= width * 4 && pixels.count >= width * 4, "a row is too short")
        unsafe row.withUnsafeBytes { row in
            unsafe pixels.withUnsafeMutableBytes { pixels in
                guard let row = row.baseAddress, let pixels = pixels.baseAddress else { return }
                for x in 0..<width {
                    let pixel = unsafe row.loadUnaligned(
                        fromByteOffset: x &* 4, as: UInt32.self
                    ).littleEndian
                    let alpha = pixel &>> 24
                    // Two 8-bit samples at a time, each with 8 bits of headroom.
                    var outer = pixel & 0xFF_00FF
                    var green = pixel &>> 8 & 0xFF
                    if alpha != 255 {
                        outer = outer &* alpha &+ 0x80_0080
                        outer = (outer &+ ((outer &>> 8) & 0xFF_00FF)) &>> 8 & 0xFF_00FF
                        green = green &* alpha &+ 0x80
                        green = (green &+ (green &>> 8)) &>> 8
                    }
                    let color = outer &>> 16 | outer &<< 16 | green &<< 8 | alpha &<< 24
                    unsafe pixels.storeBytes(
                        of: color.littleEndian, toByteOffset: x &* 4, as: UInt32.self)
                }
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

/// Conversion between straight and premultiplied alpha, in integers.
public enum PremultipliedAlpha {
    /// Returns `color × alpha ÷ 255`, rounded to the nearest integer.
    @inlinable
    public static func multiplied(_ color: UInt8, by alpha: UInt8) -> UInt8 {
        let product = UInt32(color) * UInt32(alpha) + 128
        return UInt8(truncatingIfNeeded: (product + product >> 8) >> 8)
    }

    /// Returns `color × 255 ÷ alpha`, rounded to the nearest integer, at most 255; 0 if alpha is 0.
    @inlinable
    public static func divided(_ color: UInt8, by alpha: UInt8) -> UInt8 {
        guard alpha > 0 else { return 0 }
        return UInt8(min(255, (UInt32(color) * 255 + UInt32(alpha) / 2) / UInt32(alpha)))
    }

    /// Multiplies the colours of a row of 8-bit RGBA pixels by their alpha, in place.
    public static func multiply(_ row: inout MutableSpan<UInt8>) {
        unsafe row.withUnsafeMutableBytes { row in
            guard let start = row.baseAddress else { return }
            unsafe multiply(start, row.count, into: start)
        }
    }

    /// Multiplies the colours of a row of 8-bit RGBA pixels by their alpha.
    ///
    /// - Parameters:
    ///   - row: the straight pixels.
    ///   - result: receives the premultiplied pixels; at least as long as `row`.
    public static func multiply(_ row: Span<UInt8>, into result: inout MutableSpan<UInt8>) {
        precondition(
            row.count <= result.count,
            "the result row is too short: \(result.count) of \(row.count) bytes")
        unsafe row.withUnsafeBytes { row in
            unsafe result.withUnsafeMutableBytes { result in
                guard let from = row.baseAddress, let to = result.baseAddress else { return }
                unsafe multiply(from, row.count, into: to)
            }
        }
    }

    /// Multiplies pixels as ``multiplied(_:by:)`` does, all three colours at once.
    private static func multiply(
        _ from: UnsafeRawPointer, _ byteCount: Int, into to: UnsafeMutableRawPointer
    ) {
        var offset = 0
        while offset &+ 4 <= byteCount {
            let pixel = unsafe from.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            let isOpaque = UInt32(littleEndian: pixel) &>> 24 == 255
            unsafe to.storeBytes(
                of: isOpaque ? pixel : multiplied(pixel), toByteOffset: offset, as: UInt32.self)
            offset &+= 4
        }
    }

    @inline(__always)
    private static func multiplied(_ pixel: UInt32) -> UInt32 {
        let pixel = UInt32(littleEndian: pixel)
        let alpha = UInt64(pixel &>> 24)
        // Red, green and blue in lanes of 16 bits.
        let spread =
            UInt64(pixel & 0xFF) | UInt64(pixel & 0xFF00) &<< 8 | UInt64(pixel & 0xFF_0000) &<< 16
        var product = spread &* alpha &+ 0x0080_0080_0080
        product = (product &+ (product &>> 8) & 0x00FF_00FF_00FF) &>> 8
        let result =
            UInt32(truncatingIfNeeded: product & 0xFF)
            | UInt32(truncatingIfNeeded: (product &>> 8) & 0xFF00)
            | UInt32(truncatingIfNeeded: (product &>> 16) & 0xFF_0000)
            | pixel & 0xFF00_0000
        return UInt32(littleEndian: result)
    }

    /// Divides the colours of a row of premultiplied 8-bit RGBA pixels by their alpha, in place.
    public static func divide(_ row: inout MutableSpan<UInt8>) {
        for pixel in stride(from: 0, to: row.count - 3, by: 4) where row[pixel + 3] != 255 {
            let alpha = row[pixel + 3]
            for channel in pixel..<pixel + 3 {
                row[channel] = divided(row[channel], by: alpha)
            }
        }
    }

    /// Multiplies the colours of a row of 16-bit RGBA pixels by their alpha, in place.
    ///
    /// Samples are in native byte order; results are rounded to the nearest integer.
    public static func multiply16(_ row: inout MutableSpan<UInt8>) {
        forEachPixel16(&row) { color, alpha in (color * alpha + 32767) / 65535 }
    }

    /// Divides the colours of a row of premultiplied 16-bit RGBA pixels by their alpha, in place.
    ///
    /// Samples are in native byte order; results are at most 65535, and 0 if alpha is 0.
    public static func divide16(_ row: inout MutableSpan<UInt8>) {
        forEachPixel16(&row) { color, alpha in
            alpha == 0 ? 0 : min(65535, (color * 65535 + alpha / 2) / alpha)
        }
    }

    @inline(__always)
    private static func forEachPixel16(
        _ row: inout MutableSpan<UInt8>, _ body: (_ color: UInt32, _ alpha: UInt32) -> UInt32
    ) {
        unsafe row.withUnsafeMutableBytes { bytes in
            let samples = unsafe bytes.bindMemory(to: UInt16.self)
            for pixel in stride(from: 0, to: samples.count - 3, by: 4) {
                let alpha = unsafe UInt32(samples[pixel + 3])
                if alpha == 65535 { continue }
                for channel in pixel..<pixel + 3 {
                    unsafe samples[channel] = UInt16(body(UInt32(samples[channel]), alpha))
                }
            }
        }
    }
}

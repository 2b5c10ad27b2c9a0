// SPDX-License-Identifier: Apache-2.0

#if PNG
internal import Pixels

/// The inner loops over the samples of a row.
///
/// They check their buffers once, before the loop.
enum PNGRowKernels {
    /// The number of bytes after the last pixel that may be overwritten.
    static let writeAhead = 32

    /// Moves a range of an array to its beginning.
    static func moveToFront(_ range: Range<Int>, of bytes: inout [UInt8]) {
        precondition(
            range.lowerBound >= 0 && range.upperBound <= bytes.count,
            "the range is outside of the array")
        unsafe bytes.withUnsafeMutableBytes { bytes in
            unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
    }

    /// Writes the table entry of each byte.
    ///
    /// - Parameters:
    ///   - row: the bytes, each containing one or more samples.
    ///   - table: 256 entries with a stride of 4, 8 or 32 bytes.
    ///   - entryByteCount: the used bytes of an entry.
    ///   - pixels: receives all entries in order; ``writeAhead`` bytes after them may change.
    static func lookUp(
        _ row: Span<UInt8>, in table: [UInt8], entryByteCount: Int, into pixels: inout [UInt8]
    ) {
        let step = table.count / 256
        precondition(
            table.count == 256 * step && step >= entryByteCount
                && (row.count - 1) * entryByteCount + step <= pixels.count,
            "the pixels do not fit")
        var span = pixels.mutableSpan
        var pixels = unsafe span.mutableBytes
        let table = unsafe table.span.bytes
        switch (step, entryByteCount) {
        case (4, 3): lookUp(row, table, &pixels, 3, UInt32.self)
        case (4, 4): lookUp(row, table, &pixels, 4, UInt32.self)
        case (4, _): lookUp(row, table, &pixels, entryByteCount, UInt32.self)
        case (8, _): lookUp(row, table, &pixels, entryByteCount, UInt64.self)
        case (32, _): lookUp(row, table, &pixels, entryByteCount, SIMD32<UInt8>.self)
        default: preconditionFailure("entries must have a stride of 4, 8 or 32 bytes")
        }
    }

    @inline(always)
    private static func lookUp<Entry: BitwiseCopyable>(
        _ row: Span<UInt8>, _ table: RawSpan, _ pixels: inout MutableRawSpan,
        _ entryByteCount: Int, _ type: Entry.Type
    ) {
        var place = 0
        for i in 0..<row.count {
            let entry = unsafe table.unsafeLoadUnaligned(
                fromUncheckedByteOffset: Int(row[unchecked: i]) &* MemoryLayout<Entry>.size,
                as: Entry.self)
            unsafe pixels.storeBytes(of: entry, toUncheckedByteOffset: place, as: Entry.self)
            place &+= entryByteCount
        }
    }

    /// Rounds big-endian 16-bit samples to the nearest 8-bit value: v × 255 ÷ 65535.
    static func narrow(_ row: Span<UInt8>, into result: inout [UInt8]) {
        let count = row.count / 2
        precondition(count <= result.count, "the samples do not fit")
        unsafe row.withUnsafeBytes { row in
            unsafe result.withUnsafeMutableBytes { result in
                guard let row = row.baseAddress, let result = result.baseAddress else { return }
                var i = 0
                while i &+ 8 <= count {
                    let pairs = unsafe row.loadUnaligned(
                        fromByteOffset: i &* 2, as: SIMD8<UInt16>.self)
                    unsafe result.storeBytes(
                        of: narrowed(pairs), toByteOffset: i,
                        as: SIMD8<UInt8>.self)
                    i &+= 8
                }
                while i < count {
                    let pair = unsafe row.loadUnaligned(
                        fromByteOffset: i &* 2, as: UInt16.self)
                    unsafe result.storeBytes(
                        of: narrowed(SIMD8(repeating: pair))[0],
                        toByteOffset: i, as: UInt8.self)
                    i &+= 1
                }
            }
        }
    }

    /// Returns v ÷ 257, rounded: the high byte, one more or less where the low byte differs by
    /// more than 128.
    @inline(always)
    private static func narrowed(_ pairs: SIMD8<UInt16>) -> SIMD8<UInt8> {
        let pairs = unsafe unsafeBitCast(pairs, to: SIMD8<Int16>.self)
        let (large, small) = (pairs & 0xFF, (pairs &>> 8) & 0xFF)
        let difference = small &- large
        let rounded = large &+ ((difference &+ 127 &- difference &>> 15) &>> 8)
        return unsafe unsafeBitCast(rounded, to: SIMD16<UInt8>.self).evenHalf
    }

    /// Multiplies the colours of RGBA pixels by their alpha.
    ///
    /// - Parameters:
    ///   - row: RGBA pixels with straight alpha.
    ///   - pixels: receives the result.
    static func premultiply(_ row: Span<UInt8>, into pixels: inout [UInt8]) {
        precondition(row.count % 4 == 0 && row.count <= pixels.count, "the pixels do not fit")
        unsafe row.withUnsafeBytes { row in
            unsafe pixels.withUnsafeMutableBytes { pixels in
                guard let from = row.baseAddress, let to = pixels.baseAddress else { return }
                unsafe premultiply(from, to, row.count)
            }
        }
    }

    /// Multiplies the colours of RGBA pixels by their alpha, in place.
    static func premultiply(_ pixels: inout [UInt8], byteCount: Int) {
        precondition(
            byteCount % 4 == 0 && byteCount <= pixels.count, "the byte count exceeds the array")
        unsafe pixels.withUnsafeMutableBytes { pixels in
            guard let base = pixels.baseAddress else { return }
            unsafe premultiply(base, base, byteCount)
        }
    }

    @inline(always)
    private static func premultiply(
        _ from: UnsafeRawPointer, _ to: UnsafeMutableRawPointer, _ byteCount: Int
    ) {
        let opaque: UInt64 = 0xFF00_0000_FF00_0000
        var i = 0
        while i &+ 16 <= byteCount {
            let pairs = unsafe from.loadUnaligned(fromByteOffset: i, as: SIMD2<UInt64>.self)
            let pixels = unsafe from.loadUnaligned(fromByteOffset: i, as: SIMD4<UInt32>.self)
            let result = pairs[0] & pairs[1] & opaque == opaque ? pixels : premultiplied(pixels)
            unsafe to.storeBytes(of: result, toByteOffset: i, as: SIMD4<UInt32>.self)
            i &+= 16
        }
        while i < byteCount {
            let pixel = unsafe from.loadUnaligned(fromByteOffset: i, as: UInt32.self)
            let result = premultiplied(SIMD4(repeating: pixel))[0]
            unsafe to.storeBytes(of: result, toByteOffset: i, as: UInt32.self)
            i &+= 4
        }
    }

    /// As ``PremultipliedAlpha/multiplied(_:by:)``, two channels of four pixels at a time.
    @inline(always)
    private static func premultiplied(_ pixels: SIMD4<UInt32>) -> SIMD4<UInt32> {
        let alpha = pixels &>> 24
        let outer = scaled(pixels & 0xFF_00FF, by: alpha | alpha &<< 16)
        // Green by alpha, and alpha by 255.
        let inner = scaled((pixels &>> 8) & 0xFF_00FF, by: alpha | 0xFF_0000)
        return outer | inner &<< 8
    }

    @inline(always)
    private static func scaled(
        _ values: SIMD4<UInt32>, by factors: SIMD4<UInt32>
    ) -> SIMD4<UInt32> {
        let product =
            unsafe unsafeBitCast(values, to: SIMD8<UInt16>.self)
            &* unsafeBitCast(factors, to: SIMD8<UInt16>.self) &+ 128
        return unsafe unsafeBitCast(
            (product &+ product &>> 8) &>> 8, to: SIMD4<UInt32>.self)
    }

    /// Converts RGB with a transparent colour to premultiplied RGBA.
    ///
    /// - Parameters:
    ///   - row: the RGB pixels.
    ///   - transparent: the transparent colour, red in the lowest byte.
    ///   - pixels: receives the result.
    static func expand(
        _ row: Span<UInt8>, transparent: UInt32, into pixels: inout [UInt8]
    ) {
        let count = row.count / 3
        precondition(count * 4 <= pixels.count, "the pixels do not fit")
        unsafe row.withUnsafeBytes { row in
            unsafe pixels.withUnsafeMutableBytes { pixels in
                guard let row = row.baseAddress, let pixels = pixels.baseAddress else { return }
                for x in 0..<count {
                    let low = unsafe row.loadUnaligned(
                        fromByteOffset: x &* 3, as: UInt16.self)
                    let high = unsafe row.load(fromByteOffset: x &* 3 &+ 2, as: UInt8.self)
                    let color = UInt32(low) | UInt32(high) &<< 16
                    unsafe pixels.storeBytes(
                        of: color == transparent ? 0 : color | 0xFF00_0000,
                        toByteOffset: x &* 4, as: UInt32.self)
                }
            }
        }
    }

    /// Converts grey with straight alpha to premultiplied RGBA, from right to left, so that it
    /// works in place.
    ///
    /// - Parameters:
    ///   - width: the number of pixels.
    ///   - pixels: pairs of grey and alpha; on return, RGBA.
    static func expandGrayAlpha(width: Int, in pixels: inout [UInt8]) {
        precondition(width * 4 <= pixels.count, "the pixels do not fit")
        unsafe pixels.withUnsafeMutableBytes { pixels in
            guard let pixels = pixels.baseAddress else { return }
            var x = width &- 1
            while x >= 0 {
                let pair = unsafe pixels.loadUnaligned(fromByteOffset: x &* 2, as: UInt16.self)
                let alpha = UInt8(truncatingIfNeeded: pair &>> 8)
                let gray = PremultipliedAlpha.multiplied(
                    UInt8(truncatingIfNeeded: pair), by: alpha)
                unsafe pixels.storeBytes(
                    of: UInt32(gray) &* 0x1_0101 | UInt32(alpha) &<< 24, toByteOffset: x &* 4,
                    as: UInt32.self)
                x &-= 1
            }
        }
    }

    /// Copies a row to the beginning of an array.
    static func copy(_ row: Span<UInt8>, into result: inout [UInt8]) {
        precondition(row.count <= result.count, "the row does not fit")
        unsafe row.withUnsafeBytes { row in
            unsafe result.withUnsafeMutableBytes { unsafe $0.copyMemory(from: row) }
        }
    }

    /// Writes pixels to every `step`-th position of a row, starting at `first`.
    static func spread(
        _ pixels: [UInt8], count width: Int, bytesPerPixel: Int,
        into row: inout MutableSpan<UInt8>, first: Int, step: Int
    ) {
        precondition(
            width * bytesPerPixel <= pixels.count
                && (first + (width - 1) * step + 1) * bytesPerPixel <= row.count,
            "the pixels do not fit")
        unsafe pixels.withUnsafeBytes { pixels in
            unsafe row.withUnsafeMutableBytes { row in
                switch bytesPerPixel {
                case 1: unsafe spread(pixels, row, 1, width, first, step)
                case 2: unsafe spread(pixels, row, 2, width, first, step)
                case 3: unsafe spread(pixels, row, 3, width, first, step)
                case 4: unsafe spread(pixels, row, 4, width, first, step)
                default: unsafe spread(pixels, row, bytesPerPixel, width, first, step)
                }
            }
        }
    }

    @inline(always)
    private static func spread(
        _ pixels: UnsafeRawBufferPointer, _ row: UnsafeMutableRawBufferPointer,
        _ bytesPerPixel: Int, _ width: Int, _ first: Int, _ step: Int
    ) {
        for x in 0..<width {
            let place = (first &+ x &* step) &* bytesPerPixel
            for byte in 0..<bytesPerPixel {
                unsafe row[place &+ byte] = pixels[x &* bytesPerPixel &+ byte]
            }
        }
    }
}
#endif

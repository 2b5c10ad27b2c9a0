// SPDX-License-Identifier: Apache-2.0

package import Pixels

/// Converts rows of a pixel format to premultiplied floats and back.
package struct RowConversion {
    let format: PixelFormat
    let width: Int
    /// The value of the largest integer sample.
    ///
    /// With a constant instead, the compiler merges clamping with what follows, into more instructions.
    private var limit = SIMD4<Float>.one

    /// - Parameters:
    ///   - format: a format with one plane, except those with packed samples.
    ///   - width: the number of pixels of a row.
    package init(_ format: PixelFormat, width: Int) {
        self.format = format
        self.width = width
    }

    /// Reads a range of the pixels of a row.
    package func unpack(
        _ source: Span<UInt8>, _ range: Range<Int>, into row: inout [SIMD4<Float>]
    ) {
        let count = format.bytesPerPixel
        precondition(
            range.upperBound <= row.count && range.upperBound * count <= source.count,
            "the row is too short")
        var pixels = row.mutableSpan
        switch format {
        case .alpha8:
            for x in range { pixels[x] = SIMD4(0, 0, 0, Float(source[x]) * (1 / 255)) }
        case .gray8:
            for x in range {
                pixels[x] = SIMD4(SIMD3(repeating: Float(source[x]) * (1 / 255)), 1)
            }
        case .rgb8:
            let bytes = unsafe source.bytes
            // Four bytes are read of each pixel, except the last one of the row.
            let last = source.count - 4
            let end = max(range.lowerBound, min(range.upperBound, (last + 3) / 3))
            for x in range.lowerBound..<end {
                var pixel = Self.floats(bytes, x &* 3)
                pixel.w = 1
                unsafe pixels[unchecked: x] = pixel
            }
            if let x = range.last, x * 3 > last {
                pixels[x] =
                    SIMD4(
                        Float(source[x * 3]), Float(source[x * 3 + 1]), Float(source[x * 3 + 2]),
                        255)
                    * (1 / 255)
            }
        case .rgba8:
            let bytes = unsafe source.bytes
            for x in range { unsafe pixels[unchecked: x] = Self.floats(bytes, x &* 4) }
        case .gray16, .rgb16, .rgba16, .rgbaHalf: unpackDeep(source, range, &pixels)
        case .bgra8, .rgb565, .rgb555, .yCbCr420:
            preconditionFailure("\(format) is converted before an effect")
        }
    }

    /// Returns four bytes from an offset, which is not checked, as floats from 0 to 1.
    @inline(__always)
    private static func floats(_ bytes: RawSpan, _ offset: Int) -> SIMD4<Float> {
        let four = unsafe bytes.unsafeLoadUnaligned(
            fromUncheckedByteOffset: offset, as: SIMD4<UInt8>.self)
        // A byte in the low bits of the float 2²³ adds its value.
        let bits = SIMD4<UInt32>(truncatingIfNeeded: four) | 0x4B00_0000
        return unsafe (unsafeBitCast(bits, to: SIMD4<Float>.self) - 8_388_608) * (1 / 255)
    }

    private func unpackDeep(
        _ source: Span<UInt8>, _ range: Range<Int>, _ pixels: inout MutableSpan<SIMD4<Float>>
    ) {
        source.withSamples16 { samples in
            func float(_ index: Int) -> Float { Float(samples[index]) * (1 / 65535) }
            func half(_ index: Int) -> Float { Float(Float16(bitPattern: samples[index])) }
            for x in range {
                pixels[x] =
                    switch format {
                    case .gray16: SIMD4(SIMD3(repeating: float(x)), 1)
                    case .rgb16:
                        SIMD4(float(x * 3), float(x * 3 + 1), float(x * 3 + 2), 1)
                    case .rgba16:
                        SIMD4(float(x * 4), float(x * 4 + 1), float(x * 4 + 2), float(x * 4 + 3))
                    default: SIMD4(half(x * 4), half(x * 4 + 1), half(x * 4 + 2), half(x * 4 + 3))
                    }
            }
        }
    }

    /// Writes a row: integers are rounded, colours are clamped to 0...alpha; half floats are neither.
    package func pack(_ row: [SIMD4<Float>], into result: inout MutableSpan<UInt8>) {
        precondition(
            row.count >= width && result.count >= width * format.bytesPerPixel,
            "the row is too short")
        let pixels = row.span
        switch format {
        case .alpha8: for x in 0..<width { result[x] = Self.bytes(pixels[x]).w }
        case .gray8: for x in 0..<width { result[x] = Self.bytes(pixels[x]).x }
        case .rgb8: packTriples(pixels, &result)
        case .rgba8:
            unsafe result.withUnsafeMutableBytes { result in
                for x in 0..<width {
                    unsafe result.storeBytes(
                        of: Self.bytes(pixels[unchecked: x]), toByteOffset: x &* 4,
                        as: SIMD4<UInt8>.self)
                }
            }
        case .gray16, .rgb16, .rgba16, .rgbaHalf: packDeep(pixels, &result)
        case .bgra8, .rgb565, .rgb555, .yCbCr420:
            preconditionFailure("no effect results in \(format)")
        }
    }

    /// Writes a row of RGB in 0...1 with the entries of ``PointOperations/takeByteTable()``.
    func pack(_ row: PixelRow, _ table: [UInt8], into result: inout MutableSpan<UInt8>) {
        precondition(
            format == .rgb8 && row.count >= width && result.count >= width * 3,
            "the row is too short")
        let (table, pixels) = (table.span, row.span)
        unsafe result.withUnsafeMutableBytes { result in
            for x in 0..<width {
                let indices = CurveTable.indices(unsafe pixels[unchecked: x])
                unsafe result[x &* 3] = table[unchecked: indices.red]
                unsafe result[x &* 3 &+ 1] = table[unchecked: indices.green]
                unsafe result[x &* 3 &+ 2] = table[unchecked: indices.blue]
            }
        }
    }

    /// Writes a row of opaque RGB.
    private func packTriples(_ pixels: Span<SIMD4<Float>>, _ result: inout MutableSpan<UInt8>) {
        unsafe result.withUnsafeMutableBytes { result in
            // The fourth byte belongs to the next pixel, which overwrites it.
            for x in 0..<width - 1 {
                unsafe result.storeBytes(
                    of: opaqueBytes(pixels[unchecked: x]), toByteOffset: x &* 3,
                    as: SIMD4<UInt8>.self)
            }
            let last = opaqueBytes(pixels[width - 1])
            for channel in 0..<3 { unsafe result[width * 3 - 3 + channel] = last[channel] }
        }
    }

    @inline(__always)
    private func opaqueBytes(_ pixel: SIMD4<Float>) -> SIMD4<UInt8> {
        SIMD4(truncatingIfNeeded: (pixel.clamped(upTo: limit) * 255).nearestIntegers)
    }

    private func packDeep(_ pixels: Span<SIMD4<Float>>, _ result: inout MutableSpan<UInt8>) {
        let count = format.channelCount
        for x in 0..<width {
            let samples: SIMD4<UInt16> =
                format == .rgbaHalf
                ? SIMD4(
                    Float16(pixels[x].x).bitPattern, Float16(pixels[x].y).bitPattern,
                    Float16(pixels[x].z).bitPattern, Float16(pixels[x].w).bitPattern)
                : SIMD4(truncatingIfNeeded: Self.rounded(pixels[x], 65535))
            for channel in 0..<count {
                result.storeSample16(samples[channel], at: x * count + channel)
            }
        }
    }

    @inline(__always)
    private static func bytes(_ pixel: SIMD4<Float>) -> SIMD4<UInt8> {
        SIMD4(truncatingIfNeeded: rounded(pixel, 255))
    }

    /// Returns the components, clamped to 0...alpha and alpha to 0...1, times `scale`, as integers.
    @inline(__always)
    private static func rounded(_ pixel: SIMD4<Float>, _ scale: Float) -> SIMD4<UInt32> {
        let alpha = pixel.w > 0 ? min(pixel.w, 1) : 0
        return (pixel.clamped(to: SIMD4(repeating: alpha)) * scale).nearestIntegers
    }
}

extension PixelBuffer {
    /// The image in a format that ``RowConversion`` reads; O(1) unless samples are packed or in planes.
    var unpacked: PixelBuffer {
        format == .rgbaHalf ? self : converted(to: format.withIntegerSamples)
    }
}

extension SIMD4<Float> {
    /// Returns the components, at least 0 and at most `limit`; 0 for NaN.
    @inline(__always)
    func clamped(upTo limit: SIMD4<Float>) -> SIMD4<Float> {
        let positive = SIMD4.zero.replacing(with: self, where: self .> 0)
        return positive.replacing(with: limit, where: positive .> limit)
    }

    /// Returns the components, at least 0 and at most `upperBound`.
    @inline(__always)
    func clamped(to upperBound: SIMD4<Float>) -> SIMD4<Float> {
        let positive = replacing(with: 0, where: self .< 0)
        return positive.replacing(with: upperBound, where: positive .> upperBound)
    }

    /// The nearest integers of components from 0 to 65535, ties to even; unspecified for NaN.
    @inline(__always)
    var nearestIntegers: SIMD4<UInt32> {
        // Adding 2²³ leaves the rounded integer in the low bits: much cheaper than conversion.
        unsafe unsafeBitCast(self + 8_388_608, to: SIMD4<UInt32>.self) & 0xFFFF
    }
}

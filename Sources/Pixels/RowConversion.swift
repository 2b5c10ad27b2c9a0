// SPDX-License-Identifier: Apache-2.0

extension Span<UInt8> {
    /// Calls `body` with the bytes as 16-bit samples in native byte order.
    ///
    /// The memory must be aligned to 2 bytes, as arrays and rows of a ``PixelBuffer`` are. An odd
    /// last byte is ignored.
    @inline(__always)
    public func withSamples16<Result>(_ body: (Span<UInt16>) -> Result) -> Result {
        unsafe withUnsafeBytes { bytes in
            body(unsafe Span<UInt16>(_unsafeElements: bytes.bindMemory(to: UInt16.self)))
        }
    }
}

extension PixelBuffer {
    /// Returns the image in a single-plane format; O(1) unless it is ``PixelFormat/yCbCr420``.
    ///
    /// ``PixelFormat/yCbCr420`` becomes ``PixelFormat/rgb8`` by JFIF's matrix, with linear chroma
    /// upsampling.
    ///
    /// - SeeAlso: ITU-T T.871 (JFIF), section 7.
    public func convertedFromYCbCr() -> PixelBuffer {
        guard format == .yCbCr420 else { return self }
        var resampler = YCbCrResampler(
            from: (0..<3).map { plane in
                let scale = plane == 0 ? 1 : 0.5
                return SourcePlane(
                    size: layout(ofPlane: plane).size, horizontalScale: scale,
                    verticalScale: scale)
            },
            region: SampleRegion(size), to: size, .rgb8, colorProfile: colorProfile)
        for y in 0..<size.height {
            if y % 2 == 0 {
                resampler.append(row(y / 2, plane: 1), plane: 1)
                resampler.append(row(y / 2, plane: 2), plane: 2)
            }
            resampler.append(row(y), plane: 0)
        }
        return resampler.finish()
    }

    /// Returns the image in another format; O(1) if it has that format already.
    ///
    /// Samples of 16 bits are rounded to 8; samples of 8 bits are scaled to the full 16-bit range.
    /// Grey becomes equal red, green and blue; colours become grey by JFIF's luma.
    /// ``PixelFormat/alpha8`` becomes black. An opaque format drops alpha, which composites the
    /// image over black. ``PixelFormat/yCbCr420`` is made by JFIF's matrix, its chroma from the mean of
    /// each 2×2 pixels.
    ///
    /// - Parameters:
    ///   - result: the target format.
    ///   - dithering: the dithering method for formats with 5 or 6 bits per channel.
    /// - Returns: an image of the same size and colour profile.
    public func converted(
        to result: PixelFormat, dithering: Dithering = .ordered
    ) -> PixelBuffer {
        guard format != result else { return self }
        if result == .yCbCr420 { return convertedToYCbCr() }
        guard format.planeCount == 1 else {
            return convertedFromYCbCr().converted(to: result, dithering: dithering)
        }
        var buffer = MutablePixelBuffer(size: size, format: result, colorProfile: colorProfile)
        if format == .bgra8, result == .rgba8 {
            for y in 0..<size.height {
                buffer.withMutableRow(y) { target in
                    row(y).copy(into: &target)
                    target.exchangeRedAndBlue()
                }
            }
            return buffer.finish()
        }
        if format.canBeResampled, [.gray8, .rgb8, .rgba8, .bgra8].contains(result) {
            for y in 0..<size.height {
                buffer.withMutableRow(y) { target in
                    guard result == .bgra8 else {
                        return row(y).convert(from: format, to: result, into: &target)
                    }
                    row(y).convert(from: format, to: .rgba8, into: &target)
                    target.exchangeRedAndBlue()
                }
            }
            return buffer.finish()
        }
        var deepRow = DeepRow(width: size.width)
        var ditherer = Ditherer(dithering, result, width: size.width)
        for y in 0..<size.height {
            deepRow.unpack(row(y), format)
            buffer.withMutableRow(y) { bytes in
                if result == .rgb565 || result == .rgb555 {
                    ditherer.pack(deepRow.samples, y: y, into: &bytes)
                } else {
                    deepRow.pack(result, into: &bytes)
                }
            }
        }
        return buffer.finish()
    }
}

extension Span<UInt8> {
    /// Converts a row of pixels as ``PixelBuffer/converted(to:)`` does.
    ///
    /// - Parameters:
    ///   - source: the format of these bytes, with whole samples in one plane
    ///     (``PixelFormat/withIntegerSamples``).
    ///   - format: ``PixelFormat/gray8``, ``PixelFormat/rgb8`` or ``PixelFormat/rgba8``.
    ///   - result: receives the pixels; at least as many as this row contains.
    public func convert(
        from source: PixelFormat, to format: PixelFormat, into result: inout MutableSpan<UInt8>
    ) {
        let pixelCount = count / source.bytesPerPixel
        precondition(
            result.count >= pixelCount * format.bytesPerPixel,
            "the result row is too short for \(pixelCount) pixels")
        guard source.with8BitChannels == source else {
            var narrowed = [UInt8](repeating: 0, count: count / 2)
            var samples = narrowed.mutableSpan
            narrowSamples(into: &samples)
            narrowed.span.convert(from: source.with8BitChannels, to: format, into: &result)
            return
        }
        for pixel in 0..<pixelCount {
            let offset = pixel * source.bytesPerPixel
            var red: UInt8 = 0
            var green: UInt8 = 0
            var blue: UInt8 = 0
            var alpha: UInt8 = 255
            switch source {
            case .alpha8: alpha = self[offset]
            case .gray8:
                red = self[offset]
                green = red
                blue = red
            default:
                red = self[offset]
                green = self[offset + 1]
                blue = self[offset + 2]
                if source == .rgba8 { alpha = self[offset + 3] }
            }
            switch format {
            case .gray8:
                var luma: UInt32 = 19595 * UInt32(red) + 32768
                luma += 38470 * UInt32(green)
                luma += 7471 * UInt32(blue)
                result[pixel] = UInt8(luma >> 16)
            case .rgb8:
                result[pixel * 3] = red
                result[pixel * 3 + 1] = green
                result[pixel * 3 + 2] = blue
            default:
                precondition(format == .rgba8, "a row cannot be converted to \(format)")
                result[pixel * 4] = red
                result[pixel * 4 + 1] = green
                result[pixel * 4 + 2] = blue
                result[pixel * 4 + 3] = alpha
            }
        }
    }

    /// Copies all bytes.
    ///
    /// - Parameter result: as many bytes.
    package func copy(into result: inout MutableSpan<UInt8>) {
        precondition(result.count == count, "\(count) bytes do not fit in \(result.count)")
        unsafe withUnsafeBytes { source in
            unsafe result.withUnsafeMutableBytes { unsafe $0.copyMemory(from: source) }
        }
    }

    /// Converts 16-bit samples to 8 bits: v × 255 ÷ 65535, rounded to the nearest integer.
    ///
    /// - Parameter result: one byte for each sample.
    public func narrowSamples(into result: inout MutableSpan<UInt8>) {
        precondition(result.count * 2 == count, "the result row must have one byte per sample")
        withSamples16 { samples in
            for index in 0..<samples.count {
                result[index] = UInt8((UInt32(samples[index]) * 255 + 32895) >> 16)
            }
        }
    }
}

extension MutableSpan<UInt8> {
    /// Exchanges the first and the third byte of each four.
    mutating func exchangeRedAndBlue() {
        unsafe withUnsafeMutableBytes { bytes in
            for offset in stride(from: 0, to: bytes.count - 3, by: 4) {
                let pixel = unsafe bytes.loadUnaligned(
                    fromByteOffset: offset, as: SIMD4<UInt8>.self)
                unsafe bytes.storeBytes(
                    of: SIMD4(pixel.z, pixel.y, pixel.x, pixel.w), toByteOffset: offset,
                    as: SIMD4<UInt8>.self)
            }
        }
    }
}

extension PixelBuffer {
    /// Returns the image as ``PixelFormat/yCbCr420``: the inverse of ``convertedFromYCbCr()``.
    ///
    /// Chroma is that of the mean of 2×2 pixels, of which the last column and row are repeated.
    ///
    /// - SeeAlso: ITU-T T.871 (JFIF), section 7.
    func convertedToYCbCr() -> PixelBuffer {
        guard [.gray8, .gray16, .rgb8, .rgb16].contains(format) else {
            return converted(to: .rgb8).convertedToYCbCr()
        }
        var result = MutablePixelBuffer(
            size: size, format: .yCbCr420, colorProfile: colorProfile)
        var pixels = [UInt8](repeating: 0, count: size.width * 3)
        // An odd width leaves room for a repeated column.
        var sums = [SIMD4<Int32>](repeating: .zero, count: (size.width + 1) / 2)
        for y in 0..<size.height {
            var target = pixels.mutableSpan
            row(y).convert(from: format, to: .rgb8, into: &target)
            result.withMutableRow(y) { Self.writeLuma(pixels, into: &$0) }
            let isLast = y == size.height - 1
            if y % 2 == 0 { for column in sums.indices { sums[column] = .zero } }
            Self.add(pixels, to: &sums)
            if y % 2 == 0, isLast { Self.add(pixels, to: &sums) }
            guard y % 2 == 1 || isLast else { continue }
            // Of the mean, in 1/65536; the sums of four samples are in 1/4.
            result.withMutableRow(y / 2, plane: 1) {
                Self.writeChroma(sums, SIMD4(-11058, -21710, 32768, 0), into: &$0)
            }
            result.withMutableRow(y / 2, plane: 2) {
                Self.writeChroma(sums, SIMD4(32768, -27439, -5329, 0), into: &$0)
            }
        }
        return result.finish()
    }

    private static func writeLuma(_ pixels: [UInt8], into luma: inout MutableSpan<UInt8>) {
        let pixels = pixels.span
        precondition(pixels.count >= luma.count * 3, "there are too few pixels")
        for x in 0..<luma.count {
            let red = unsafe UInt32(pixels[unchecked: x &* 3])
            let green = unsafe UInt32(pixels[unchecked: x &* 3 &+ 1])
            let blue = unsafe UInt32(pixels[unchecked: x &* 3 &+ 2])
            let sum = red &* 19595 &+ green &* 38470 &+ blue &* 7471 &+ 32768
            unsafe luma[unchecked: x] = UInt8(truncatingIfNeeded: sum &>> 16)
        }
    }

    /// Adds the two pixels of each column of chroma.
    private static func add(_ pixels: [UInt8], to sums: inout [SIMD4<Int32>]) {
        let pixels = pixels.span
        let last = pixels.count / 3 - 1
        func color(_ x: Int) -> SIMD4<Int32> {
            SIMD4(Int32(pixels[x * 3]), Int32(pixels[x * 3 + 1]), Int32(pixels[x * 3 + 2]), 0)
        }
        for column in sums.indices {
            sums[column] &+= color(column * 2) &+ color(min(column * 2 + 1, last))
        }
    }

    private static func writeChroma(
        _ sums: [SIMD4<Int32>], _ weights: SIMD4<Int32>, into chroma: inout MutableSpan<UInt8>
    ) {
        for column in 0..<chroma.count {
            let product = sums[column] &* weights
            let level = (product.x &+ product.y &+ product.z &+ (128 << 18) &+ (1 << 17)) >> 18
            chroma[column] = UInt8(clamping: level)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

extension Span<UInt8> {
    /// Calls `body` with the bytes read as 16-bit samples in the machine's byte order.
    ///
    /// The bytes must begin on an even address, as those of arrays and of rows of a ``PixelBuffer`` do.
    @inline(__always)
    public func withSamples16<Result>(_ body: (Span<UInt16>) -> Result) -> Result {
        unsafe withUnsafeBytes { bytes in
            body(unsafe Span<UInt16>(_unsafeElements: bytes.bindMemory(to: UInt16.self)))
        }
    }
}

extension PixelBuffer {
    /// The same picture in another format of one plane; free if it has that format already.
    ///
    /// Samples of 16 bits are rounded to 8 and those of 8 widened so that white stays white, grey
    /// becomes equal parts of red, green and blue, colours become grey by JFIF's luma, and coverage
    /// alone becomes black. An opaque format drops alpha, as if the picture stood before black.
    ///
    /// - Parameters:
    ///   - result: any format but ``PixelFormat/yCbCr420``.
    ///   - dithering: how steps are hidden in a format of 5 or 6 bits a channel.
    /// - Returns: a picture of the same size and profile.
    public func converted(
        to result: PixelFormat, dithering: Dithering = .ordered
    ) -> PixelBuffer {
        precondition(result.planeCount == 1, "a picture cannot be converted to \(result)")
        guard format != result else { return self }
        guard format.planeCount == 1 else {
            return convertedFromYCbCr().converted(to: result, dithering: dithering)
        }
        var buffer = MutablePixelBuffer(size: size, format: result, colorProfile: colorProfile)
        if format.canBeResampled, [.gray8, .rgb8, .rgba8].contains(result) {
            for y in 0..<size.height {
                buffer.withMutableRow(y) { row(y).convert(from: format, to: result, into: &$0) }
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
    ///   - source: what these bytes mean; a format of one plane.
    ///   - format: ``PixelFormat/gray8``, ``PixelFormat/rgb8`` or ``PixelFormat/rgba8``.
    ///   - result: takes as many pixels as there are here.
    public func convert(
        from source: PixelFormat, to format: PixelFormat, into result: inout MutableSpan<UInt8>
    ) {
        let pixelCount = count / source.bytesPerPixel
        precondition(
            result.count >= pixelCount * format.bytesPerPixel, "the row of the result is too short")
        guard source.with8BitChannels == source else {
            var narrow = [UInt8](repeating: 0, count: count / 2)
            var samples = narrow.mutableSpan
            narrowSamples(into: &samples)
            narrow.span.convert(from: source.with8BitChannels, to: format, into: &result)
            return
        }
        for pixel in 0..<pixelCount {
            let place = pixel * source.bytesPerPixel
            var red: UInt8 = 0
            var green: UInt8 = 0
            var blue: UInt8 = 0
            var alpha: UInt8 = 255
            switch source {
            case .alpha8: alpha = self[place]
            case .gray8:
                red = self[place]
                green = red
                blue = red
            default:
                red = self[place]
                green = self[place + 1]
                blue = self[place + 2]
                if source == .rgba8 { alpha = self[place + 3] }
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

    /// Rounds 16-bit samples to 8 bits, exactly v × 255 ÷ 65535.
    public func narrowSamples(into result: inout MutableSpan<UInt8>) {
        precondition(result.count * 2 == count, "the row of the result is not as long")
        withSamples16 { wide in
            for index in 0..<wide.count {
                result[index] = UInt8((UInt32(wide[index]) * 255 + 32895) >> 16)
            }
        }
    }
}

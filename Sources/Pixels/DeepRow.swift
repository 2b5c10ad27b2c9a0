// SPDX-License-Identifier: Apache-2.0

/// A row of premultiplied 16-bit RGBA pixels, the intermediate format of all conversions.
struct DeepRow {
    /// Four interleaved samples per pixel.
    private(set) var samples: [UInt16]

    init(width: Int) { samples = Array(repeating: 0, count: width * 4) }

    func pixel(_ x: Int) -> SIMD4<UInt16> {
        SIMD4(samples[x * 4], samples[x * 4 + 1], samples[x * 4 + 2], samples[x * 4 + 3])
    }

    /// Transforms the pixels in place, from left to right.
    mutating func forEachPixel(_ transform: (inout SIMD4<UInt16>) -> Void) {
        for x in 0..<samples.count / 4 {
            var pixel = pixel(x)
            transform(&pixel)
            for channel in 0..<4 { samples[x * 4 + channel] = pixel[channel] }
        }
    }

    /// Reads the pixels of a row; half floats are clamped to 0...1, and NaN becomes 0.
    mutating func unpack(_ row: Span<UInt8>, _ format: PixelFormat) {
        let pixelCount = samples.count / 4
        precondition(
            row.count >= pixelCount * format.bytesPerPixel,
            "the row is too short for \(pixelCount) pixels")
        switch format {
        case .alpha8, .gray8, .rgb8, .rgba8, .bgra8, .yCbCr420:
            let channelCount = format.channelCount
            for pixel in 0..<pixelCount {
                for channel in 0..<4 {
                    samples[pixel * 4 + channel] =
                        Self.source(of: channel, format).map {
                            UInt16(row[pixel * channelCount + $0]) * 257
                        } ?? (channel == 3 ? 65535 : 0)
                }
            }
        case .gray16, .rgb16, .rgba16:
            let channelCount = format.channelCount
            row.withSamples16 { row in
                for pixel in 0..<pixelCount {
                    for channel in 0..<4 {
                        samples[pixel * 4 + channel] =
                            Self.source(of: channel, format).map {
                                row[pixel * channelCount + $0]
                            } ?? 65535
                    }
                }
            }
        case .rgbaHalf:
            row.withSamples16 { row in
                for index in samples.indices {
                    let value = Float(Float16(bitPattern: row[index]))
                    // The comparison is false for NaN.
                    samples[index] = UInt16((value > 0 ? min(value, 1) : 0) * 65535 + 0.5)
                }
            }
        case .rgb565, .rgb555:
            let greenBits: UInt16 = format == .rgb565 ? 6 : 5
            let greenTop = (UInt32(1) << UInt32(greenBits)) - 1
            row.withSamples16 { row in
                for pixel in 0..<pixelCount {
                    let packed = row[pixel]
                    let red = UInt32(packed >> (5 + greenBits) & 31)
                    let green = UInt32(packed >> 5) & greenTop
                    samples[pixel * 4] = UInt16((red * 65535 + 15) / 31)
                    samples[pixel * 4 + 1] = UInt16((green * 65535 + greenTop / 2) / greenTop)
                    samples[pixel * 4 + 2] = UInt16((UInt32(packed & 31) * 65535 + 15) / 31)
                    samples[pixel * 4 + 3] = 65535
                }
            }
        }
    }

    /// Writes the pixels in a format that needs no dithering; `row` must hold all of them.
    func pack(_ format: PixelFormat, into row: inout MutableSpan<UInt8>) {
        let pixelCount = samples.count / 4
        for pixel in 0..<pixelCount {
            let (red, green) = (samples[pixel * 4], samples[pixel * 4 + 1])
            let (blue, alpha) = (samples[pixel * 4 + 2], samples[pixel * 4 + 3])
            switch format {
            case .alpha8: row[pixel] = Self.narrow(alpha)
            case .gray8: row[pixel] = Self.narrow(Self.luma(red, green, blue))
            case .rgb8, .rgba8:
                let count = format.channelCount
                row[pixel * count] = Self.narrow(red)
                row[pixel * count + 1] = Self.narrow(green)
                row[pixel * count + 2] = Self.narrow(blue)
                if count == 4 { row[pixel * count + 3] = Self.narrow(alpha) }
            case .bgra8:
                row[pixel * 4] = Self.narrow(blue)
                row[pixel * 4 + 1] = Self.narrow(green)
                row[pixel * 4 + 2] = Self.narrow(red)
                row[pixel * 4 + 3] = Self.narrow(alpha)
            case .gray16: row.storeSample16(Self.luma(red, green, blue), at: pixel)
            case .rgb16, .rgba16:
                let count = format.channelCount
                row.storeSample16(red, at: pixel * count)
                row.storeSample16(green, at: pixel * count + 1)
                row.storeSample16(blue, at: pixel * count + 2)
                if count == 4 { row.storeSample16(alpha, at: pixel * count + 3) }
            case .rgbaHalf:
                for channel in 0..<4 {
                    let value = Float(samples[pixel * 4 + channel]) / 65535
                    row.storeSample16(Float16(value).bitPattern, at: pixel * 4 + channel)
                }
            case .rgb565, .rgb555, .yCbCr420:
                preconditionFailure("\(format) is written by Ditherer or YCbCrResampler")
            }
        }
    }

    /// Returns the index in a source pixel of an RGBA channel, or `nil` if the format lacks it.
    private static func source(of channel: Int, _ format: PixelFormat) -> Int? {
        switch format.channelCount {
        case 1: format == .alpha8 ? (channel == 3 ? 0 : nil) : (channel == 3 ? nil : 0)
        case 3: channel == 3 ? nil : channel
        default: format == .bgra8 && channel < 3 ? 2 - channel : channel
        }
    }

    private static func narrow(_ value: UInt16) -> UInt8 {
        UInt8((UInt32(value) * 255 + 32895) >> 16)
    }

    private static func luma(_ red: UInt16, _ green: UInt16, _ blue: UInt16) -> UInt16 {
        var luma: UInt64 = 19595 * UInt64(red) + 32768
        luma += 38470 * UInt64(green)
        luma += 7471 * UInt64(blue)
        return UInt16(luma >> 16)
    }
}

extension MutableSpan<UInt8> {
    /// Writes a 16-bit sample in native byte order.
    ///
    /// - Parameters:
    ///   - value: the sample.
    ///   - index: the index of the sample, which starts at byte `index × 2`.
    @inline(__always)
    public mutating func storeSample16(_ value: UInt16, at index: Int) {
        var bytes = _mutatingExtracting(index * 2..<index * 2 + 2)
        unsafe bytes.withUnsafeMutableBytes { unsafe $0.storeBytes(of: value, as: UInt16.self) }
    }
}

// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import Pixels

/// Converts images in PQ and HLG to sRGB: renders them for a display of 1,000 cd/m² and maps the tones of
/// each primary to those of SDR.
///
/// - SeeAlso: ITU-R BT.2100, table 5 (HLG); BT.2390, 5.4.1 (tone mapping); BT.2408, 2.2 (white).
struct StandardRangeConverter {
    /// The number of steps of ``light``.
    private static let stepCount = 4096

    /// By the signal: light of PQ after tone mapping; of HLG, that of the scene.
    private let light: [Float]
    /// From light in HDR to light in SDR; `nil` if ``light`` is in SDR.
    private let toneMapping: LightTable?
    private let toSRGB: PrimariesConversion
    /// From light to the signal of sRGB, which may exceed 1.
    private let signal: LightTable

    /// A converter; `nil` unless the profile is PQ or HLG.
    ///
    /// - Parameter profile: the profile of the images.
    init?(_ profile: ColorProfile) {
        guard case .coded(let points) = profile, profile.isHDR,
            let toSRGB = PrimariesConversion(
                from: profile.connectionMatrix, to: ColorProfile.sRGB.connectionMatrix)
        else { return nil }
        self.toSRGB = toSRGB
        let isHLG = points.curve == .hybridLogGamma
        let curve = TransferCurve(points.curve)
        light = (0...Self.stepCount).map { step in
            let signal = Double(step) / Double(Self.stepCount)
            return Float(isHLG ? TransferCurve.sceneLight(ofHLG: signal) : curve.light(signal))
        }
        toneMapping =
            isHLG
            ? LightTable { light in
                let luminance = light * TransferCurve.referenceWhite
                return TransferCurve(.perceptualQuantizer).light(
                    TransferCurve.signal(ofLuminance: luminance))
            } : nil
        signal = LightTable { light in
            light <= 0.003_130_8 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
        }
    }

    /// Converts an image to sRGB.
    ///
    /// - Parameter image: grey, RGB or premultiplied RGBA with 8 or 16 bits.
    /// - Returns: an image in the same format, with colours outside of sRGB clipped.
    func converted(_ image: consuming PixelBuffer) -> PixelBuffer {
        let format = image.format
        var result = MutablePixelBuffer(image)
        result.colorProfile = .sRGB
        var colors = [SIMD3<Float>](repeating: .zero, count: result.size.width)
        let count = format.channelCount
        for y in 0..<result.size.height {
            result.withMutableRow(y) { row in
                if format == .rgba8 { PremultipliedAlpha.divide(&row) }
                if format == .rgba16 { PremultipliedAlpha.divide16(&row) }
                read(row.span, format, into: &colors)
                for (pixel, color) in colors.enumerated() {
                    for channel in 0..<min(count, 3) {
                        let value = min(signal[color[channel]], 1)
                        let index = pixel * count + channel
                        if format.isDeep {
                            row.storeSample16(UInt16(value * 65535 + 0.5), at: index)
                        } else {
                            row[index] = UInt8(value * 255 + 0.5)
                        }
                    }
                }
                if format == .rgba8 { PremultipliedAlpha.multiply(&row) }
                if format == .rgba16 { PremultipliedAlpha.multiply16(&row) }
            }
        }
        return result.finish()
    }

    /// Converts an image to the primaries and the curve of sRGB, in which colours outside of it are below
    /// 0 or above 1.
    ///
    /// - Parameter image: grey, RGB or premultiplied RGBA with 8 or 16 bits.
    /// - Returns: `PixelFormat/rgbaHalf`.
    func convertedToExtendedSRGB(_ image: consuming PixelBuffer) -> PixelBuffer {
        let image = image.converted(to: .rgba16)
        let size = image.size
        var result = MutablePixelBuffer(size: size, format: .rgbaHalf)
        var colors = [SIMD3<Float>](repeating: .zero, count: size.width)
        var straight = [Float](repeating: 0, count: size.width * 4)
        var row16 = MutablePixelBuffer(
            size: PixelSize(width: size.width, height: 1), format: .rgba16)
        for y in 0..<size.height {
            row16.withMutableRow(0) { row in
                let source = image.row(y)
                for index in source.indices { row[index] = source[index] }
                PremultipliedAlpha.divide16(&row)
                read(row.span, .rgba16, into: &colors)
                row.span.withSamples16 { samples in
                    for (pixel, color) in colors.enumerated() {
                        for channel in 0..<3 {
                            let light = color[channel]
                            straight[pixel * 4 + channel] =
                                light < 0 ? -signal[-light] : signal[light]
                        }
                        straight[pixel * 4 + 3] = Float(samples[pixel * 4 + 3]) / 65535
                    }
                }
            }
            result.withMutableRow(y) { HalfRow.write(straight, multipliedByAlpha: &$0) }
        }
        return result.finish()
    }

    /// Reads a row with straight alpha as light in SDR, in the primaries of sRGB.
    private func read(
        _ row: Span<UInt8>, _ format: PixelFormat, into colors: inout [SIMD3<Float>]
    ) {
        let count = format.channelCount
        if format.isDeep {
            row.withSamples16 { samples in
                read(into: &colors, channelCount: count) { Float(samples[$0]) * (1 / 65535) }
            }
        } else {
            read(into: &colors, channelCount: count) { Float(row[$0]) * (1 / 255) }
        }
    }

    @inline(__always)
    private func read(
        into colors: inout [SIMD3<Float>], channelCount count: Int, _ signal: (Int) -> Float
    ) {
        for pixel in colors.indices {
            let start = pixel * count
            let isGray = count < 3
            var color = SIMD3(repeating: light(of: signal(start)))
            if !isGray {
                color.y = light(of: signal(start + 1))
                color.z = light(of: signal(start + 2))
            }
            if let toneMapping {
                color = LightReader.rendered(color)
                color = SIMD3(toneMapping[color.x], toneMapping[color.y], toneMapping[color.z])
            }
            colors[pixel] = isGray ? color : toSRGB(color)
        }
    }

    /// Interpolates ``light`` at a signal from 0 to 1.
    private func light(of signal: Float) -> Float {
        let position = signal * Float(Self.stepCount)
        let index = min(Int(position), Self.stepCount - 1)
        return light[index] + (light[index + 1] - light[index]) * (position - Float(index))
    }
}

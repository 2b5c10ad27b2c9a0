// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import Pixels

extension GainMapMetadata {
    /// Returns the factor of the gains for a display.
    ///
    /// - Parameter headroom: the logarithm to base 2 of the headroom of the display.
    /// - Returns: a number from 0 to 1, or from -1 to 0 if the base image is in HDR.
    func weight(atHeadroom headroom: Double) -> Double {
        let share = (headroom - baseHeadroom) / (alternateHeadroom - baseHeadroom)
        return min(max(share, 0), 1) * (isBaseHDR ? -1 : 1)
    }
}

/// Applies a gain map to a base image in SDR.
///
/// Light is a half float between the steps, so that each curve is a table by its bits.
/// - SeeAlso: ISO 21496-1, 6.3; ITU-R BT.2100, table 4 (PQ); BT.2408, 2.2 (reference white);
///   BT.2087, annex 2 (primaries).
struct GainMapRenderer {
    /// BT.2020 with PQ.
    static let colorProfile = ColorProfile.coded(CICP(primaries: 9, transfer: 16))
    /// The luminance of the white of SDR content in cd/m².
    private static let referenceWhite = 203.0
    private static let halfCount = 1 << 16
    /// Rows of the matrix from linear sRGB to linear BT.2020.
    private static let primaries = [
        SIMD3<Float>(0.627_403_9, 0.329_283_0, 0.043_313_1),
        SIMD3<Float>(0.069_097_3, 0.919_540_4, 0.011_362_3),
        SIMD3<Float>(0.016_391_4, 0.088_013_3, 0.895_595_3),
    ]

    /// Linear light by the bits of a half float in the curve of sRGB.
    private let light: [Float]
    /// Signals of PQ by the bits of a half float of light, relative to the reference white.
    private let signals: [UInt16]
    /// For each channel: the gain by the 16-bit sample of a map.
    private let gains: [[Float]]
    private let baseOffset: SIMD3<Float>
    private let alternateOffset: SIMD3<Float>

    init(_ metadata: GainMapMetadata, headroom: Double) {
        let sRGB = TransferCurve(.sRGB)
        light = Self.table { value in
            // Colours outside of sRGB are mirrored at 0.
            Float(value < 0 ? -sRGB.light(-value) : sRGB.light(value))
        }
        signals = Self.table { value in
            let luminance = min(max(value * Self.referenceWhite, 0), 10_000)
            return UInt16((TransferCurve.signal(ofLuminance: luminance) * 65535).rounded())
        }
        let weight = metadata.weight(atHeadroom: headroom)
        let gains = Dictionary(
            Set(metadata.channels).map { ($0, Self.gains($0, weight)) }, uniquingKeysWith: { $1 })
        self.gains = metadata.channels.map { gains[$0, default: []] }
        func vector(_ offset: (GainMapMetadata.Channel) -> Double) -> SIMD3<Float> {
            SIMD3(metadata.channels.map { Float(offset($0)) })
        }
        // Both offsets are part of the alternate image, of which nothing is added at weight 0.
        baseOffset = weight == 0 ? .zero : vector(\.baseOffset)
        alternateOffset = weight == 0 ? .zero : vector(\.alternateOffset)
    }

    private static func table<Value>(_ value: (Double) -> Value) -> [Value] {
        (0..<halfCount).map { bits in
            let half = Float16(bitPattern: UInt16(bits))
            return value(half.isFinite ? Double(half) : 0)
        }
    }

    private static func gains(_ channel: GainMapMetadata.Channel, _ weight: Double) -> [Float] {
        (0...65535).map { sample in
            let share = pow(Double(sample) / 65535, 1 / channel.gamma)
            let gain = channel.minimum + (channel.maximum - channel.minimum) * share
            return Float(exp2(gain * weight))
        }
    }

    /// Returns the image for the display.
    ///
    /// - Parameters:
    ///   - base: the base image as `PixelFormat/rgbaHalf` in the curve of sRGB; alpha is ignored.
    ///   - map: the map at the size of the base, with 16-bit samples of grey or RGB.
    ///   - cancellation: cancels the work from another thread.
    /// - Returns: `PixelFormat/rgb16` with ``colorProfile``.
    /// - Throws: ``CodecError/cancelled``.
    func image(
        _ base: PixelBuffer, _ map: PixelBuffer, _ cancellation: CancellationFlag?
    ) throws(CodecError) -> PixelBuffer {
        var result = MutablePixelBuffer(
            size: base.size, format: .rgb16, colorProfile: Self.colorProfile)
        for y in 0..<base.size.height {
            if cancellation?.isCancelled == true { throw .cancelled }
            result.withMutableRow(y) { row in
                base.row(y).withSamples16 { base in
                    map.row(y).withSamples16 { map in write(base, map, to: &row) }
                }
            }
        }
        return result.finish()
    }

    private func write(
        _ base: Span<UInt16>, _ map: Span<UInt16>, to row: inout MutableSpan<UInt8>
    ) {
        let pixelCount = base.count / 4
        let step = map.count / pixelCount
        for pixel in 0..<pixelCount {
            var color = SIMD3<Float>()
            var gain = SIMD3<Float>()
            for channel in 0..<3 {
                color[channel] = light[Int(base[pixel * 4 + channel])]
                let sample = map[pixel * step + (step == 1 ? 0 : channel)]
                gain[channel] = gains[channel][Int(sample)]
            }
            color = (color + baseOffset) * gain - alternateOffset
            for channel in 0..<3 {
                let half = Float16(max((color * Self.primaries[channel]).sum(), 0))
                row.storeSample16(signals[Int(half.bitPattern)], at: pixel * 3 + channel)
            }
        }
    }
}

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

/// Renders an image for a display with headroom: with its gain map, or an image in PQ or HLG by tone
/// mapping.
///
/// - SeeAlso: ISO 21496-1, 6.3; ITU-R BT.2390, 5.4.1 (tone mapping of each primary).
struct HDRRenderer {
    /// BT.2020 with PQ.
    static let colorProfile = ColorProfile.coded(CICP(primaries: 9, transfer: 16))

    private let reader: LightReader
    private let gains: Gains?
    /// From the primaries of the light that is read, or to which gains were applied; `nil` for none.
    private let toBT2020: PrimariesConversion?
    /// From light to signals of PQ.
    private let signals: LightTable

    /// - Parameters:
    ///   - profile: the profile of the file.
    ///   - map: the metadata of its gain map.
    ///   - headroom: the logarithm to base 2 of the headroom of the display; `nil` for no limit.
    init(_ profile: ColorProfile, _ map: GainMapMetadata?, headroom: Double?) {
        let reader = LightReader(profile)
        // Gains apply to the primaries of the file.
        let isConverted = map != nil && reader.format == .rgbaHalf && !profile.isSRGB
        let source = isConverted ? profile.connectionMatrix : nil
        gains = map.map { map in
            Gains(
                map, headroom: headroom ?? max(map.alternateHeadroom, map.baseHeadroom),
                primaries: PrimariesConversion(from: reader.connectionMatrix, to: source))
        }
        self.reader = reader
        toBT2020 = PrimariesConversion(
            from: source ?? reader.connectionMatrix, to: Self.colorProfile.connectionMatrix)
        // Gains have adapted the image already.
        let peak =
            map == nil
            ? headroom.map { TransferCurve.referenceWhite * exp2($0) } : nil
        signals = LightTable { light in
            let signal = TransferCurve.signal(
                ofLuminance: min(light * TransferCurve.referenceWhite, 10_000))
            return peak.map { TransferCurve.toneMapped(signal, to: $0) } ?? signal
        }
    }

    /// Returns the image for the display.
    ///
    /// - Parameters:
    ///   - base: the base image, as ``LightReader`` requires.
    ///   - map: the map at the size of the base, with 16-bit samples of grey or RGB.
    ///   - cancellation: cancels the work from another thread.
    /// - Returns: `PixelFormat/rgb16` with ``colorProfile``.
    /// - Throws: ``CodecError/cancelled``.
    func image(
        _ base: PixelBuffer, _ map: PixelBuffer?, _ cancellation: CancellationFlag?
    ) throws(CodecError) -> PixelBuffer {
        var result = MutablePixelBuffer(
            size: base.size, format: .rgb16, colorProfile: Self.colorProfile)
        var colors = [SIMD3<Float>](repeating: .zero, count: base.size.width)
        for y in 0..<base.size.height {
            if cancellation?.isCancelled == true { throw .cancelled }
            reader.read(base.row(y), into: &colors)
            if let gains, let map { gains.apply(map.row(y), to: &colors) }
            result.withMutableRow(y) { row in
                for (pixel, color) in colors.enumerated() {
                    let color = toBT2020?(color) ?? color
                    for channel in 0..<3 {
                        let signal = signals[color[channel]]
                        row.storeSample16(UInt16(signal * 65535 + 0.5), at: pixel * 3 + channel)
                    }
                }
            }
        }
        return result.finish()
    }
}

/// The gains of a map for a display.
private struct Gains {
    /// For each channel: the gain by the 16-bit sample of a map.
    private let gains: [[Float]]
    private let baseOffset: SIMD3<Float>
    private let alternateOffset: SIMD3<Float>
    /// The conversion to the primaries of the file; `nil` for none.
    private let primaries: PrimariesConversion?

    init(_ map: GainMapMetadata, headroom: Double, primaries: PrimariesConversion?) {
        let weight = map.weight(atHeadroom: headroom)
        let gains = Dictionary(
            Set(map.channels).map { ($0, Self.gains($0, weight)) }, uniquingKeysWith: { $1 })
        self.gains = map.channels.map { gains[$0, default: []] }
        func vector(_ offset: (GainMapMetadata.Channel) -> Double) -> SIMD3<Float> {
            SIMD3(map.channels.map { Float(offset($0)) })
        }
        // Both offsets are part of the alternate image, of which nothing is added at weight 0.
        baseOffset = weight == 0 ? .zero : vector(\.baseOffset)
        alternateOffset = weight == 0 ? .zero : vector(\.alternateOffset)
        self.primaries = primaries
    }

    private static func gains(_ channel: GainMapMetadata.Channel, _ weight: Double) -> [Float] {
        (0...65535).map { sample in
            let share = pow(Double(sample) / 65535, 1 / channel.gamma)
            let gain = channel.minimum + (channel.maximum - channel.minimum) * share
            return Float(exp2(gain * weight))
        }
    }

    /// Applies the gains of a row of a map, with 16-bit samples of grey or RGB.
    func apply(_ map: Span<UInt8>, to colors: inout [SIMD3<Float>]) {
        map.withSamples16 { map in
            let step = map.count / colors.count
            for pixel in colors.indices {
                let color = primaries?(colors[pixel]) ?? colors[pixel]
                var gain = SIMD3<Float>()
                for channel in 0..<3 {
                    let sample = map[pixel * step + (step == 1 ? 0 : channel)]
                    gain[channel] = gains[channel][Int(sample)]
                }
                colors[pixel] = (color + baseOffset) * gain - alternateOffset
            }
        }
    }
}

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
    /// Rows of the matrix to BT.2020, from the light that is read or to which gains were applied.
    private let output: [SIMD3<Float>]
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
                rows: source.flatMap { Self.rows(from: reader.connectionMatrix, to: $0) })
        }
        self.reader = reader
        output =
            Self.rows(
                from: source ?? reader.connectionMatrix, to: Self.colorProfile.connectionMatrix)
            ?? [SIMD3(1, 0, 0), SIMD3(0, 1, 0), SIMD3(0, 0, 1)]
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

    /// The rows of the matrix from one space to another; `nil` if a matrix is missing or singular.
    private static func rows(from source: Matrix3?, to target: Matrix3?) -> [SIMD3<Float>]? {
        guard let source, let inverse = target?.inverse else { return nil }
        return inverse.times(source).rows.map { SIMD3<Float>($0) }
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
                    for channel in 0..<3 {
                        let signal = signals[(color * output[channel]).sum()]
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
    /// Rows of the matrix to the primaries of the file; `nil` for none.
    private let rows: [SIMD3<Float>]?

    init(_ map: GainMapMetadata, headroom: Double, rows: [SIMD3<Float>]?) {
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
        self.rows = rows
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
                var color = colors[pixel]
                if let rows {
                    color = SIMD3(
                        (color * rows[0]).sum(), (color * rows[1]).sum(), (color * rows[2]).sum())
                }
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

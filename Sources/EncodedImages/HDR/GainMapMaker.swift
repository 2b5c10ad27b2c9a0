// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import Pixels

/// Makes the gain map that leads from an image in sRGB to the same image in PQ or HLG.
///
/// Gains are those of red, green and blue of sRGB; colours outside of it keep their brightness.
struct GainMapMaker {
    /// The smallest headroom, in stops, for which a map is worth its bytes.
    private static let minimumHeadroom = 0.1
    private static let maximumGain = 6.0

    private let reader: LightReader
    private let toSRGB: PrimariesConversion
    /// Linear light by a 16-bit sample of sRGB.
    private let light: [Float]

    /// - Parameter profile: the profile of the image in HDR; `nil` for impossible primaries.
    init?(_ profile: ColorProfile) {
        reader = LightReader(profile)
        guard
            let toSRGB = PrimariesConversion(
                from: reader.connectionMatrix, to: ColorProfile.sRGB.connectionMatrix)
        else { return nil }
        self.toSRGB = toSRGB
        let curve = TransferCurve(.sRGB)
        light = (0...65535).map { Float(curve.light(Double($0) / 65535)) }
    }

    /// Returns the metadata and the samples of a map.
    ///
    /// - Parameters:
    ///   - alternate: the image in HDR, as ``LightReader`` requires.
    ///   - base: the same image in sRGB, as `PixelFormat/rgb16`.
    ///   - cancellation: cancels the work from another thread.
    /// - Returns: `PixelFormat/rgb8`; `nil` if the image hardly exceeds the white of SDR content.
    /// - Throws: ``CodecError/cancelled``.
    func map(
        _ alternate: PixelBuffer, _ base: PixelBuffer, _ cancellation: CancellationFlag?
    ) throws(CodecError) -> (metadata: GainMapMetadata, samples: PixelBuffer)? {
        let size = base.size
        var row = GainRow(width: size.width)
        var (least, most, peak) = (Float.infinity, -Float.infinity, Float(0))
        for y in 0..<size.height {
            if cancellation?.isCancelled == true { throw .cancelled }
            fill(&row, alternate, base, y)
            for gain in row.gains { (least, most) = (min(least, gain), max(most, gain)) }
            for color in row.colors { peak = max(peak, color.max()) }
        }
        let headroom = Double(log2(peak))
        guard headroom >= Self.minimumHeadroom else { return nil }
        var channel = GainMapMetadata.Channel()
        channel.minimum = max(Double(least), -Self.maximumGain)
        channel.maximum = min(Double(most), Self.maximumGain)
        var metadata = GainMapMetadata(channel)
        metadata.alternateHeadroom = headroom
        let minimum = Float(channel.minimum)
        let scale = 255 / max(Float(channel.maximum) - minimum, 1e-6)
        var result = MutablePixelBuffer(size: size, format: .rgb8)
        for y in 0..<size.height {
            if cancellation?.isCancelled == true { throw .cancelled }
            fill(&row, alternate, base, y)
            result.withMutableRow(y) { samples in
                for (index, gain) in row.gains.enumerated() {
                    samples[index] = UInt8(min(max(((gain - minimum) * scale).rounded(), 0), 255))
                }
            }
        }
        return (metadata, result.finish())
    }

    /// Computes the gains of a row.
    private func fill(
        _ row: inout GainRow, _ alternate: PixelBuffer, _ base: PixelBuffer, _ y: Int
    ) {
        let offset = Float(GainMapMetadata.Channel().baseOffset)
        reader.read(alternate.row(y), into: &row.colors)
        base.row(y).withSamples16 { samples in
            for (pixel, color) in row.colors.enumerated() {
                let converted = toSRGB(color)
                for channel in 0..<3 {
                    let wanted = max(converted[channel], 0)
                    let present = light[Int(samples[pixel * 3 + channel])]
                    row.gains[pixel * 3 + channel] = log2((wanted + offset) / (present + offset))
                }
            }
        }
    }
}

/// The light of a row in HDR, and the logarithms of the gains of each channel.
private struct GainRow {
    var colors: [SIMD3<Float>]
    var gains: [Float]

    init(width: Int) {
        colors = [SIMD3<Float>](repeating: .zero, count: width)
        gains = [Float](repeating: 0, count: width * 3)
    }
}

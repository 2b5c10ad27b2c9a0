// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import Pixels
import Testing

/// Samples of 16 bits whose colours are converted to sRGB, compared with formulas in `Double`.
@Suite("Deep colours") struct DeepColorTests {
    enum Space: CaseIterable {
        /// Linear light with the primaries of sRGB.
        case linear
        case displayP3

        var profile: ColorProfile {
            switch self {
            case .linear: .calibrated(gamma: 1, .sRGB)
            case .displayP3: .coded(CICP(primaries: 12, transfer: 13))
            }
        }

        /// Returns the sRGB signal of straight colours by IEC 61966-2-1 and CSS Color 4.
        func converted(_ color: [Double]) -> [Double] {
            func light(_ signal: Double) -> Double {
                signal <= 0.04045 ? signal / 12.92 : pow((signal + 0.055) / 1.055, 2.4)
            }
            func signal(_ light: Double) -> Double {
                let light = min(max(light, 0), 1)
                return light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
            }
            guard self == .displayP3 else { return color.map(signal) }
            let matrix = [
                [1.2249401762805598, -0.22494017628055996, 0],
                [-0.042056954709688163, 1.0420569547096881, 0],
                [-0.019637554590334432, -0.078636045550631889, 1.0982736001409663],
            ]
            return matrix.map { row in
                signal(zip(row, color.map(light)).reduce(0) { $0 + $1.0 * $1.1 })
            }
        }
    }

    private static let size = PixelSize(width: 96, height: 64)

    /// Straight samples from 0 to 65535: many dark colours, and all degrees of alpha.
    private static func sample(_ x: Int, _ y: Int, _ channel: Int) -> Int {
        if channel == 3 { return min(65535, x * 700) }
        let step = Double((x * (channel + 3) + y * (7 - channel)) % 64) / 63
        return Int(step * step * step * 65535)
    }

    private static func image(_ space: Space, _ format: PixelFormat) -> PixelBuffer {
        var buffer = MutablePixelBuffer(
            size: size, format: format, colorProfile: space.profile)
        let channelCount = format.channelCount
        for y in 0..<size.height {
            buffer.withMutableRow(y) { row in
                for index in 0..<size.width * channelCount {
                    let sample = sample(index / channelCount, y, index % channelCount)
                    row.storeSample16(UInt16(sample), at: index)
                }
                if format.hasAlpha { PremultipliedAlpha.multiply16(&row) }
            }
        }
        return buffer.finish()
    }

    static let formats = builtInCodecs.codecs.map(\.format.name)
        .filter { ["png", "tiff", "jp2", "jxl"].contains($0) }

    @Test(
        "are converted before they are reduced to 8 bits", arguments: formats, Space.allCases)
    func conversion(format: String, space: Space) throws {
        var options = EncodeOptions()
        options.isLossless = true
        let destination = try ImageDestination(
            format: format, codecs: builtInCodecs, options: options)
        for pixels in [PixelFormat.gray16, .rgb16, .rgba16] {
            let file = EncodedBytes(try destination.encode(Self.image(space, pixels)))
            let source = try ImageSource(file, codecs: builtInCodecs)
            let image = try source.image()
            #expect(image.colorProfile == .sRGB)
            #expect(image.format == pixels.with8BitChannels)
            // Both forms are in memory for a while, unless JPEG XL's grey has lost its primaries.
            let deepByteCount =
                source.header.colorProfile.isSRGB
                ? 0 : PixelBuffer.byteCount(of: Self.size, pixels)
            #expect(
                source.resultByteCount(DecodeOptions()) == image.byteCount + deepByteCount)
            var deep = DecodeOptions()
            deep.keepsDepth = true
            let wide = try source.image(deep)
            #expect(wide.format == pixels)
            expect(image, space, 255) { Double($0[$1]) }
            // A rendition with 16 bits has no error of more than a quarter of a level.
            expect(wide, space, 65535, within: 65) { row, index in
                row.withSamples16 { Double($0[index]) }
            }
        }
    }

    /// Compares premultiplied samples with those of the formulas.
    private func expect(
        _ image: PixelBuffer, _ space: Space, _ top: Double, within tolerance: Double = 1,
        _ value: (Span<UInt8>, Int) -> Double
    ) {
        let channelCount = image.format.channelCount
        var largest = 0.0
        for y in 0..<Self.size.height {
            let row = image.row(y)
            for x in 0..<Self.size.width {
                let alpha =
                    channelCount == 4 ? Double(Self.sample(x, y, 3)) / 65535 : 1
                // Grey has one component, and its primaries do not matter.
                let color = (0..<3).map {
                    Double(Self.sample(x, y, channelCount == 1 ? 0 : $0)) / 65535
                }
                let expected = space.converted(color)
                for channel in 0..<min(channelCount, 3) {
                    let found = value(row, x * channelCount + channel)
                    largest = max(largest, abs(found - expected[channel] * alpha * top))
                }
            }
        }
        #expect(largest <= tolerance, "\(image.format): \(largest) of \(top)")
    }

    @Test("of sRGB are reduced first, as ever", arguments: formats)
    func ordinary(format: String) throws {
        let destination = try ImageDestination(format: format, codecs: builtInCodecs)
        var image = MutablePixelBuffer(Self.image(.linear, .rgb16))
        image.colorProfile = .sRGB
        let original = image.finish()
        let source = try ImageSource(
            EncodedBytes(try destination.encode(original)), codecs: builtInCodecs)
        #expect(!DecodePlan(source.header, DecodeOptions()).keepsDepth)
    }

    @Test("are passed to consumers of rows with 8 bits and unconverted")
    func rows() throws {
        let file = try ImageDestination(format: "png", codecs: builtInCodecs)
            .encode(Self.image(.linear, .rgba16))
        let consumer = FormatRecorder()
        try ImageSource(EncodedBytes(file), codecs: builtInCodecs).decodeRows(into: consumer)
        #expect(consumer.format == .rgba8)
        #expect(consumer.profile == .calibrated(gamma: 1, .sRGB))
    }
}

private final class FormatRecorder: RowConsumer {
    private(set) var format: PixelFormat?
    private(set) var profile: ColorProfile?

    func begin(
        _ size: PixelSize, _ format: PixelFormat, _ colorProfile: ColorProfile
    ) throws(CodecError) {
        self.format = format
        profile = colorProfile
    }

    func append(_ row: Span<UInt8>) throws(CodecError) {}
}

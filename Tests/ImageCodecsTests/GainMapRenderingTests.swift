// SPDX-License-Identifier: Apache-2.0

#if JPEG
import EncodedImages
import Foundation
import ImageTesting
import Pixels
import Testing

@testable import ImageCodecs

@Suite("Applied gain maps") struct GainMapRenderingTests {
    private static let size = PixelSize(width: 64, height: 48)

    private static var metadata: GainMapMetadata {
        var channel = GainMapMetadata.Channel()
        (channel.minimum, channel.maximum, channel.gamma) = (-0.5, 2.5, 1.5)
        (channel.baseOffset, channel.alternateOffset) = (0.02, 0.01)
        var metadata = GainMapMetadata(channel)
        metadata.alternateHeadroom = 2
        return metadata
    }

    /// A grey ramp whose map has the same size, so that nothing is interpolated.
    private func source(
        _ metadata: GainMapMetadata = Self.metadata, isColored: Bool = false
    ) throws -> ImageSource {
        let format = isColored ? PixelFormat.rgb8 : .gray8
        let image = TestImage.make(Self.size, format) { x, y, channel in
            UInt8(min(x * 3 + y + channel * 10, 255))
        }
        let map = TestImage.make(Self.size, .gray8) { x, _, _ in UInt8(x * 4) }
        var options = EncodeOptions()
        options.quality = 100
        options.chromaSubsampling = .full
        options.gainMap = GainMap(metadata, file: try encoded(map, options))
        return try ImageSource(
            EncodedBytes(encoded(image, options)), codecs: builtInCodecs)
    }

    private func encoded(_ image: PixelBuffer, _ options: EncodeOptions) throws -> [UInt8] {
        try ImageDestination(format: "jpeg", codecs: builtInCodecs, options: options)
            .encode(image)
    }

    private func samples(_ image: PixelBuffer) -> [[UInt16]] {
        (0..<image.size.height).map { y in
            image.row(y).withSamples16 { samples in samples.indices.map { samples[$0] } }
        }
    }

    /// The luminance in cd/m² of a signal of PQ (ITU-R BT.2100, table 4).
    private func luminance(_ sample: UInt16) -> Double {
        let root = pow(Double(sample) / 65535, 32.0 / 2523)
        let ratio = max(root - 107.0 / 128, 0) / (2413.0 / 128 - 2392.0 / 128 * root)
        return 10_000 * pow(ratio, 8192.0 / 1305)
    }

    private func light(_ sample: UInt8) -> Double {
        let value = Double(sample) / 255
        return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    @Test(
        "follow the formula of ISO 21496-1 at any headroom",
        arguments: [nil, 0, 0.7, 1.5, 2, 5] as [Double?])
    func formula(_ headroom: Double?) throws {
        let source = try source()
        let image = try #require(
            try source.imageInHDR(DecodeOptions(), headroom: headroom)
        ).image
        #expect(image.format == .rgb16)
        #expect(image.colorProfile == .coded(CICP(primaries: 9, transfer: 16)))
        let base = try source.image()
        let file = try #require(try source.gainMap()).file
        let map = try ImageSource(EncodedBytes(file), codecs: builtInCodecs).image()
        let weight = min((headroom ?? 2) / 2, 1)
        var largestError = 0.0
        for (y, row) in samples(image).enumerated() {
            for x in 0..<Self.size.width {
                let gain = -0.5 + 3 * pow(Double(map.row(y)[x]) / 255, 1 / 1.5)
                let offset = weight > 0 ? (0.02, 0.01) : (0, 0)
                let wanted =
                    (light(base.row(y)[x]) + offset.0) * exp2(gain * weight) - offset.1
                for channel in 0..<3 {
                    let made = luminance(row[x * 3 + channel]) / 203
                    largestError = max(largestError, abs(made - wanted) / max(wanted, 0.01))
                }
            }
        }
        // Half floats are exact within 1/2048; light passes through two of them.
        #expect(largestError < 0.004)
    }

    @Test("keep colours: at headroom 0 they are those of the base image") func colors() throws {
        let source = try source(isColored: true)
        let image = try #require(try source.imageInHDR(DecodeOptions(), headroom: 0)).image
        let base = try source.image()
        // From BT.2020 to sRGB, ITU-R BT.2087.
        let matrix = [
            [1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187],
        ]
        for (y, row) in samples(image).enumerated() {
            for x in 0..<Self.size.width {
                let light = (0..<3).map { luminance(row[x * 3 + $0]) / 203 }
                for channel in 0..<3 {
                    let made = zip(matrix[channel], light).reduce(0) { $0 + $1.0 * $1.1 }
                    let wanted = self.light(base.row(y)[x * 3 + channel])
                    #expect(abs(made - wanted) < 0.002)
                }
            }
        }
    }

    @Test(
        "lead from a base image in HDR to one in SDR", arguments: [nil, 0, 0.5, 2] as [Double?])
    func baseInHDR(_ headroom: Double?) throws {
        var metadata = Self.metadata
        (metadata.baseHeadroom, metadata.alternateHeadroom) = (2, 0)
        let source = try source(metadata)
        let image = try #require(
            try source.imageInHDR(DecodeOptions(), headroom: headroom)
        ).image
        let base = try source.image()
        let file = try #require(try source.gainMap()).file
        let map = try ImageSource(EncodedBytes(file), codecs: builtInCodecs).image()
        let weight = (headroom ?? 2) / 2 - 1
        var largestError = 0.0
        for (y, row) in samples(image).enumerated() {
            for x in 0..<Self.size.width {
                let gain = -0.5 + 3 * pow(Double(map.row(y)[x]) / 255, 1 / 1.5)
                let offset = weight < 0 ? (0.02, 0.01) : (0, 0)
                let wanted =
                    (light(base.row(y)[x]) + offset.0) * exp2(gain * weight) - offset.1
                let made = luminance(row[x * 3]) / 203
                largestError = max(largestError, abs(made - max(wanted, 0)) / max(wanted, 0.01))
            }
        }
        #expect(largestError < 0.004)
    }

    @Test("of three channels apply to the primaries of the file") func primaries() throws {
        var metadata = Self.metadata
        metadata.channels[0].maximum = 1.5
        metadata.channels[2].minimum = 0
        let color: [UInt8] = [200, 100, 50]
        var tagged = MutablePixelBuffer(
            TestImage.make(Self.size, .rgb8) { _, _, channel in color[channel] })
        tagged.colorProfile = .coded(CICP(primaries: 12, transfer: 13))
        let map = TestImage.make(Self.size, .rgb8) { _, _, channel in UInt8(60 + channel * 60) }
        var options = EncodeOptions()
        options.quality = 100
        options.chromaSubsampling = .full
        options.gainMap = GainMap(metadata, file: try encoded(map, options))
        let source = try ImageSource(
            EncodedBytes(encoded(tagged.finish(), options)), codecs: builtInCodecs)
        let made = try #require(try source.imageInHDR(DecodeOptions())).image
        // From Display P3 to BT.2020, ITU-R BT.2087 with the primaries of SMPTE EG 432-1.
        let matrix = [
            [0.753833, 0.198597, 0.047570], [0.045744, 0.941777, 0.012479],
            [-0.001210, 0.017602, 0.983609],
        ]
        let wantedColor = (0..<3).map { channel in
            let values = metadata.channels[channel]
            let share = pow(Double(60 + channel * 60) / 255, 1 / values.gamma)
            let gain = values.minimum + (values.maximum - values.minimum) * share
            return (light(color[channel]) + 0.02) * exp2(gain) - 0.01
        }
        let row = samples(made)[20]
        for channel in 0..<3 {
            let wanted = zip(matrix[channel], wantedColor).reduce(0) { $0 + $1.0 * $1.1 }
            let found = luminance(row[60 + channel]) / 203
            #expect(abs(found - wanted) / wanted < 0.03, "\(found) instead of \(wanted)")
        }
    }

    @Test("need a map") func missing() throws {
        let image = TestImage.photograph(Self.size)
        let source = try ImageSource(
            EncodedBytes(encoded(image, EncodeOptions())), codecs: builtInCodecs)
        #expect(try source.imageInHDR(DecodeOptions()) == nil)
    }

    @Test(
        "are written with more than 8 bits and PQ by formats that can",
        arguments: builtInCodecs.codecs.filter { $0.encoder?.writesHDR == true }.map(\.format.name))
    func written(_ format: String) throws {
        let image = try #require(try source().imageInHDR(DecodeOptions())).image
        var options = EncodeOptions()
        options.quality = 95
        let file = try ImageDestination(format: format, codecs: builtInCodecs, options: options)
            .encode(image)
        let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
        #expect(source.header.bitsPerComponent > 8)
        #expect(source.header.colorProfile == image.colorProfile)
    }

    @Test(
        "equal those of libultrahdr",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"))
    func peer() throws {
        let python = try #require(PeerTool.python)
        let folder = try TemporaryFolder()
        // libvips applies the gains as a whole, without regard to the headroom.
        var metadata = Self.metadata
        metadata.alternateHeadroom = 2.5
        let image = TestImage.photograph(PixelSize(width: 256, height: 192))
        let map = image.converted(to: .gray8).resized(
            SampleRegion(image.size), to: PixelSize(width: 64, height: 48))
        var options = EncodeOptions()
        options.gainMap = GainMap(metadata, file: try encoded(map, options))
        let file = try encoded(image, options)
        let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
        let made = try #require(try source.imageInHDR(DecodeOptions())).image
        try Data(file).write(to: URL(filePath: folder.path("base.jpg")))
        try Data(ImageDestination(format: "png", codecs: builtInCodecs).encode(made)).write(
            to: URL(filePath: folder.path("made.png")))
        let script = SampleFiles.packageDirectory.appending(
            path: "Tests/Peers/applied_gain_map.py")
        let output = try #require(
            try PeerTool.run(
                python, [script.path, folder.path("base.jpg"), folder.path("made.png")]))
        let text = String(decoding: output, as: UTF8.self)
        let ratio = try #require(Double(text.split(separator: "\n").first ?? ""))
        #expect(ratio >= 45, "signal-to-noise ratio of PQ signals in dB")
    }
}
#endif

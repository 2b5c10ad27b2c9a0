// SPDX-License-Identifier: Apache-2.0

#if PNG && JPEG && ICC
import EncodedImages
import Foundation
import ImageTesting
import Pixels
import Testing

@testable import ImageCodecs

@Suite("Images in PQ and HLG") struct HDRImageTests {
    private static let size = PixelSize(width: 96, height: 64)

    private func file(
        transfer: Int, size: PixelSize = Self.size, _ signal: (Int, Int, Int) -> Double
    ) throws -> ImageSource {
        var image = MutablePixelBuffer(
            size: size, format: .rgb16,
            colorProfile: .coded(CICP(primaries: 9, transfer: transfer)))
        for y in 0..<size.height {
            image.withMutableRow(y) { row in
                for index in 0..<size.width * 3 {
                    let value = signal(index / 3, y, index % 3)
                    row.storeSample16(UInt16((value * 65535).rounded()), at: index)
                }
            }
        }
        let file = try ImageDestination(format: "png", codecs: builtInCodecs)
            .encode(image.finish())
        return try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
    }

    /// Saturated and pale colours from black to 1,000 cd/m² and above.
    private func chart(_ x: Int, _ y: Int, _ channel: Int) -> Double {
        let level = Double(x) / 95
        let share = [Double(y % 8) / 7, Double(y / 8) / 7, 0.5][channel]
        return level * (0.4 + 0.6 * share) * 0.85
    }

    private func samples(_ image: PixelBuffer, _ y: Int) -> [UInt16] {
        image.row(y).withSamples16 { samples in samples.indices.map { samples[$0] } }
    }

    /// ITU-R BT.2100, table 4.
    private func luminance(_ signal: Double) -> Double {
        let root = pow(signal, 32.0 / 2523)
        let ratio = max(root - 107.0 / 128, 0) / (2413.0 / 128 - 2392.0 / 128 * root)
        return 10_000 * pow(ratio, 8192.0 / 1305)
    }

    private func signal(_ luminance: Double) -> Double {
        let power = pow(luminance / 10_000, 1305.0 / 8192)
        return pow((107.0 / 128 + 2413.0 / 128 * power) / (1 + 2392.0 / 128 * power), 2523.0 / 32)
    }

    @Test("in PQ are unchanged on a display without a limit") func unchanged() throws {
        let source = try file(transfer: 16, chart)
        #expect(source.header.isHDR)
        let image = try #require(try source.imageInHDR(DecodeOptions())).image
        #expect(image.colorProfile == .coded(CICP(primaries: 9, transfer: 16)))
        for y in 0..<Self.size.height {
            for (index, sample) in samples(image, y).enumerated() {
                let wanted = chart(index / 3, y, index % 3) * 65535
                // Light is a half float in between.
                #expect(abs(Double(sample) - wanted) < 12)
            }
        }
    }

    @Test(
        "in PQ are tone-mapped to the headroom as BT.2390 specifies",
        arguments: [0, 0.5, 1, 2, 3] as [Double])
    func toneMapping(_ headroom: Double) throws {
        let source = try file(transfer: 16, chart)
        let image = try #require(
            try source.imageInHDR(DecodeOptions(), headroom: headroom)
        ).image
        let peak = 203 * exp2(headroom)
        for y in stride(from: 0, to: Self.size.height, by: 5) {
            for (index, sample) in samples(image, y).enumerated() {
                // BT.2390, 5.4.1, with a source from 0 to 1,000 cd/m².
                let source = signal(1000)
                let maximum = signal(peak) / source
                var value = min(chart(index / 3, y, index % 3), 1) / source
                let knee = 1.5 * maximum - 0.5
                if maximum >= 1 {
                    value = min(value, maximum)
                } else if value > knee {
                    let t = (min(value, 1) - knee) / (1 - knee)
                    value =
                        (2 * pow(t, 3) - 3 * pow(t, 2) + 1) * knee
                        + (pow(t, 3) - 2 * pow(t, 2) + t) * (1 - knee)
                        + (-2 * pow(t, 3) + 3 * pow(t, 2)) * maximum
                }
                #expect(abs(Double(sample) / 65535 - value * source) < 0.0003)
                #expect(Double(sample) / 65535 <= signal(peak) + 0.0001)
            }
        }
    }

    @Test("in HLG are rendered for a display of 1,000 cd/m² by their luminance")
    func hybridLogGamma() throws {
        let source = try file(transfer: 18, chart)
        let image = try #require(try source.imageInHDR(DecodeOptions())).image
        for y in stride(from: 0, to: Self.size.height, by: 5) {
            let row = samples(image, y)
            for x in 0..<Self.size.width {
                // ITU-R BT.2100, table 5: inverse OETF, then OOTF with a gamma of 1.2.
                let scene = (0..<3).map { channel -> Double in
                    let value = chart(x, y, channel)
                    return value <= 0.5
                        ? value * value / 3
                        : (exp((value - 0.55991073) / 0.17883277) + 0.28466892) / 12
                }
                let weight = 0.2627 * scene[0] + 0.6780 * scene[1] + 0.0593 * scene[2]
                for channel in 0..<3 {
                    let wanted = 1000 * pow(weight, 0.2) * scene[channel]
                    let found = luminance(Double(row[x * 3 + channel]) / 65535)
                    #expect(abs(found - wanted) <= wanted * 0.004 + 0.001)
                }
            }
        }
    }

    @Test(
        "become SDR with a map that leads back to HDR",
        arguments: [(16, 2.4...2.7), (18, 0.1...0.4)])
    func roundTrip(_ transfer: Int, _ headroom: ClosedRange<Double>) throws {
        // Smooth, and within the primaries of sRGB.
        let source = try file(transfer: transfer, size: PixelSize(width: 192, height: 128)) {
            x, y, channel in
            let level = 0.25 + 0.5 * Double(x) / 191
            let hue = sin(Double(y) / 20 + Double(channel)) * 0.02
            return level + hue
        }
        let map = try #require(try source.gainMap(DecodeOptions(), quality: 95))
        #expect(headroom.contains(map.metadata.alternateHeadroom))
        #expect(map.metadata.usesBaseColorSpace && !map.metadata.isBaseHDR)
        var options = EncodeOptions()
        options.quality = 95
        options.chromaSubsampling = .full
        options.gainMap = map
        let file = try ImageDestination(format: "jpeg", codecs: builtInCodecs, options: options)
            .encode(source.image())
        let joined = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
        let written = try #require(try joined.gainMap())
        #expect(joined.gainMapSize(written) == PixelSize(width: 96, height: 64))
        let wanted = try #require(try source.imageInHDR(DecodeOptions())).image
        let made = try #require(try joined.imageInHDR(DecodeOptions())).image
        var errors: [Double] = []
        for y in 0..<wanted.size.height {
            for (one, other) in zip(samples(made, y), samples(wanted, y)) {
                let light = luminance(Double(other) / 65535)
                // In darker parts, a step of the 8 bits of the base image is more than 2 %.
                guard light > 20 else { continue }
                errors.append(abs(luminance(Double(one) / 65535) - light) / light)
            }
        }
        errors.sort()
        try #require(errors.count > wanted.size.area)
        #expect(errors[errors.count / 2] < 0.01, "median relative error of light")
        #expect(errors[errors.count * 95 / 100] < 0.021, "95 of 100 relative errors")
    }

    @Test(
        "become SDR as BT.2390 specifies",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: [(16, "pq"), (18, "hlg")])
    func standardRange(_ transfer: Int, _ name: String) throws {
        let python = try #require(PeerTool.python)
        let folder = try TemporaryFolder()
        let source = try file(transfer: transfer, chart)
        var options = DecodeOptions()
        options.keepsDepth = true
        var unchanged = options
        unchanged.convertsToSRGB = false
        let png = try ImageDestination(format: "png", codecs: builtInCodecs)
        try png.write(source.image(unchanged), to: folder.path("hdr.png"))
        try png.write(source.image(options), to: folder.path("sdr.png"))
        let script = SampleFiles.packageDirectory.appending(path: "Tests/Peers/tone_mapping.py")
        let output = try #require(
            try PeerTool.run(
                python, [script.path, name, folder.path("hdr.png"), folder.path("sdr.png")]))
        let text = String(decoding: output, as: UTF8.self)
        let differences = text.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        try #require(differences.count == 3)
        #expect(differences[0] < 0.05 && differences[1] < 0.3 && differences[2] < 1)
    }

    @Test("that stay in SDR have no map") func dark() throws {
        let source = try file(transfer: 16) { x, _, _ in Double(x) / 95 * 0.5 }
        #expect(try source.gainMap(DecodeOptions()) == nil)
        var options = DecodeOptions()
        options.convertsToSRGB = false
        let bright = try file(transfer: 16, chart)
        #expect(try bright.gainMap(options) == nil, "the image itself stays in HDR")
        #expect(try bright.gainMap(DecodeOptions()) != nil)
    }
}
#endif

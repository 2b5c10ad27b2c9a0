// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite("QOI") struct QOITests {
    private func header(_ width: UInt8, _ height: UInt8, channels: UInt8, space: UInt8 = 0)
        -> [UInt8]
    {
        Array("qoif".utf8) + [0, 0, 0, width, 0, 0, 0, height, channels, space]
    }

    private let end: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 1]

    private func open(_ file: [UInt8]) throws -> ImageSource {
        try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
    }

    @Test("every chunk type is decoded as specified")
    func chunks() throws {
        // 3 × 10 + 5 × 20 + 7 × 30 + 11 × 255, its lowest 6 bits.
        let place: UInt8 = 9
        let chunks: [[UInt8]] = [
            [0xC0],  // black once more
            [0xFE, 10, 20, 30],  // in full
            [0b0111_0010],  // +1, -2, 0
            [0b1010_1010, 0b0101_1100],  // green +10, red 3 less, blue 4 more
            [0xFF, 200, 100, 50, 128],  // with alpha
            [0xC1],  // twice more
            [place],  // seen before
            [0b0100_0000],  // -2, -2, -2
        ]
        let straight: [[UInt8]] = [
            [0, 0, 0, 255], [10, 20, 30, 255], [11, 18, 30, 255], [18, 28, 44, 255],
            [200, 100, 50, 128], [200, 100, 50, 128], [200, 100, 50, 128], [10, 20, 30, 255],
            [8, 18, 28, 255],
        ]
        let image = try open(header(3, 3, channels: 4) + chunks.flatMap(\.self) + end).image()
        var expected = straight.flatMap(\.self)
        var span = expected.mutableSpan
        PremultipliedAlpha.multiply(&span)
        #expect(image.packedBytes == expected)
        // Differences wrap around at 0 and 255.
        let wrapping: [UInt8] = [0b0100_0110, 0b1000_0000, 0x88]
        let round = try open(header(2, 1, channels: 3) + wrapping + end).image()
        #expect(round.packedBytes == [254, 255, 0, 222, 223, 224])
    }

    @Test(
        "alpha is exact as far as premultiplied pixels can represent it", arguments: [false, true])
    func alpha(isNoise: Bool) throws {
        let size = PixelSize(width: 70, height: 51)
        let image =
            isNoise ? TestImage.noise(size, .rgba8) : TestImage.photograph(size, .rgba8)
        let file = try ImageDestination(format: "qoi", codecs: builtInCodecs).encode(image)
        let comparison = PixelComparison(try open(file).image(), image)
        #expect(comparison.maximumDifference == 0, "\(comparison)")
    }

    @Test(
        "encoded files are decoded identically by an independent decoder",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: [PixelFormat.rgb8, .rgba8])
    func pillow(format: PixelFormat) throws {
        let size = PixelSize(width: 90, height: 70)
        for image in [
            TestImage.photograph(size, format), TestImage.noise(size, format),
            TestImage.flat(size, format, [7, 8, 9, 255]),
        ] {
            let folder = FileManager.default.temporaryDirectory
            let path = folder.appending(path: "\(UUID().uuidString).qoi").path
            defer { try? FileManager.default.removeItem(atPath: path) }
            try ImageDestination(format: "qoi", codecs: builtInCodecs).write(image, to: path)
            let expected = try #require(try PeerTool.image("decode.py", [path]))
            let comparison = PixelComparison(image.asRGBA, expected)
            #expect(comparison.maximumDifference == 0, "\(comparison)")
        }
    }

    @Test("linear light is distinguished from sRGB")
    func linear() throws {
        let file = header(1, 1, channels: 3, space: 1) + [0xFE, 55, 55, 55] + end
        let source = try open(file)
        #expect(source.header.colorProfile == .calibrated(gamma: 1, .sRGB))
        var options = DecodeOptions()
        options.convertsToSRGB = false
        let again = try ImageDestination(format: "qoi", codecs: builtInCodecs)
            .encode(try source.image(options))
        #expect(again == file)
    }

    @Test("an invalid header is rejected")
    func malformed() {
        for file in [
            header(0, 1, channels: 3), header(1, 1, channels: 5),
            header(1, 1, channels: 3, space: 2),
        ] {
            #expect(throws: CodecError.self) { _ = try open(file + [0xC0] + end).image() }
        }
    }
}

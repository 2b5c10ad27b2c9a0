// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageTesting
import Pixels
import Placeholders
import Testing

@Suite("A BlurHash") struct BlurHashTests {
    /// Made by the package `blurhash` 1.1.5 for Python from a slope of 60 by 40 pixels.
    private static let known: [(x: Int, y: Int, hash: String)] = [
        (4, 3, "LvGu%U2Q$8Sdl?a%jtf8gKfkfQfj"), (1, 1, "00Gu%U"),
    ]

    @Test("is that of an independent encoder", arguments: known.indices)
    func knownHashes(_ index: Int) throws {
        let (x, y, hash) = Self.known[index]
        let image = PlaceholderImage.slope(60, 40, hasAlpha: false).image
        let ours = BlurHash(image, horizontalComponentCount: x, verticalComponentCount: y)
        #expect(ours.text == hash)
        #expect(try BlurHash(hash) == ours)
        #expect(ours.horizontalComponentCount == x)
        #expect(ours.verticalComponentCount == y)
    }

    @Test(
        "equals that of an independent encoder",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"))
    func peerHashes() throws {
        var random = SeededRandom(seed: 3)
        try withTemporaryFolder { folder in
            let file = folder.appending(path: "picture")
            for _ in 0..<20 {
                let size = PixelSize(
                    width: .random(in: 1...60, using: &random),
                    height: .random(in: 1...60, using: &random))
                let (x, y) = (
                    Int.random(in: 1...9, using: &random), Int.random(in: 1...9, using: &random)
                )
                let image = PlaceholderImage.random(size, hasAlpha: false, &random)
                try image.write(to: file)
                let expected = try #require(
                    try placeholderPeer("blurhash", file.path, "\(x)", "\(y)"))
                let hash = BlurHash(
                    image.image, horizontalComponentCount: x, verticalComponentCount: y)
                #expect(hash.text == String(decoding: expected, as: UTF8.self), "\(size)")
            }
        }
    }

    @Test(
        "is drawn like an independent decoder draws it",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: [1, 0.5, 1.8])
    func peerImages(_ punch: Double) throws {
        for text in ["LvGu%U2Q$8Sdl?a%jtf8gKfkfQfj", "LEHV6nWB2yk8pyo0adR*.7kCMdnj", "00Gu%U"] {
            let size = PixelSize(width: 33, height: 20)
            let output = try #require(
                try placeholderPeer(
                    "blurhash-picture", text, "\(size.width)", "\(size.height)", "\(punch)"))
            let expected = try #require(PeerTool.image(output))
            let comparison = PixelComparison(try BlurHash(text).image(size, punch: punch), expected)
            #expect(comparison.maximumDifference <= 1, "\(text): \(comparison)")
            #expect(comparison.meanDifference < 0.01, "\(text): \(comparison)")
        }
    }

    @Test("resembles the image, whatever its size") func roundTrip() {
        let small = TestImage.make(PixelSize(width: 32, height: 32), .rgb8) { x, y, channel in
            UInt8([x * 8, y * 8, 255 - x * 4][channel])
        }
        let large = TestImage.make(PixelSize(width: 640, height: 640), .rgb8) { x, y, channel in
            UInt8([x / 20 * 8, y / 20 * 8, 255 - x / 20 * 4][channel])
        }
        for image in [small, large] {
            let drawn = BlurHash(
                image, horizontalComponentCount: 5, verticalComponentCount: 5
            ).image(small.size)
            #expect(PixelComparison(drawn, small).meanDifference < 12)
        }
        let color = BlurHash(small).averageColor
        #expect(color.alpha == 1)
        #expect(abs(color.blue - 0.77) < 0.05)
    }

    @Test("stays an image with any punch", arguments: [0, -3, 1e300, .infinity, .nan])
    func punch(_ punch: Double) throws {
        let hash = try BlurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj")
        #expect(hash.image(PixelSize(width: 4, height: 1), punch: punch).format == .rgb8)
    }

    @Test("from arbitrary text is drawn or rejected") func hostile() throws {
        var random = SeededRandom(seed: 4)
        let alphabet = Array(
            "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~")
        for count in 0...40 {
            for _ in 0..<100 {
                let text = String((0..<count).map { _ in alphabet[Int(random.next() % 83)] })
                guard let hash = try? BlurHash(text) else { continue }
                #expect(hash.text == text)
                #expect(hash.image(PixelSize(width: 2, height: 2)).format == .rgb8)
            }
        }
        let whole = Self.known[0].hash
        for count in 0..<whole.count {
            #expect(throws: CodecError.truncated(byteCount: count)) {
                try BlurHash(String(whole.prefix(count)))
            }
        }
        for text in [
            whole + "0", "00~~~~", "10000~~~", "~0000000", "0000 0", "00Gu%Ü", "L\0", "\u{1F5BC}",
        ] {
            #expect(throws: CodecError.self, "\(text)") { try BlurHash(text) }
        }
    }
}

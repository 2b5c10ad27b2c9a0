// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Synchronization
import Testing

@Suite(
    "A quality chosen by target SSIM",
    .enabled(if: builtInCodecs.codec(named: "jpeg") != nil))
struct TargetSSIMTests {
    private static let formats = ["jpeg", "webp", "avif"]
        .filter { builtInCodecs.codec(named: $0) != nil }
    private static let size = PixelSize(width: 203, height: 147)

    private func file(
        _ image: PixelBuffer, _ format: String, _ change: (inout EncodeOptions) -> Void
    ) throws -> [UInt8] {
        var options = EncodeOptions()
        change(&options)
        return try ImageDestination(format: format, codecs: builtInCodecs, options: options)
            .encode(image)
    }

    /// The similarity as measured by an independent decoder and program.
    private func similarity(_ file: [UInt8], to image: PixelBuffer) throws -> Double {
        try withTemporaryFolder { folder in
            let paths = ["a.bmp", "b"].map { folder.appending(path: $0) }
            try Data(try self.file(image, "bmp") { _ in }).write(to: paths[0])
            try Data(file).write(to: paths[1])
            return try PeerTool.similarity(paths[0], paths[1]).blocks
        }
    }

    @Test(
        "is the lowest that suffices",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"), arguments: formats,
        [0.8, 0.9])
    func lowest(format: String, target: Double) throws {
        // Enough noise that each step of quality is visible.
        var random = SeededRandom(seed: 1)
        let image = TestImage.make(Self.size, .rgb8) { x, y, channel in
            UInt8(96 + (x + y * (channel + 1)) % 256 / 4 + Int(random.next() % 64))
        }
        let chosen = try file(image, format) { $0.targetSSIM = target }
        let quality = try #require(
            try (32...95).first { quality in
                try file(image, format) { $0.quality = quality } == chosen
            })
        // Neither bound, so that both neighbours can be checked.
        try #require((33...94).contains(quality))
        let worse = try file(image, format) { $0.quality = quality - 1 }
        let tolerance = 0.002
        #expect(try similarity(chosen, to: image) > target - tolerance, "\(quality)")
        #expect(try similarity(worse, to: image) < target + tolerance, "\(quality - 1)")
    }

    @Test(
        "is measured over white for images with alpha",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: formats)
    func alpha(format: String) throws {
        let image = TestImage.photograph(Self.size, .rgba8)
        let chosen = try file(image, format) { $0.targetSSIM = 0.9 }
        let usual = try file(image, format) { $0.quality = 95 }
        #expect(chosen.count < usual.count)
        #expect(try similarity(chosen, to: image) > 0.898)
    }

    @Test("is the lowest for a flat image, and the highest if none suffices")
    func bounds() throws {
        let flat = TestImage.flat(Self.size, .rgb8, [200, 100, 50])
        #expect(
            try file(flat, "jpeg") { $0.targetSSIM = 0.999 }
                == file(flat, "jpeg") { $0.quality = 32 })
        var random = SeededRandom(seed: 1)
        let noise = TestImage.make(Self.size, .gray8) { _, _, _ in
            UInt8(120 + random.next() % 12)
        }
        #expect(
            try file(noise, "jpeg") { $0.targetSSIM = 0.999 }
                == file(noise, "jpeg") { $0.quality = 95 })
    }

    @Test("takes at most seven attempts, and none after cancellation")
    func attempts() throws {
        let image = TestImage.photograph(Self.size)
        var options = EncodeOptions()
        options.targetSSIM = 0.9
        for wanted in [7, 2] {
            let codec = WatchedCodec(try #require(builtInCodecs.codec(named: "jpeg")))
            let destination = try ImageDestination(
                format: "jpeg", codecs: CodecSet([codec]), options: options)
            let flag = CancellationFlag(or: { codec.attemptCount == wanted })
            if wanted == 7 {
                _ = try destination.encode(image, cancellation: flag)
                #expect(codec.attemptCount == 6)
            } else {
                #expect(throws: CodecError.cancelled) {
                    _ = try destination.encode(image, cancellation: flag)
                }
                #expect(codec.attemptCount == wanted)
            }
        }
    }

    @Test("is ignored by lossless formats") func lossless() throws {
        let image = TestImage.photograph(PixelSize(width: 30, height: 20))
        for format in ["bmp", "webp"] where builtInCodecs.codec(named: format) != nil {
            let usual = try file(image, format) { $0.isLossless = true }
            let other = try file(image, format) {
                $0.isLossless = true
                $0.targetSSIM = 0.6
            }
            #expect(usual == other)
        }
    }
}

/// A codec that counts its encodes.
private final class WatchedCodec: ImageCodec, ImageEncoder {
    private let watched: any ImageCodec
    private let count = Atomic(0)

    init(_ watched: any ImageCodec) { self.watched = watched }

    var format: ImageFormat { watched.format }
    var decoder: any ImageDecoder { watched.decoder }
    var encoder: (any ImageEncoder)? { self }
    var attemptCount: Int { count.load(ordering: .relaxed) }

    func encode(
        _ image: PixelBuffer, _ options: EncodeOptions
    ) throws(CodecError) -> [UInt8] {
        count.add(1, ordering: .relaxed)
        return try watched.encoder?.encode(image, options) ?? []
    }

    func dependsOnQuality(_ options: EncodeOptions) -> Bool { true }
}

// SPDX-License-Identifier: Apache-2.0

#if PNG
import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite("Animated PNG") struct AnimatedPNGTests {
    static var files: [URL] {
        SampleFiles.own("png", "animated")
            + SampleFiles.real(extensions: ["png", "apng"]).filter { file in
                guard let source = try? open(file) else { return false }
                return source.header.frameCount > 1
            }
    }

    private static func open(_ file: URL) throws -> ImageSource {
        try ImageSource(try EncodedBytes(mapping: file.path), codecs: builtInCodecs)
    }

    static var asStored: DecodeOptions {
        var options = DecodeOptions()
        options.convertsToSRGB = false
        options.appliesOrientation = false
        return options
    }

    @Test(
        "frames are equal to those of an independent decoder",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: files)
    func pillow(file: URL) throws {
        let source = try Self.open(file)
        guard var peers = try PeerTool.frames(of: file, atMost: 20) else { return }
        // Pillow counts a default image that is not part of the animation.
        if peers.count == source.header.frameCount + 1 { peers.removeFirst() }
        #expect(source.header.frameCount >= peers.count)
        var frames = try source.frames(Self.asStored)
        for (index, peer) in peers.enumerated() {
            let frame = try #require(try frames.next())
            let comparison = PixelComparison(frame.image.asRGBA, peer.image)
            // Pillow blends colours with straight alpha.
            let allowed = index == 0 ? 0 : 2
            #expect(comparison.maximumDifference <= allowed, "frame \(index): \(comparison)")
        }
    }

    @Test("the header contains the frame and loop counts")
    func header() throws {
        let over = try #require(
            SampleFiles.own("png", "animated").first { $0.lastPathComponent == "over.png" })
        let header = try Self.open(over).header
        #expect(header.frameCount == 5)
        #expect(header.loopCount == 3)
        var frames = try Self.open(over).frames()
        var durations: [Duration] = []
        while let frame = try frames.next() { durations.append(frame.duration) }
        #expect(durations == [40, 80, 10, 1_000, 20].map { .milliseconds($0) })
    }

    @Test("metadata is read from eXIf and from textual chunks, compressed or not")
    func metadata() throws {
        let plain = PNGFile(width: 3, height: 2, colorType: 0, bitDepth: 8).bytes()
        let exif: [UInt8] = [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0]
        let xmp = Array("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".utf8)
        let records: [UInt8] = [0x1C, 2, 5, 0, 1, 0x41]
        let resources = Array("8BIM".utf8) + [4, 4, 0, 0, 0, 0, 0, 6] + records
        let digits = resources.map { String(format: "%02x", $0) }.joined()
        let profile = "\niptc\n      \(resources.count)\n\(digits)\n"
        let chunks: [(String, [UInt8])] = [
            ("eXIf", exif),
            ("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0".utf8) + xmp),
            ("tEXt", Array("Raw profile type iptc\0\(profile)".utf8)),
            ("tEXt", Array("Comment\0none".utf8)),
        ]
        // After IHDR; the CRC of textual chunks is not verified, that of eXIf is.
        var file = Array(plain.prefix(33))
        for (type, body) in chunks { file += PNGFile.chunk(type, body) }
        file += plain.dropFirst(33)
        let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
        let blocks = try source.metadata()
        #expect(blocks.exif == exif)
        #expect(blocks.xmp == xmp)
        #expect(blocks.iptc == records)
    }

    @Test("damaged and truncated files end in frames or an error", arguments: files)
    func damaged(file: URL) throws {
        let whole = try Array(Data(contentsOf: file))
        guard whole.count < 10_000 else { return }
        var random = SeededRandom(seed: UInt64(whole.count))
        var limits = DecodeLimits()
        limits.maximumPixelCount = 100_000
        for round in 0..<60 {
            var bytes = whole
            if round % 2 == 0 {
                bytes = Array(bytes.prefix(Int.random(in: 8..<whole.count, using: &random)))
            } else {
                bytes[Int.random(in: 8..<bytes.count, using: &random)] ^= 1
            }
            guard
                let source = try? ImageSource(
                    EncodedBytes(bytes), codecs: builtInCodecs, limits: limits),
                var frames = try? source.frames(DecodeOptions(maximumSide: 8))
            else { continue }
            for _ in 0..<20 { if (try? frames.next()) == nil { break } }
            _ = try source.metadata()
        }
    }
}
#endif

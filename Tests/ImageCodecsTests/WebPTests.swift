// SPDX-License-Identifier: Apache-2.0

#if WebP
import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite("WebP") struct WebPTests {
    static var files: [URL] {
        SampleFiles.own("webp", "valid")
            + SampleFiles.real(extensions: ["webp"]).filter { !$0.path.contains("/bombs/") }
    }

    private func open(_ file: URL) throws -> ImageSource {
        try ImageSource(try EncodedBytes(mapping: file.path), codecs: builtInCodecs)
    }

    private func own(_ name: String) throws -> ImageSource {
        try open(SampleFiles.packageDirectory.appending(path: "Corpus/webp/valid/\(name).webp"))
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
        let source = try open(file)
        let expected = try #require(try PeerTool.frames(of: file, atMost: 20))
        #expect(min(20, source.header.frameCount) == expected.count)
        var frames = try source.frames(Self.asStored)
        for (index, peer) in expected.enumerated() {
            let frame = try #require(try frames.next())
            let comparison = PixelComparison(frame.image.asRGBA, peer.image)
            // The peer blends colours with straight alpha.
            let allowed = index == 0 ? 0 : 1
            #expect(comparison.maximumDifference <= allowed, "frame \(index): \(comparison)")
        }
        let first = PixelComparison(
            try source.image(Self.asStored).asRGBA, expected[0].image)
        #expect(first.maximumDifference == 0, "\(first)")
    }

    @Test("broken files are rejected", arguments: SampleFiles.own("webp", "invalid"))
    func broken(file: URL) {
        #expect(throws: CodecError.self) { _ = try open(file).image() }
    }

    @Test(
        "malicious files end in an image or an error",
        arguments: SampleFiles.real("bombs", extensions: ["webp"]))
    func hostile(file: URL) throws {
        let image = try? open(file).image(DecodeOptions(maximumSide: 8))
        #expect(image == nil || image?.size.largestSide == 8)
    }

    @Test("the header describes the file")
    func header() throws {
        let source = try own("metadata")
        #expect(source.header.orientation.rawValue == 6)
        #expect(source.pixelSize == PixelSize(width: 29, height: 37))
        #expect(source.header.facts == [.init("compression", "lossy")])
        #expect(try own("lossless").header.facts == [.init("compression", "lossless")])
        #expect(try own("lossless-alpha").header.hasAlpha)
        #expect(try !own("lossless").header.hasAlpha)
        let animation = try own("animation").header
        #expect(animation.frameCount == 5)
        #expect(animation.loopCount == 3)
    }

    @Test(
        "the extended header announces alpha only where the image has some",
        arguments: [255, 9])
    func alphaFlag(alpha: UInt8) throws {
        var options = EncodeOptions()
        options.isLossless = true
        options.metadata = try own("metadata").metadata()
        let image = TestImage.flat(
            PixelSize(width: 8, height: 8), .rgba8, [90, 20, 200, alpha])
        let file = try ImageDestination(format: "webp", codecs: builtInCodecs, options: options)
            .encode(image)
        // RIFF header of 12 bytes, chunk header of 8 bytes, flags.
        #expect(Array(file[12..<16]) == Array("VP8X".utf8))
        #expect((file[20] & 0x10 != 0) == (alpha < 255))
    }

    @Test("metadata and profile survive a round trip", arguments: [false, true])
    func metadata(isLossless: Bool) throws {
        let source = try own("metadata")
        let blocks = try source.metadata()
        #expect(blocks.exif?.starts(with: Array("MM".utf8)) == true)
        #expect(blocks.xmp == Array("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".utf8))
        guard case .icc(let profile) = source.header.colorProfile else {
            Issue.record("no profile")
            return
        }
        var options = EncodeOptions()
        options.isLossless = isLossless
        options.metadata = blocks
        let image = try source.image(Self.asStored)
        let written = try ImageDestination(
            format: "webp", codecs: builtInCodecs, options: options
        ).encode(image)
        let again = try ImageSource(EncodedBytes(written), codecs: builtInCodecs)
        #expect(try again.metadata() == blocks)
        #expect(again.header.colorProfile == .icc(profile))
        #expect(again.header.orientation == source.header.orientation)
        let difference = PixelComparison(try again.image(Self.asStored), image)
        #expect(difference.maximumDifference <= (isLossless ? 0 : 40), "\(difference)")
    }

    @Test("transparent pixels survive a round trip")
    func alpha() throws {
        let image = TestImage.photograph(PixelSize(width: 64, height: 48), .rgba8)
        var options = EncodeOptions()
        options.isLossless = true
        let destination = try ImageDestination(
            format: "webp", codecs: builtInCodecs, options: options)
        let exact = try ImageSource(
            EncodedBytes(try destination.encode(image)), codecs: builtInCodecs)
        #expect(PixelComparison(try exact.image(), image).maximumDifference == 0)
        let lossy = try ImageSource(
            EncodedBytes(
                try ImageDestination(format: "webp", codecs: builtInCodecs).encode(image)),
            codecs: builtInCodecs)
        #expect(lossy.header.hasAlpha)
        let comparison = PixelComparison(try lossy.image(), image)
        #expect(comparison.meanDifference < 5, "\(comparison)")
    }

    @Test("planes are encoded as JPEG without a detour through RGB")
    func planes() throws {
        let image = TestImage.photograph(PixelSize(width: 101, height: 67))
        var encoding = EncodeOptions()
        encoding.quality = 95
        let file = try ImageDestination(
            format: "webp", codecs: builtInCodecs, options: encoding
        ).encode(image)
        let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
        for side in [101, 60] {
            var options = DecodeOptions(maximumSide: side)
            let colors = try source.image(options)
            options.acceptsYCbCr = true
            let planes = try source.image(options)
            #expect(planes.format == .yCbCr420)
            let comparison = PixelComparison(planes.convertedFromYCbCr(), colors)
            #expect(comparison.meanDifference < 1, "\(side): \(comparison)")
        }
    }

    @Test("a reduced decode is close to the reduced image")
    func small() throws {
        let image = TestImage.photograph(PixelSize(width: 800, height: 600))
        var encoding = EncodeOptions()
        encoding.quality = 50
        let file = try ImageDestination(
            format: "webp", codecs: builtInCodecs, options: encoding
        ).encode(image)
        let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
        let whole = try source.image()
        // From a factor of 8 on, the deblocking filter is off.
        for side in [200, 110, 100, 50] {
            let small = try source.image(DecodeOptions(maximumSide: side))
            let comparison = PixelComparison(small, whole.resampled(to: small.size))
            #expect(comparison.meanDifference < 1, "\(side): \(comparison)")
        }
    }

    @Test("an animation survives a round trip", arguments: [false, true])
    func animation(isLossless: Bool) throws {
        let size = PixelSize(width: 40, height: 30)
        var options = EncodeOptions()
        options.isLossless = isLossless
        options.quality = 90
        let images = (0..<6).map {
            TestImage.photograph(size, $0 < 4 ? .rgb8 : .rgba8, seed: UInt64($0))
        }
        var writer = try ImageDestination(
            format: "webp", codecs: builtInCodecs, options: options
        ).animationWriter(size, loopCount: 7)
        for (index, image) in images.enumerated() {
            try writer.append(image, duration: .milliseconds(30 + 10 * index))
        }
        let file = try writer.finish()
        let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
        #expect(source.header.frameCount == 6)
        #expect(source.header.loopCount == 7)
        var frames = try source.frames()
        for (index, image) in images.enumerated() {
            let frame = try #require(try frames.next())
            #expect(frame.duration == .milliseconds(30 + 10 * index))
            let comparison = PixelComparison(frame.image.asRGBA, image.asRGBA)
            #expect(
                comparison.meanDifference <= (isLossless ? 0 : 4), "\(index): \(comparison)")
        }
        #expect(try frames.next() == nil)
    }

    @Test("a truncated file ends in its available part or an error", arguments: files)
    func cut(file: URL) throws {
        let whole = try Array(Data(contentsOf: file))
        guard whole.count < 30_000 else { return }
        var options = DecodeOptions(maximumSide: 16)
        // The orientation may be in a chunk that is missing.
        options.appliesOrientation = false
        let complete = try? ImageSource(EncodedBytes(whole), codecs: builtInCodecs).image(options)
        for length in stride(from: 0, to: whole.count, by: max(1, whole.count / 60)) {
            do throws(CodecError) {
                let source = try ImageSource(
                    EncodedBytes(Array(whole[..<length])), codecs: builtInCodecs)
                let decoded = try source.decodedImage(options)
                // Metadata and further frames may be missing from a complete image.
                if decoded.report.problem == nil {
                    #expect(decoded.image.packedBytes == complete?.packedBytes)
                } else {
                    #expect(decoded.report.problem == .truncated(byteCount: length))
                }
                var frames = try source.frames(options)
                while try frames.next() != nil {}
            } catch {
                switch error {
                case .empty, .truncated, .unknownFormat: break
                default: Issue.record("\(length): \(error)")
                }
            }
        }
    }

    @Test("damaged files end in an image or an error", arguments: files)
    func damaged(file: URL) throws {
        let whole = try Array(Data(contentsOf: file))
        guard whole.count < 30_000 else { return }
        var random = SeededRandom(seed: UInt64(whole.count))
        var limits = DecodeLimits()
        limits.maximumPixelCount = 1_000_000
        for _ in 0..<30 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                // Half of the damage is in the headers.
                let end = Bool.random(using: &random) ? min(80, bytes.count) : bytes.count
                bytes[Int.random(in: 0..<end, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            let source = try? ImageSource(
                EncodedBytes(bytes), codecs: builtInCodecs, limits: limits)
            guard let source else { continue }
            let image = try? source.image(DecodeOptions(maximumSide: 8))
            if let image { #expect(image.size.largestSide <= 8) }
            guard var frames = try? source.frames(DecodeOptions(maximumSide: 8)) else {
                continue
            }
            while let frame = try? frames.next() { #expect(frame.image.size.width <= 8) }
        }
    }
}
#endif

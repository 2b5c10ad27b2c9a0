// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
@testable import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite("GIF") struct GIFTests {
    /// Files in which Pillow draws something where browsers draw nothing.
    ///
    /// Pillow shows the background colour on an empty canvas and for cleared frames, and the first
    /// colour for missing pixels; browsers show transparency. For these files only opaque pixels
    /// are compared.
    static let otherwiseEmpty: Set<String> = [
        "image-inside-bg.gif", "image-outside-bg.gif", "image-overlap-bg.gif",
        "images-combine.gif", "high-color.gif", "border_touching_layers.gif",
        "dispose-restore-background.gif", "missing-pixels.gif",
    ]

    static var files: [URL] {
        SampleFiles.own("gif", "valid")
            + SampleFiles.real(extensions: ["gif"]).filter {
                !isHostile($0)
                    // Nearly the files of pygif's suite; each starts a process of its own.
                    && (TestBuild.isOptimized || !$0.path.contains("gif-test-suite"))
            }
    }

    /// Malicious files; the peer takes up to a minute for one of them.
    static func isHostile(_ file: URL) -> Bool {
        ["/bombs/", "/fail/", "decompression_bomb"].contains { file.path.contains($0) }
    }

    static var suites: [URL] {
        SampleFiles.real("pygif/test-suite", extensions: ["conf"])
    }

    static var asStored: DecodeOptions {
        var options = DecodeOptions()
        options.convertsToSRGB = false
        return options
    }

    private func open(_ file: URL) throws -> ImageSource {
        try ImageSource(try EncodedBytes(mapping: file.path), codecs: builtInCodecs)
    }

    @Test("the frames of pygif's suite match its descriptions", arguments: suites)
    func pygif(configuration: URL) throws {
        let suite = try GIFSuiteFile(configuration)
        // A file without any image is rejected, although the suite expects an empty canvas.
        guard !suite.frames.isEmpty, suite.name != "no-data.gif" else {
            if suite.name == "plain-text.gif" { return }
            #expect(throws: CodecError.self) { _ = try open(suite.file).image() }
            return
        }
        let source = try open(suite.file)
        #expect(source.header.storedSize == suite.size)
        if suite.isTimed, suite.frames.count > 1 {
            #expect(source.header.loopCount == suite.loopCount)
        }
        var frames = try source.frames(Self.asStored)
        var shown: [ImageFrame] = []
        while let frame = try frames.next() { shown.append(frame) }
        if shown.count > suite.frames.count {
            // The suite counts only frames with a duration.
            let last = shown.removeLast()
            shown = shown.filter { $0.duration > .zero } + [last]
        }
        #expect(shown.count == suite.frames.count)
        for (frame, (index, expected)) in zip(shown, suite.frames.enumerated()) {
            // The samples do not have all images.
            guard FileManager.default.fileExists(atPath: expected.pixels.path) else { continue }
            let image = PixelBuffer(
                packed: try Array(Data(contentsOf: expected.pixels)), suite.size, .rgba8)
            let comparison = PixelComparison(frame.image.asRGBA, image)
            #expect(comparison.maximumDifference == 0, "frame \(index): \(comparison)")
            if let delay = expected.delay {
                #expect(frame.duration == .milliseconds(delay * 10))
            }
        }
    }

    @Test(
        "frames are equal to those of an independent decoder",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: files)
    func pillow(file: URL) throws {
        guard let peers = try PeerTool.frames(of: file, atMost: TestBuild.isOptimized ? 40 : 4)
        else {
            // A file that the peer rejects may be decoded here, but must do no harm.
            _ = try? open(file).image()
            return
        }
        let source = try open(file)
        guard TestBuild.isOptimized || source.header.storedSize.area < 60_000 else { return }
        #expect(source.header.frameCount >= peers.count)
        var frames = try source.frames(Self.asStored)
        for (index, peer) in peers.enumerated() {
            let frame = try #require(try frames.next())
            let isPartial = Self.otherwiseEmpty.contains(file.lastPathComponent)
            let image = frame.image.asRGBA
            let expected = isPartial ? peer.image.cleared(where: image) : peer.image
            let comparison = PixelComparison(image, expected)
            #expect(comparison.maximumDifference == 0, "frame \(index): \(comparison)")
            if index == 0 {
                let first = PixelComparison(try source.image(Self.asStored).asRGBA, image)
                #expect(first.maximumDifference == 0, "picture: \(first)")
            }
        }
    }

    @Test("broken files are rejected", arguments: SampleFiles.own("gif", "invalid"))
    func broken(file: URL) {
        #expect(throws: CodecError.self) { _ = try open(file).image() }
    }

    @Test(
        "malicious files end in an image or an error",
        arguments: SampleFiles.real(extensions: ["gif"]).filter(isHostile))
    func hostile(file: URL) throws {
        let image = try? open(file).image(DecodeOptions(maximumSide: 8))
        #expect(image == nil || (image?.size.largestSide ?? 0) <= 8)
        if var frames = try? open(file).frames(DecodeOptions(maximumSide: 8)) {
            for _ in 0..<20 { if (try? frames.next()) == nil { break } }
        }
    }

    @Test("up to 256 colours are exact, more are approximated", arguments: [2, 3, 200, 256])
    func palette(count: Int) throws {
        let size = PixelSize(width: 60, height: 41)
        let few = TestImage.make(size, .rgb8) { x, y, channel in
            UInt8(truncatingIfNeeded: (x * 7 + y * 61) % count * (channel * 2 + 1))
        }
        let file = try ImageDestination(format: "gif", codecs: builtInCodecs).encode(few)
        let again = try ImageSource(EncodedBytes(file), codecs: builtInCodecs).image()
        #expect(PixelComparison(again.asRGBA, few.asRGBA).maximumDifference == 0)
    }

    @Test("dithering keeps the mean colour of images with more than 256 colours")
    func dithering() throws {
        let image = TestImage.photograph(PixelSize(width: 300, height: 200))
        let file = try ImageDestination(format: "gif", codecs: builtInCodecs).encode(image)
        let again = try ImageSource(EncodedBytes(file), codecs: builtInCodecs).image()
        let size = PixelSize(width: 30, height: 20)
        let comparison = PixelComparison(
            again.converted(to: .rgb8).resampled(to: size), image.resampled(to: size))
        #expect(comparison.meanDifference < 1.5, "\(comparison)")
        #expect(PixelComparison(again, image).meanDifference < 9)
    }

    @Test("alpha becomes fully transparent or fully opaque")
    func alpha() throws {
        let size = PixelSize(width: 50, height: 30)
        let image = TestImage.make(size, .rgba8) { x, y, channel in
            channel == 3 ? UInt8(x * 5) : UInt8((x / 8 + y / 8) % 4 * 80)
        }
        let file = try ImageDestination(format: "gif", codecs: builtInCodecs).encode(image)
        let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
        #expect(source.header.hasAlpha)
        let again = try source.image()
        for y in 0..<size.height {
            for x in 0..<size.width {
                #expect(again.row(y)[x * 4 + 3] == (x * 5 >= 128 ? 255 : 0))
            }
        }
    }

    @Test("an animation survives a round trip", arguments: [0, 1, 5])
    func animation(loopCount: Int) throws {
        let size = PixelSize(width: 40, height: 30)
        // A square that moves over an image, then over nothing, and equal frames.
        let images = [0, 1, 2, 2, 10, 11, 3].map { index in
            TestImage.make(size, .rgba8) { x, y, channel in
                let isSquare = (index * 3..<index * 3 + 8).contains(x) && (9..<20).contains(y)
                if isSquare { return channel == 0 || channel == 3 ? 255 : 0 }
                if index >= 10 { return 0 }
                return channel == 3 ? 255 : UInt8((x / 4 + y / 5) * 9)
            }
        }
        var options = EncodeOptions()
        options.metadata.xmp = Array("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".utf8)
        var writer = try ImageDestination(
            format: "gif", codecs: builtInCodecs, options: options
        ).animationWriter(size, loopCount: loopCount)
        for (index, image) in images.enumerated() {
            try writer.append(image, duration: .milliseconds(index * 25))
        }
        let file = try writer.finish()
        let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
        #expect(source.header.frameCount == images.count)
        #expect(source.header.loopCount == loopCount)
        #expect(try source.metadata().xmp == options.metadata.xmp)
        var frames = try source.frames()
        var total = Duration.zero
        for (index, image) in images.enumerated() {
            let frame = try #require(try frames.next())
            total += frame.duration
            let comparison = PixelComparison(frame.image.asRGBA, image)
            #expect(comparison.maximumDifference == 0, "\(index): \(comparison)")
        }
        #expect(try frames.next() == nil)
        // Times are rounded to hundredths, without accumulating errors.
        #expect(abs(total / .milliseconds(1) - 525) <= 10)
    }

    #if WebP
    private static let maximumLoopCounts = [("gif", 65_536), ("webp", 65_535)]
    #else
    private static let maximumLoopCounts = [("gif", 65_536)]
    #endif

    @Test(
        "a loop count above the maximum of a format becomes the maximum",
        arguments: maximumLoopCounts)
    func largeLoopCount(format: String, maximum: Int) throws {
        let size = PixelSize(width: 2, height: 2)
        let destination = try ImageDestination(format: format, codecs: builtInCodecs)
        for loopCount in [maximum, maximum + 1, 1 << 32] {
            var writer = try destination.animationWriter(size, loopCount: loopCount)
            for seed in 0..<2 {
                let image = TestImage.photograph(size, .rgb8, seed: UInt64(seed))
                try writer.append(image, duration: .milliseconds(100))
            }
            let source = try ImageSource(EncodedBytes(writer.finish()), codecs: builtInCodecs)
            #expect(source.header.loopCount == maximum)
        }
        #expect(throws: CodecError.self) {
            try destination.animationWriter(size, loopCount: .min)
        }
    }

    @Test("a frame is cleared only if the next one reveals something", arguments: [4, 12])
    func disposal(secondEnd: Int) throws {
        let size = PixelSize(width: 16, height: 8)
        // A bar on an empty canvas, which grows to the right or shrinks.
        let frames = [8, secondEnd].map { end in
            TestImage.make(size, .rgba8) { x, _, channel in
                (0..<end).contains(x) ? (channel == 1 ? 0 : 255) : 0
            }
        }
        var writer = try ImageDestination(format: "gif", codecs: builtInCodecs)
            .animationWriter(size, loopCount: 1)
        for frame in frames { try writer.append(frame, duration: .milliseconds(100)) }
        let file = try writer.finish()
        // The graphic control extension of the first frame; bits 2 to 4 are the disposal method.
        let start = try #require(file.indices.first { file[$0...].starts(with: [0x21, 0xF9, 4]) })
        #expect(file[start + 3] >> 2 & 7 == (secondEnd < 8 ? 2 : 1))
    }

    @Test("a frame outside of the canvas is not drawn")
    func beside() throws {
        // A canvas of 2 × 2, a red pixel on it, and one to the right of it and below.
        func image(_ x: UInt8, _ y: UInt8) -> [UInt8] {
            [0x2C, x, 0, y, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 0x01, 0]
        }
        let head = Array("GIF89a".utf8) + [2, 0, 2, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 255]
        let file = head + image(0, 0) + image(9, 0) + image(0, 9) + [0x3B]
        let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
        #expect(source.pixelSize == PixelSize(width: 2, height: 2))
        var frames = try source.frames()
        for _ in 0..<3 {
            let frame = try #require(try frames.next())
            #expect(frame.image.packedBytes == [255, 0, 0, 255] + [UInt8](repeating: 0, count: 12))
        }
        #expect(try frames.next() == nil)
    }

    @Test("large images are decoded row by row to the same pixels", arguments: files)
    func byRows(file: URL) throws {
        let bytes = try Array(Data(contentsOf: file))
        for side in [Int.max, 200, 30] {
            let results = [Int.max, 0].map { kept in
                Result { () throws(CodecError) in
                    try GIFDecoder(maximumKeptIndexCount: kept).decodedImage(
                        nested: bytes.span, DecodeOptions(maximumSide: side),
                        limits: DecodeLimits(), cancellation: nil)
                }
            }
            switch (results[0], results[1]) {
            case (.success(let expected), .success(let result)):
                #expect(expected.report.problem == result.report.problem)
                // The rest of a damaged image is transparent, or black if no index is transparent.
                if expected.report.problem == nil, !expected.image.format.hasAlpha {
                    #expect(
                        expected.image.converted(to: .rgba8).packedBytes
                            == result.image.converted(to: .rgba8).packedBytes)
                }
            case (.failure, .failure): break
            default: Issue.record("\(results)")
            }
        }
    }

    @Test("a truncated file ends in its available part or an error", arguments: files)
    func cut(file: URL) throws {
        let whole = try Array(Data(contentsOf: file))
        // The second frame of one file is damaged.
        guard whole.count < (TestBuild.isOptimized ? 10_000 : 1_000),
            file.lastPathComponent != "invalid_multiframe.gif",
            (try? open(file).image()) != nil
        else { return }
        let options = DecodeOptions(maximumSide: 16)
        for length in stride(from: 0, to: whole.count, by: max(1, whole.count / 60)) {
            do throws(CodecError) {
                let source = try ImageSource(
                    EncodedBytes(Array(whole[..<length])), codecs: builtInCodecs)
                #expect(source.header.endsEarly)
                _ = try source.image(options)
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
        guard whole.count < (TestBuild.isOptimized ? 10_000 : 1_000) else { return }
        var random = SeededRandom(seed: UInt64(whole.count))
        var limits = DecodeLimits()
        limits.maximumPixelCount = 100_000
        for _ in 0..<40 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let end = Bool.random(using: &random) ? min(80, bytes.count) : bytes.count
                bytes[Int.random(in: 0..<end, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            guard
                let source = try? ImageSource(
                    EncodedBytes(bytes), codecs: builtInCodecs, limits: limits)
            else { continue }
            let image = try? source.image(DecodeOptions(maximumSide: 8))
            if let image { #expect(image.size.largestSide <= 8) }
            guard var frames = try? source.frames(DecodeOptions(maximumSide: 8)) else { continue }
            for _ in 0..<10 { if (try? frames.next()) == nil { break } }
        }
    }
}

extension PixelBuffer {
    /// Returns the image, transparent wherever another one is.
    fileprivate func cleared(where other: PixelBuffer) -> PixelBuffer {
        guard size == other.size else { return self }
        var bytes = packedBytes
        let mask = other.packedBytes
        for place in stride(from: 0, to: bytes.count, by: 4) where mask[place + 3] == 0 {
            for channel in place..<place + 4 { bytes[channel] = 0 }
        }
        return PixelBuffer(packed: bytes, size, .rgba8)
    }
}

/// A description in pygif's suite: the expected frames, in lines of `name = value`.
private struct GIFSuiteFile {
    struct Frame {
        var pixels: URL
        var delay: Int?
    }

    let name: String
    let file: URL
    let size: PixelSize
    let loopCount: Int
    /// Whether the description specifies an animation.
    let isTimed: Bool
    private(set) var frames: [Frame] = []

    init(_ configuration: URL) throws {
        var sections: [String: [String: String]] = [:]
        var section = ""
        for line in try String(contentsOf: configuration, encoding: .utf8).split(separator: "\n") {
            if line.hasPrefix("[") {
                section = String(line.dropFirst().dropLast())
            } else if let equals = line.firstIndex(of: "="), !line.hasPrefix("#") {
                let key = line[..<equals].trimmingCharacters(in: .whitespaces)
                let value = line[line.index(after: equals)...]
                    .trimmingCharacters(in: .whitespaces)
                sections[section, default: [:]][key] = value
            }
        }
        let config = sections["config"] ?? [:]
        let folder = configuration.deletingLastPathComponent()
        name = config["input"] ?? ""
        file = folder.appending(path: name)
        size = PixelSize(
            width: Int(config["width"] ?? "") ?? 0, height: Int(config["height"] ?? "") ?? 0)
        let repeats = config["loop-count"] ?? "0"
        loopCount = repeats == "infinite" ? 0 : (Int(repeats) ?? 0) + 1
        isTimed = config["force-animation"] != "yes"
        for name in (config["frames"] ?? "").split(separator: ",") {
            let frame = sections[String(name)] ?? [:]
            frames.append(
                Frame(
                    pixels: folder.appending(path: frame["pixels"] ?? ""),
                    delay: frame["delay"].flatMap { Int($0) }))
        }
    }
}

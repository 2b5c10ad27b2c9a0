// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import LoadingTesting
import LoadScheduling
import Pixels
import Testing

@testable import ImageLoading

@Suite("A rendition of an animation", .timeLimit(.minutes(5))) struct AnimatedRenditionTests {
    /// What the fake format writes of frames of that width whose greys are their numbers.
    private func file(_ frameCount: Int, loopCount: Int = 1, width: Int = 16) -> [UInt8] {
        [UInt8(loopCount)]
            + (0..<frameCount).flatMap { [UInt8(width), UInt8($0), UInt8($0)] }
    }

    private let still: [UInt8] = [255, 16, 0, 0]

    @Test("has all frames once, their durations and the loops", arguments: [0, 1, 3])
    func whole(loopCount: Int) async throws {
        let harness = AnimationHarness(FakeAnimation(5, loopCount: loopCount))
        let rendition = try await harness.rendition()
        #expect(rendition.bytes == file(5, loopCount: loopCount))
        #expect(rendition.mediaType == "image/x-moving")
        #expect(rendition.pixelSize == FakeAnimation.size)
        #expect(harness.codec.decodes == [0, 1, 2, 3, 4])
        await eventually { harness.pipeline.resources.playing.count == 0 }
    }

    @Test("is its first frame unless an animation is requested and the format supports it")
    func first() async throws {
        let harness = AnimationHarness(FakeAnimation(5))
        #expect(try await harness.rendition(animationFormat: nil).bytes == still)
        #expect(try await harness.rendition(animationFormat: "fake").bytes == still)
        #expect(try await harness.rendition(animationFormat: "unheard-of").bytes == still)
        #expect(harness.codec.decodes == [], "no frames are read")
    }

    @Test("of a still image is a still image") func image() async throws {
        let harness = AnimationHarness(FakeAnimation(1, loopCount: 0))
        #expect(try await harness.rendition().bytes == still)
    }

    @Test("has every frame resized and processed") func processed() async throws {
        let harness = AnimationHarness(FakeAnimation(3))
        let processor = CountingProcessor(3)
        let rendition = try await harness.rendition { request in
            request.options = DecodeOptions(maximumSide: 8)
            request.processors = [processor]
        }
        #expect(rendition.bytes == [1, 8, 3, 0, 8, 7, 1, 8, 11, 2])
        #expect(rendition.pixelSize == PixelSize(width: 8, height: 4))
    }

    @Test("is one shared load, separate from that of the first frame")
    func shared() async throws {
        let folder = try TestFolder()
        let store = try folder.store()
        let harness = AnimationHarness(FakeAnimation(3, isGated: true)) { $0.store = store }
        let tasks = (0..<4).map { _ in Task { try await harness.rendition().bytes } }
        harness.codec.openGate(3)
        for task in tasks { #expect(try await task.value == file(3)) }
        #expect(try await harness.rendition(animationFormat: nil).bytes == still)
        #expect(try await harness.rendition().bytes == file(3))
        #expect(harness.codec.decodes == [0, 1, 2])
    }

    @Test("is cancelled between two frames when the last consumer leaves") func cancelled()
        async throws
    {
        let harness = AnimationHarness(FakeAnimation(50, isGated: true))
        let task = Task { try await harness.rendition { $0.memoryUse = [] } }
        harness.codec.openGate(2)
        await eventually { harness.codec.decodes == [0, 1, 2] }
        task.cancel()
        await #expect(throws: LoadError.cancelled) { try await task.value }
        harness.codec.openGate(50)
        await harness.over()
        await harness.pipeline.close()
        #expect(harness.codec.decodes == [0, 1, 2])
        #expect(harness.pipeline.renditions.loadCount == 0)
    }

    @Test("is its first frame if another frame is damaged, and does not block other renditions")
    func damaged() async throws {
        let harness = AnimationHarness(FakeAnimation(5, damagedFrame: 3))
        for _ in 0..<3 { #expect(try await harness.rendition().bytes == still) }
        #expect(harness.codec.decodes.prefix(4) == [0, 1, 2, 3])
        await eventually { harness.pipeline.resources.playing.count == 0 }
    }

    @Test("of more pixels than the limit is its first frame", arguments: [0, 1])
    func tooLarge(missing: Int) async throws {
        let count = FakeAnimation.size.area * 5 - missing
        let harness = AnimationHarness(FakeAnimation(5)) {
            $0.animatedRenditionPixelCount = count
        }
        #expect(try await harness.rendition().bytes == (missing == 0 ? file(5) : still))
        let enlarged = try await harness.rendition { request in
            request.options = DecodeOptions(maximumSide: 17)
            request.options.allowsEnlarging = true
        }
        #expect(enlarged.bytes == [255, 17, 0, 0], "what is written counts, too")
    }

    @Test("beyond the decode limits is rejected by its header") func limits() async throws {
        let harness = AnimationHarness(FakeAnimation(5)) {
            $0.limits.maximumAnimationPixelCount = FakeAnimation.size.area * 5 - 1
        }
        let refusal = LoadError.decodingFailed(
            path: "a",
            .limitExceeded(
                .animationPixelCount, needed: FakeAnimation.size.area * 5,
                allowed: FakeAnimation.size.area * 5 - 1))
        await #expect(throws: refusal) { try await harness.rendition() }
        await #expect(throws: refusal) { try await harness.rendition(animationFormat: nil) }
        #expect(harness.codec.decodes == [])
    }

    @Test("needs no more memory than its canvas and a frame, or is its first frame")
    func memory() async throws {
        let base = AnimationHarness.baseByteCount
        let harness = AnimationHarness(FakeAnimation(50), byteLimit: base)
        #expect(try await harness.rendition { $0.memoryUse = [] }.bytes == file(50))
        let poor = AnimationHarness(FakeAnimation(50), byteLimit: base - 1)
        #expect(try await poor.rendition { $0.memoryUse = [] }.bytes == still)
        #expect(poor.codec.decodes == [])
    }

    @Test("waits while as many are made as there are decode threads") func many() async throws {
        let harness = AnimationHarness(FakeAnimation(3, isGated: true))
        let sources = (0..<5).map { number in
            ImageRequest.Source.bytes(EncodedBytes(Array("MOVE".utf8)), name: "\(number)")
        }
        // The first frames, for which the gate leaves no thread later.
        for source in sources {
            _ = try await harness.rendition(animationFormat: nil) { $0.source = source }
        }
        let tasks = sources.map { source in
            Task { try await harness.rendition { $0.source = source }.bytes }
        }
        await eventually { harness.pipeline.renditions.waitingAnimationCount == 4 }
        harness.codec.openGate(15)
        for task in tasks { #expect(try await task.value == file(3)) }
        #expect(harness.codec.decodes.count == 15)
    }

    @Test(
        "has the frames that Pillow makes of its original",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: ["gif", "webp"], ["gif", "webp"])
    func peers(from: String, to format: String) async throws {
        let file = try #require(
            SampleFiles.own(from, "valid").first {
                $0.lastPathComponent == "animation.\(from)"
            })
        let pipeline = ImagePipeline(
            codecs: builtInCodecs, configuration: .init(), logger: .silent)
        var options = EncodeOptions()
        options.isLossless = true
        let rendition = try await pipeline.rendition(
            for: RenditionRequest(
                image: ImageRequest(path: file.path, options: DecodeOptions(maximumSide: 20)),
                animationFormat: format, encodeOptions: options))
        let folder = try TestFolder()
        let output = folder.url.appending(path: "rendition.\(format)")
        try Data(rendition.bytes).write(to: output)
        let frames = try #require(try PeerTool.frames(of: output, atMost: 20))
        let expected = try #require(
            try PeerTool.frames(of: file, atMost: 20, resizedTo: rendition.pixelSize))
        #expect(frames.count == 5)
        #expect(frames.map(\.milliseconds) == expected.map(\.milliseconds))
        // WebP says how often it is shown, GIF how often it is repeated.
        #expect(frames.map(\.loop) == Array(repeating: format == "gif" ? 2 : 3, count: 5))
        for (frame, peer) in zip(frames, expected) {
            let comparison = PixelComparison(
                frame.image, format == "gif" ? peer.image.cutOut : peer.image)
            #expect(comparison.meanDifference < 2, "\(comparison)")
            if format == "webp" {
                #expect(comparison.maximumDifference <= 2, "\(comparison)")
            }
        }
    }
}

extension PixelBuffer {
    /// The image as a format has it whose pixels are transparent or not.
    fileprivate var cutOut: PixelBuffer {
        var bytes = packedBytes
        for pixel in stride(from: 0, to: bytes.count, by: 4) {
            let alpha = bytes[pixel + 3]
            for channel in pixel..<pixel + 4 {
                bytes[channel] =
                    alpha < 128 ? 0 : PremultipliedAlpha.divided(bytes[channel], by: alpha)
            }
        }
        return PixelBuffer(packed: bytes, size, format)
    }
}

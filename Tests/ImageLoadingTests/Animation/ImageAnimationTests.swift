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

@Suite("An animation", .timeLimit(.minutes(5))) struct ImageAnimationTests {
    private func greys(_ animation: ImageAnimation, atMost count: Int = 100) async throws -> [Int] {
        var greys: [Int] = []
        for try await frame in animation {
            #expect(frame.index == frame.grey)
            #expect(frame.duration == .milliseconds(10 * frame.index))
            greys.append(frame.grey)
            if greys.count == count { break }
        }
        return greys
    }

    @Test("repeats as its file specifies", arguments: [0, 1, 2, 5])
    func order(countAhead: Int) async throws {
        let once = AnimationHarness(FakeAnimation(3))
        #expect(try await greys(once.animation(countAhead: countAhead)) == [0, 1, 2])
        let twice = AnimationHarness(FakeAnimation(3, loopCount: 2))
        #expect(try await greys(twice.animation(countAhead: countAhead)) == [0, 1, 2, 0, 1, 2])
        let forEver = AnimationHarness(FakeAnimation(2, loopCount: 0))
        let animation = try await forEver.animation(countAhead: countAhead)
        #expect(animation.frameCount == 2)
        #expect(animation.loopCount == 0)
        #expect(try await greys(animation, atMost: 7) == [0, 1, 0, 1, 0, 1, 0])
        #expect(try await greys(animation, atMost: 3) == [0, 1, 0], "again, from the start")
        for harness in [once, twice, forEver] { await harness.over() }
    }

    @Test("that is a still image has one frame, even if it repeats forever")
    func still() async throws {
        let harness = AnimationHarness(FakeAnimation(1, loopCount: 0))
        #expect(try await greys(harness.animation()) == [0])
        await harness.over()
    }

    @Test("reports its end or error once, and no frame afterwards")
    func end() async throws {
        let harness = AnimationHarness(FakeAnimation(3, damagedFrame: 2))
        var frames = try await harness.animation().makeAsyncIterator()
        #expect(try await frames.next()?.grey == 0)
        #expect(try await frames.next()?.grey == 1)
        let damage = LoadError.decodingFailed(
            path: "a", .malformed(reason: "damage", offset: 7))
        await #expect(throws: damage) { try await frames.next() }
        #expect(try await frames.next() == nil)
        #expect(try await frames.next() == nil)
        #expect(harness.codec.decodes == [0, 1, 2])
    }

    @Test("that does not exist, or is not an image, fails before any frame")
    func missing() async throws {
        let harness = AnimationHarness(FakeAnimation(3))
        await #expect(throws: LoadError.notFound(path: "/nowhere")) {
            try await harness.pipeline.animation(for: ImageRequest(path: "/nowhere"))
        }
        let request = ImageRequest(.bytes(EncodedBytes(Array("text".utf8)), name: "b"))
        await #expect(throws: LoadError.decodingFailed(path: "b", .unknownFormat)) {
            try await harness.pipeline.animation(for: request)
        }
    }

    @Test("has frames of the requested size, processed")
    func sizes() async throws {
        let harness = AnimationHarness(FakeAnimation(3))
        let processor = CountingProcessor(3)
        let animation = try await harness.animation { request in
            request.options = DecodeOptions(maximumSide: 8)
            request.processors = [processor]
        }
        #expect(animation.pixelSize == PixelSize(width: 8, height: 4))
        var trails: [UInt8] = []
        for try await frame in animation {
            #expect(frame.image.size == animation.pixelSize)
            trails.append(frame.image.trail)
        }
        #expect(trails == [3, 7, 11])
        #expect(processor.applicationCount == 3)
    }

    @Test("decodes at most the allowed number of frames ahead")
    func bounded() async throws {
        let harness = AnimationHarness(FakeAnimation(50))
        var frames = try await harness.animation(countAhead: 3).makeAsyncIterator()
        #expect(harness.codec.decodes.isEmpty, "nothing before a frame is asked for")
        for shown in 0..<5 {
            #expect(try await frames.next()?.grey == shown)
            await harness.ahead(3)
            #expect(harness.codec.decodes == Array(0...shown + 3))
        }
    }

    @Test("is not decoded after its consumer has left")
    func abandoned() async throws {
        let harness = AnimationHarness(FakeAnimation(50, isGated: true))
        harness.codec.openGate()
        do {
            var frames = try await harness.animation().makeAsyncIterator()
            #expect(try await frames.next()?.grey == 0)
            await eventually { harness.codec.decodes == [0, 1] }
        }
        harness.codec.openGate(10)
        await harness.over()
        await eventually { harness.pipeline.queues.decodes.busyCount == 0 }
        #expect(harness.codec.decodes == [0, 1])
        #expect(harness.pipeline.queues.decodes.waitingCount == 0)
    }

    @Test("ends with the task that plays it, also while the task waits for a frame")
    func cancelled() async throws {
        let harness = AnimationHarness(FakeAnimation(50, isGated: true))
        let animation = try await harness.animation()
        let task = Task {
            var frames = animation.makeAsyncIterator()
            return try await frames.next()?.grey
        }
        await eventually { harness.codec.decodes == [0] }
        task.cancel()
        await #expect(throws: LoadError.cancelled) { try await task.value }
        harness.codec.openGate(10)
        await harness.over()
        #expect(harness.codec.decodes == [0])
    }

    @Test("a decode that runs is cancelled when playing stops") func stopped() async throws {
        let animation = try await AnimationHarness(FakeAnimation(5)).animation()
        let ahead = FrameLookAhead(animation)
        #expect(!ahead.cancellation.isCancelled)
        ahead.stop()
        #expect(ahead.cancellation.isCancelled)
    }

    @Test("ends when its pipeline is closed") func closed() async throws {
        let harness = AnimationHarness(FakeAnimation(50))
        var frames = try await harness.animation(countAhead: 0).makeAsyncIterator()
        #expect(try await frames.next()?.grey == 0)
        await harness.pipeline.close()
        await #expect(throws: LoadError.cancelled) { try await frames.next() }
        #expect(try await frames.next() == nil)
    }

    @Test(
        "has the same frames as another decoder",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: SampleFiles.own("gif", "valid").filter {
            $0.lastPathComponent == "animation.gif"
        })
    func peers(file: URL) async throws {
        let peers = try #require(try PeerTool.frames(of: file, atMost: 20))
        #expect(peers.count > 1)
        let pipeline = ImagePipeline(
            codecs: builtInCodecs, configuration: .init(), logger: .silent)
        var request = ImageRequest(path: file.path)
        request.options.convertsToSRGB = false
        var frames = try await pipeline.animation(for: request).makeAsyncIterator()
        for (index, peer) in peers.enumerated() {
            let frame = try #require(try await frames.next())
            #expect(frame.index == index)
            #expect(frame.duration == .milliseconds(peer.milliseconds))
            let comparison = PixelComparison(frame.image, peer.image)
            #expect(comparison.maximumDifference == 0, "frame \(index): \(comparison)")
        }
    }

    @Test(
        "has the same frames as a sequential decode, also after frames were released",
        arguments: SampleFiles.own("gif", "valid"))
    func samePixels(file: URL) async throws {
        let source = try ImageSource(
            EncodedBytes(reading: file.path), codecs: builtInCodecs)
        let options = DecodeOptions(maximumSide: 9)
        var expected: [PixelBuffer] = []
        var plain = try source.frames(options)
        while let frame = try plain.next() { expected.append(frame.image) }
        let pipeline = ImagePipeline(
            codecs: builtInCodecs, configuration: .init(), logger: .silent)
        var frames = try await pipeline.animation(
            for: ImageRequest(path: file.path, options: options)
        ).makeAsyncIterator()
        for image in expected {
            let frame = try #require(try await frames.next())
            #expect(PixelComparison(frame.image, image).maximumDifference == 0)
            pipeline.enterBackground()
        }
    }
}

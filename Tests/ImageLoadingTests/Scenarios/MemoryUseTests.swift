// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageTesting
import LoadingTesting
import LoadScheduling
import Pixels
import Testing

@testable import ImageLoading

@Suite("The pipeline's memory", .timeLimit(.minutes(5))) struct MemoryUseTests {
    private func options(_ side: Int) -> DecodeOptions { DecodeOptions(maximumSide: side) }

    @Test(
        "X1: shows a smaller image until a larger one is loaded, and resamples smaller ones from it"
    )
    func otherSizes() async throws {
        let harness = PipelineHarness()
        let small = harness.ask(harness.request([], options(10)))
        await harness.deliver(PipelineHarness.file(grey: 9, side: 40))
        #expect(try await small.value == 9)
        // A larger one begins with the smaller as its placeholder.
        let large = harness.request([], options(20))
        var events = harness.pipeline.updates(for: large).makeAsyncIterator()
        guard case .placeholder(let placeholder)? = try await events.next()?.kind else {
            Issue.record("no placeholder")
            return
        }
        #expect(placeholder.image.size == PixelSize(width: 10, height: 10))
        await harness.deliver(PipelineHarness.file(grey: 9, side: 40), start: 2)
        while try await events.next() != nil {}
        // One between them is made from the larger without bytes or a decode.
        let middle = try await harness.pipeline.image(for: harness.request([], options(15)))
        #expect(middle.image.size == PixelSize(width: 15, height: 15))
        #expect(middle.image.trail == 9)
        #expect(harness.loader.startCount == 2)
        #expect(harness.codec.decodes.count == 2)
        // A view that scales what it draws uses the larger one unchanged.
        var any = harness.request([], options(17))
        any.precision = .atLeast
        let taken = try await harness.pipeline.image(for: any)
        #expect(taken.image.size == PixelSize(width: 20, height: 20))
    }

    @Test("X3: lets a decode wait until it fits into the shared budget")
    func budget() async throws {
        // Room for one image of 40 rows of 64 bytes and a half.
        let budget = MemoryBudget(byteLimit: 40 * 64 * 3 / 2)
        let harness = PipelineHarness(isGated: true) {
            $0.decodeThreadCount = 2
            $0.memoryBudget = budget
        }
        let first = harness.ask(harness.request(name: "a"))
        await harness.deliver(PipelineHarness.file(grey: 1, side: 40))
        #expect(await harness.codec.nextEvent() == .began(1))
        let second = harness.ask(harness.request(name: "b"))
        await harness.deliver(PipelineHarness.file(grey: 2, side: 40), start: 2)
        await eventually { budget.waitingCount == 1 }
        #expect(harness.codec.decodes == [1])
        harness.codec.openGate(2)
        // The first is kept in memory until the second needs its room.
        #expect(try await first.value == 1)
        #expect(try await second.value == 2)
        await eventually { budget.byteCount == 40 * 64 }
        // It is found while any object holds it, and the load that made it may still do so.
        let request = harness.request(name: "a")
        let key = ImageKey(request, of: try #require(request.knownOriginal))
        await eventually { !harness.pipeline.memory.contains(key) }
    }

    @Test("X3: makes an image smaller that could never fit, if the request accepts it")
    func smaller() async throws {
        let budget = MemoryBudget(byteLimit: 20 * 64)
        let harness = PipelineHarness { $0.memoryBudget = budget }
        var request = harness.request()
        let refused = harness.ask(request)
        await harness.deliver(PipelineHarness.file(grey: 1, side: 40))
        await #expect(throws: LoadError.memoryBudgetExceeded(needed: 2560, allowed: 1280)) {
            try await refused.value
        }
        request.acceptsSmaller = true
        let pipeline = harness.pipeline
        let accepted = Task { [request] in try await pipeline.image(for: request).image.size }
        await harness.deliver(PipelineHarness.file(grey: 1, side: 40), start: 2)
        #expect(try await accepted.value == PixelSize(width: 20, height: 20))
    }

    @Test("X4: serves from memory while all threads that decode or read are blocked")
    func blocked() async throws {
        let harness = PipelineHarness(isGated: true)
        let folder = try TestFolder()
        let path = try folder.write("a.fake", grey: 7)
        let file = ImageRequest(path: path)
        harness.codec.openGate(1)
        let pipeline = harness.pipeline
        let shown = try await pipeline.image(for: file)
        // From here on nothing is read, looked up or decoded.
        pipeline.queues.loads.isSuspended = true
        pipeline.queues.lookups.isSuspended = true
        let stuck = Task { try await pipeline.image(path) }
        let decoding = harness.ask(harness.request(name: "b"))
        await harness.loader.started(1)
        #expect(pipeline.cachedImage(for: file) === shown)
        let named = harness.request(name: "c")
        pipeline.memory.insert(
            LoadedImage(
                TestImage.flat(PixelSize(width: 4, height: 4), .gray8, [5]),
                key: harness.key(named), originalSize: PixelSize(width: 4, height: 4)))
        let answered = try await pipeline.image(for: named)
        #expect(answered.image.trail == 5)
        stuck.cancel()
        decoding.cancel()
        await #expect(throws: LoadError.cancelled) { _ = try await stuck.value }
        await #expect(throws: LoadError.cancelled) { try await decoding.value }
        pipeline.queues.loads.isSuspended = false
        pipeline.queues.lookups.isSuspended = false
        await pipeline.close()
    }

    @Test("shows no image of a file that was written again, once it is removed from memory")
    func removedFromMemory() async throws {
        let harness = PipelineHarness(isGated: true)
        let folder = try TestFolder()
        let path = try folder.write("a.fake", grey: 7)
        let file = ImageRequest(path: path)
        harness.codec.openGate(2)
        let shown = try await harness.pipeline.image(for: file)
        _ = try folder.write("a.fake", grey: 8)
        harness.pipeline.removeFromMemory(path)
        #expect(harness.pipeline.cachedImage(for: file) == nil)
        #expect(harness.pipeline.placeholder(for: file) == nil)
        let newer = try await harness.pipeline.image(for: file)
        #expect(shown.image.trail == 7)
        #expect(newer.image.trail == 8)
        #expect(harness.pipeline.cachedImage(for: file) === newer)
        await harness.pipeline.close()
    }

    @Test("S19: finds an evicted image that a consumer still holds")
    func heldImage() async throws {
        let harness = PipelineHarness()
        let asked = Task { [pipeline = harness.pipeline, request = harness.request()] in
            try await pipeline.image(for: request)
        }
        await harness.deliver()
        let shown = try await asked.value
        harness.pipeline.respond(to: .critical)
        #expect(harness.pipeline.memory.byteCount == 0)
        #expect(harness.pipeline.cachedImage(for: harness.request()) === shown)
        #expect(harness.codec.decodes.count == 1)
    }

    @Test("reports the steps of a load")
    func story() async throws {
        let harness = PipelineHarness()
        let processor = CountingProcessor(1)
        let stories = [LoadMetrics(), LoadMetrics()]
        let pipeline = harness.pipeline
        let request = harness.request([processor])
        let task = Task { try await pipeline.image(for: request, story: stories[0]) }
        await harness.deliver()
        _ = try await task.value
        let steps = stories[0].steps
        #expect(steps.map(\.stage) == [.load, .decode, .process])
        #expect(steps.first?.detail == "25 bytes of a")
        #expect(steps.dropFirst().first?.detail == "4x4 of 4x4 by fake, shrunk to 1/1")
        _ = try await pipeline.image(for: request, story: stories[1])
        #expect(stories[1].steps == [LoadStep(.memory, "hit")])
    }
}

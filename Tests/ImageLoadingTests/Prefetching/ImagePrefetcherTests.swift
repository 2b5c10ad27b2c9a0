// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import HTTPCaching
import ImageTesting
import LoadingTesting
import LoadScheduling
import Pixels
import Testing

@testable import ImageLoading

@Suite("A prefetcher", .timeLimit(.minutes(5))) struct ImagePrefetcherTests {
    @Test("S25: starts no request twice and none in memory, and limits concurrent loads")
    func width() async throws {
        let harness = PrefetchHarness(isGated: true)
        harness.codec.openGate(1)
        _ = try await harness.pipeline.image(for: PrefetchHarness.request(9))
        #expect(harness.codec.decodes == [9])
        harness.prefetcher.start([9, 1, 2, 1, 3, 2, 4].map(PrefetchHarness.request))
        harness.prefetcher.start([4, 9].map(PrefetchHarness.request))
        await eventually { harness.codec.decodes.count == 3 }
        #expect(Set(harness.startedNames) == ["1", "2"])
        #expect(harness.pipeline.images.loadCount == 2)
        harness.codec.openGate(1)
        await eventually { harness.codec.decodes.count == 4 }
        #expect(harness.startedNames.last == "3")
        harness.codec.openGate(3)
        await harness.idle()
        #expect(harness.startedNames.sorted() == ["1", "2", "3", "4"])
        #expect(harness.codec.decodes.count == 5)
        #expect(harness.idleCount == 1)
        for grey: UInt8 in 1...4 {
            #expect(harness.pipeline.cachedImage(for: PrefetchHarness.request(grey)) != nil)
        }
    }

    @Test("S25: loads nothing that is started and stopped in one turn") @MainActor
    func stoppedInTurn() async {
        let harness = PrefetchHarness()
        harness.prefetcher.start([1, 2, 3].map(PrefetchHarness.request))
        harness.prefetcher.stop([1, 2, 3].map(PrefetchHarness.request))
        await harness.idle()
        #expect(harness.log.items == [.idle])
        #expect(harness.pipeline.queues.decodes.submittedCount == 0)
    }

    @Test(
        "S25: applies a changed priority to waiting loads, the reading of files included")
    func priority() async throws {
        let harness = PrefetchHarness()
        let folder = try TestFolder()
        let path = try folder.write("a.fake", grey: 5)
        harness.pipeline.queues.loads.isSuspended = true
        harness.prefetcher.isPaused = true
        harness.prefetcher.start([ImageRequest(path: path)])
        #expect(harness.prefetcher.priority == .prefetch)
        harness.prefetcher.priority = .visible
        harness.prefetcher.isPaused = false
        await eventually { harness.pipeline.queues.loads.waitingPriorities == [.visible] }
        // Work waits already when it begins to follow its urgency.
        harness.prefetcher.priority = .background
        await eventually { harness.pipeline.queues.loads.waitingPriorities == [.background] }
        harness.pipeline.queues.loads.isSuspended = false
        await harness.idle()
        #expect(harness.codec.decodes == [5])
    }

    @Test("S25: defers waiting loads while it is paused")
    func pausing() async {
        let harness = PrefetchHarness(isGated: true, width: 1)
        harness.prefetcher.start([1, 2].map(PrefetchHarness.request))
        await eventually { harness.codec.decodes == [1] }
        harness.prefetcher.isPaused = true
        harness.codec.openGate(1)
        await eventually { harness.log.items.contains(.finished("1", nil)) }
        harness.prefetcher.start([PrefetchHarness.request(3)])
        // Whatever a start leads to has been looked at when this has ended.
        harness.codec.openGate(1)
        _ = try? await harness.pipeline.image(for: PrefetchHarness.request(8))
        #expect(harness.startedNames == ["1"])
        harness.codec.openGate(2)
        harness.prefetcher.isPaused = false
        await harness.idle()
        #expect(harness.startedNames == ["1", "2", "3"])
        #expect(harness.idleCount == 1)
    }

    @Test("S25: shares its load with a visible request, which raises its priority")
    func joining() async throws {
        let harness = PrefetchHarness()
        harness.pipeline.queues.decodes.isSuspended = true
        let request = PrefetchHarness.request(1)
        harness.prefetcher.start([request])
        await eventually { harness.pipeline.queues.decodes.waitingPriorities == [.prefetch] }
        let task = Task { [pipeline = harness.pipeline] in
            try await pipeline.image(for: request).image.trail
        }
        await eventually { harness.pipeline.queues.decodes.waitingPriorities == [.visible] }
        // The view does not lose its image with the prefetcher.
        harness.prefetcher.stop([request])
        harness.pipeline.queues.decodes.isSuspended = false
        #expect(try await task.value == 1)
        #expect(harness.codec.decodes == [1])
    }

    @Test("yields to visible requests")
    func visibleFirst() async throws {
        let harness = PrefetchHarness { $0.decodeThreadCount = 1 }
        harness.pipeline.queues.decodes.isSuspended = true
        harness.prefetcher.start([1, 2].map(PrefetchHarness.request))
        await eventually { harness.pipeline.queues.decodes.waitingCount == 2 }
        let task = Task { [pipeline = harness.pipeline] in
            try await pipeline.image(for: PrefetchHarness.request(3)).image.trail
        }
        await eventually { harness.pipeline.queues.decodes.waitingCount == 3 }
        harness.pipeline.queues.decodes.isSuspended = false
        #expect(try await task.value == 3)
        await harness.idle()
        #expect(harness.codec.decodes.first == 3)
    }

    @Test("S25: cancels all loads when it is released")
    func destroyed() async {
        let codec = FakeCodec()
        let pipeline = ImagePipeline(codec) { $0.decodeThreadCount = 4 }
        var prefetcher: ImagePrefetcher? = ImagePrefetcher(pipeline: pipeline)
        weak let observed = prefetcher
        pipeline.queues.decodes.isSuspended = true
        prefetcher?.start([1, 2, 3].map(PrefetchHarness.request))
        await eventually { pipeline.queues.decodes.waitingCount == 2 }
        prefetcher = nil
        await eventually { pipeline.queues.decodes.waitingCount == 0 && observed == nil }
        await eventually { pipeline.images.loadCount == 0 }
        pipeline.queues.decodes.isSuspended = false
        await pipeline.close()
        #expect(codec.decodes == [])
    }

    @Test("S25: reports completion once, also when all images were in memory")
    func completion() async throws {
        let harness = PrefetchHarness()
        let requests = [1, 2].map(PrefetchHarness.request)
        for request in requests { _ = try await harness.pipeline.image(for: request) }
        harness.prefetcher.start(requests)
        await harness.idle()
        #expect(harness.log.items == [.idle])
        harness.prefetcher.start([PrefetchHarness.request(3)])
        await harness.idle(2)
        #expect(harness.log.items == [.idle, .started("3"), .finished("3", nil), .idle])
    }

    @Test("continues running loads when its list is replaced, and cancels the others")
    func replacing() async {
        let harness = PrefetchHarness(isGated: true)
        harness.prefetcher.replace(with: [1, 2, 3, 4].map(PrefetchHarness.request))
        await eventually { harness.codec.decodes.count == 2 }
        harness.prefetcher.replace(with: [5, 2, 4].map(PrefetchHarness.request))
        await eventually { harness.codec.decodes.contains(5) }
        harness.codec.openGate(4)
        await harness.idle()
        #expect(harness.startedNames.sorted() == ["1", "2", "4", "5"])
        #expect(harness.startedNames.last == "4")
        #expect(!harness.log.items.contains(.finished("1", nil)))
        #expect(harness.pipeline.cachedImage(for: PrefetchHarness.request(1)) == nil)
        #expect(harness.pipeline.cachedImage(for: PrefetchHarness.request(4)) != nil)
    }
}

@Suite("Requests that end at once", .timeLimit(.minutes(5))) struct ImmediateRequestTests {
    @Test("S25: report their start before their end, and are not retained")
    func leavesNothing() async throws {
        let fixture = try HTTPFixture { _, _ in FakeAnswer() }
        let harness = PrefetchHarness { $0.web = fixture.loader }
        let folder = try TestFolder()
        var miss = ImageRequest(.url(try HTTPURL(HTTPFixture.address)))
        miss.webUse = .onlyIfCached
        let missing = "\(folder.storeDirectory)/missing.fake"
        var file = ImageRequest(path: try folder.write("a.fake", grey: 6))
        file.memoryUse = []
        let requests = [miss, ImageRequest(path: missing), file]
        for (index, request) in requests.enumerated() {
            harness.prefetcher.start([request])
            await harness.idle(index + 1)
            #expect(harness.pipeline.images.loadCount == 0)
            #expect(harness.pipeline.originals.loadCount == 0)
        }
        #expect(
            harness.log.items == [
                .started(HTTPFixture.address),
                .finished(HTTPFixture.address, .notKept(url: HTTPFixture.address)), .idle,
                .started(missing), .finished(missing, .notFound(path: missing)), .idle,
                .started(file.source.name), .finished(file.source.name, nil), .idle,
            ])
        #expect(fixture.requestCount == 0)
        #expect(harness.pipeline.memory.byteCount == 0)
    }

    @Test("S25: fail without a network loader, and are not retained")
    func refusedAddress() async throws {
        let harness = PrefetchHarness()
        harness.prefetcher.start([ImageRequest(.url(try HTTPURL(HTTPFixture.address)))])
        await harness.idle()
        guard case .finished(_, .addressRefused) = harness.log.items.dropFirst().first else {
            Issue.record("\(harness.log.items)")
            return
        }
        #expect(harness.log.items.first == .started(HTTPFixture.address))
        #expect(harness.pipeline.images.loadCount == 0 && harness.pipeline.originals.loadCount == 0)
    }

    @Test("S25: retain neither the loader nor the image")
    func weakReferences() async throws {
        let pipeline = ImagePipeline(FakeCodec())
        var loader: FakeLoader? = FakeLoader()
        weak let observedLoader = loader
        weak var observedImage: LoadedImage?
        do {
            var request = ImageRequest(.loader(try #require(loader), name: "a"))
            request.memoryUse = .reads
            let task = Task { [request] in try await pipeline.image(for: request) }
            await loader?.started(1)
            loader?.send(PipelineHarness.file())
            loader?.finish()
            observedImage = try await task.value
        }
        loader = nil
        #expect(pipeline.images.loadCount == 0 && pipeline.originals.loadCount == 0)
        await eventually { observedLoader == nil && observedImage == nil }
    }

    @Test("S25: find images in memory without a load")
    func memoryHit() async throws {
        let codec = FakeCodec()
        let pipeline = ImagePipeline(codec)
        let image = try await pipeline.image(for: PrefetchHarness.request(1))
        #expect(try await pipeline.image(for: PrefetchHarness.request(1)) === image)
        #expect(pipeline.images.loadCount == 0 && pipeline.originals.loadCount == 0)
        #expect(codec.decodes == [1])
    }
}

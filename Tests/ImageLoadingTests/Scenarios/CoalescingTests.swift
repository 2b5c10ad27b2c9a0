// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import HTTPCaching
import HTTPTypes
import ImageTesting
import LoadingTesting
import LoadScheduling
import Pixels
import Testing

@testable import ImageLoading

@Suite("Equal requests", .timeLimit(.minutes(5))) struct CoalescingTests {
    private let first = CountingProcessor(1)
    private let second = CountingProcessor(2)
    private let third = CountingProcessor(3)

    @Test("S1: share one download and one decode, and process separately")
    func oneDownload() async throws {
        let harness = PipelineHarness()
        let requests = [harness.request([first]), harness.request([second])]
        let tasks = requests.map { harness.ask($0) }
        for request in requests { await harness.waiting(request, 1) }
        // Both wait for the same decode; one that joins later would load again.
        await harness.waiting(harness.request(), 2)
        await harness.deliver()
        #expect(try await tasks[0].value == 1)
        #expect(try await tasks[1].value == 2)
        #expect(harness.loader.startCount == 1)
        #expect(harness.codec.decodes == [0])
        #expect(first.applicationCount == 1 && second.applicationCount == 1)
        for (request, trail) in zip(requests, [1, 2]) {
            let cached = try #require(harness.pipeline.cachedImage(for: request))
            #expect(Int(cached.image.trail) == trail)
        }
        #expect(harness.pipeline.cachedImage(for: harness.request()) == nil)
    }

    @Test("S2: run a common prefix of processors once")
    func prefixes() async throws {
        let harness = PipelineHarness()
        let short = harness.request([first])
        let long = harness.request([first, second, third])
        let tasks = [harness.ask(short), harness.ask(long)]
        // The long one waits for the short one, too.
        await harness.waiting(short, 2)
        await harness.deliver()
        #expect(try await tasks[0].value == 1)
        #expect(try await tasks[1].value == 27)
        #expect(
            [first, second, third].map(\.applicationCount) == [1, 1, 1])
        #expect(harness.pipeline.cachedImage(for: short) != nil)
        #expect(harness.pipeline.cachedImage(for: long) != nil)
        #expect(harness.pipeline.cachedImage(for: harness.request([first, second])) == nil)
    }

    @Test("S3: continue from an image in memory")
    func intermediate() async throws {
        let harness = PipelineHarness()
        let task = harness.ask(harness.request([first, second]))
        await harness.deliver()
        #expect(try await task.value == 6)
        #expect(try await harness.ask(harness.request([first, second, third])).value == 27)
        #expect(harness.loader.startCount == 1)
        #expect([first, second, third].map(\.applicationCount) == [1, 1, 1])
    }

    @Test("S4: share bytes but not pixels when their sizes differ", arguments: [false, true])
    func sizes(isReversed: Bool) async throws {
        let harness = PipelineHarness()
        var requests = [
            harness.request(), harness.request([], DecodeOptions(maximumSide: 400)),
        ]
        if isReversed { requests.reverse() }
        let pipeline = harness.pipeline
        let tasks = requests.map { request in
            Task { try await pipeline.image(for: request).image.size }
        }
        for request in requests { await harness.waiting(request, 1) }
        await harness.waitingForBytes(requests[0], 2)
        await harness.deliver(FakeCodec.file(PixelSize(width: 640, height: 480), grey: 1))
        var sizes = [try await tasks[0].value, try await tasks[1].value]
        if isReversed { sizes.reverse() }
        #expect(sizes[0] == PixelSize(width: 640, height: 480))
        #expect(sizes[1] == PixelSize(width: 400, height: 300))
        #expect(harness.loader.startCount == 1)
        for (request, size) in zip(isReversed ? requests.reversed() : requests, sizes) {
            #expect(pipeline.cachedImage(for: request)?.image.size == size)
        }
    }

    @Test("S5: are separate when their bytes may differ, or when they are not shared")
    func apart() async throws {
        for change: (inout ImageRequest) -> Void in [
            { $0.webUse = .reload }, { $0.fields[.accept] = "image/webp" },
            { $0.isShared = false },
        ] {
            let harness = PipelineHarness()
            let one = harness.request()
            var other = harness.request()
            change(&other)
            other.memoryUse = []
            let tasks = [harness.ask(one)]
            await harness.loader.started(1)
            let second = harness.ask(other)
            await harness.loader.started(2)
            harness.loader.send(PipelineHarness.file(grey: 2))
            harness.loader.finish()
            #expect(try await second.value == 2)
            tasks[0].cancel()
            #expect(harness.codec.decodes == [2])
        }
    }

    @Test("S5: are separate in memory, too, if their header fields differ")
    func fields() async throws {
        let web = try HTTPFixture { request, _ in
            let isLatin = request.headerFields[.acceptLanguage] == "la"
            return FakeAnswer(
                fields: [.cacheControl: "max-age=60", .vary: "accept-language"],
                body: PipelineHarness.file(grey: isLatin ? 2 : 1))
        }
        let pipeline = ImagePipeline(FakeCodec()) { $0.web = web.loader }
        let any = ImageRequest(.url(try HTTPURL(HTTPFixture.address)))
        var latin = any
        latin.fields[.acceptLanguage] = "la"
        for _ in 0..<2 {
            for (request, grey) in [(any, 1), (latin, 2)] {
                let loaded = try await pipeline.image(for: request)
                #expect(loaded.image.trail == grey)
                #expect(loaded.original.name == HTTPFixture.address)
                #expect(pipeline.cachedImage(for: request)?.image.trail == UInt8(grey))
            }
        }
        #expect(web.requestCount == 2)
    }

    @Test("S6: receive the newest preview and progress when they join late")
    func lateJoiner() async throws {
        let harness = PipelineHarness(isProgressive: true)
        let request = harness.request()
        var early = harness.pipeline.updates(for: request).makeAsyncIterator()
        await harness.loader.started(1)
        let header = Array(PipelineHarness.file().prefix(9))
        var previews: [UInt8] = []
        for (piece, total) in [(header + [0], 10), ([0], 11)] {
            harness.loader.send(piece, expected: 25)
            while previews.last != UInt8(total - 9) {
                let event = try #require(try await early.next())
                if case .preview(let preview) = event.kind { previews.append(preview.image.trail) }
            }
        }
        #expect(previews == [1, 2])
        var late = harness.pipeline.updates(for: request).makeAsyncIterator()
        var told: [String] = []
        while told.count < 2 {
            let event = try #require(try await late.next())
            #expect(event.identity == request.identity)
            switch event.kind {
            case .progress(let progress):
                #expect(progress == LoadProgress(receivedByteCount: 11, expectedByteCount: 25))
                told.append("progress")
            case .preview(let preview):
                #expect(preview.isPreview && preview.image.trail == 2)
                told.append("preview")
            case .placeholder, .image: Issue.record("too early")
            }
        }
        harness.loader.send(Array(repeating: 0, count: 14), expected: 25)
        harness.loader.finish()
        var last: ImageEvent?
        while let event = try await late.next() { last = event }
        guard case .image(let image)? = last?.kind else {
            Issue.record("no picture")
            return
        }
        #expect(!image.isPreview && image.image.trail == 0)
        #expect(harness.loader.startCount == 1)
        // A request after the end gets the same result at once.
        var afterwards = harness.pipeline.updates(for: request).makeAsyncIterator()
        guard case .image(let again)? = try await afterwards.next()?.kind else {
            Issue.record("no picture")
            return
        }
        #expect(again === image)
    }

    @Test("S7: are retried when the consumer that has waited longest fails, or all fail")
    func failedLeader() async throws {
        let harness = PipelineHarness()
        var request = harness.request()
        request.failurePolicy = .handOver
        let tasks = (0..<3).map { _ in harness.ask(request) }
        await harness.waiting(request, 3)
        await harness.loader.started(1)
        let error = LoadError.connectionFailed(url: "a", reason: "broken")
        harness.loader.fail(error)
        await harness.deliver(start: 2)
        let answers = await [tasks[0].result, tasks[1].result, tasks[2].result]
        #expect(answers.count { (try? $0.get()) == 0 } == 2)
        #expect(answers.count { $0.loadError == error } == 1)
        #expect(harness.loader.startCount == 2)

        let plain = PipelineHarness()
        let failing = (0..<3).map { _ in plain.ask(plain.request()) }
        await plain.waiting(plain.request(), 3)
        await plain.loader.started(1)
        plain.loader.fail(error)
        for task in failing { await #expect(throws: error) { try await task.value } }
        #expect(plain.loader.startCount == 1)
    }

    @Test("S7: continue when the consumer that has waited longest leaves")
    func cancelledLeader() async throws {
        let harness = PipelineHarness()
        let leader = harness.ask(harness.request())
        await harness.waiting(harness.request(), 1)
        let others = (0..<2).map { _ in harness.ask(harness.request()) }
        await harness.waiting(harness.request(), 3)
        leader.cancel()
        await #expect(throws: LoadError.cancelled) { try await leader.value }
        await harness.deliver()
        for task in others { #expect(try await task.value == 0) }
        #expect(harness.loader.startCount == 1 && harness.loader.cancelCount == 0)
    }
}

extension Result {
    var loadError: LoadError? {
        if case .failure(let error) = self { error as? LoadError } else { nil }
    }
}

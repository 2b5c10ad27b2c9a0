// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageTesting
import LoadScheduling
import Pixels
import Testing

@testable import ImageLoading

@Suite("An image that is received in parts", .timeLimit(.minutes(5)))
struct ProgressiveTests {
    @Test(
        "S13: has at most one waiting decode of a part, which is removed when the image is complete"
    )
    func backPressure() async throws {
        let harness = PipelineHarness(isProgressive: true)
        let decodes = harness.pipeline.queues.decodes
        decodes.isSuspended = true
        let request = harness.request()
        var events = harness.pipeline.updates(for: request).makeAsyncIterator()
        await harness.loader.started(1)
        let file = PipelineHarness.file()
        for start in stride(from: 0, to: 20, by: 2) {
            harness.loader.send(Array(file[start..<start + 2]), expected: 25)
        }
        await eventually { decodes.waitingCount == 1 }
        harness.loader.send(Array(file[20...]), expected: 25)
        #expect(decodes.submittedCount == 1)
        harness.loader.finish()
        await eventually { decodes.submittedCount == 2 }
        #expect(decodes.waitingCount == 1)
        decodes.isSuspended = false
        var hasPreview = false
        var hasImage = false
        while let event = try await events.next() {
            if case .preview = event.kind { hasPreview = true }
            if case .image = event.kind { hasImage = true }
        }
        #expect(!hasPreview && hasImage)
        #expect(harness.codec.partialDecodeCount == 0)
        #expect(harness.codec.decodes == [0])
    }

    @Test("S13: removes the waiting decode of a part when the load fails")
    func failure() async throws {
        let harness = PipelineHarness(isProgressive: true)
        let decodes = harness.pipeline.queues.decodes
        decodes.isSuspended = true
        var events = harness.pipeline.updates(for: harness.request()).makeAsyncIterator()
        await harness.loader.started(1)
        harness.loader.send(Array(PipelineHarness.file().prefix(12)))
        await eventually { decodes.waitingCount == 1 }
        let error = LoadError.timedOut(url: "a")
        harness.loader.fail(error)
        await #expect(throws: error) {
            while try await events.next() != nil {}
        }
        #expect(decodes.waitingCount == 0)
        decodes.isSuspended = false
        await harness.pipeline.close()
        #expect(harness.codec.partialDecodeCount == 0)
    }

    @Test("S14: has previews that are marked and processed, and never returned as the image")
    func previews() async throws {
        let harness = PipelineHarness(isProgressive: true)
        let processor = CountingProcessor(1)
        let request = harness.request([processor])
        var events = harness.pipeline.updates(for: request).makeAsyncIterator()
        await harness.loader.started(1)
        let file = PipelineHarness.file()
        harness.loader.send(Array(file.prefix(12)), expected: 25)
        var preview: LoadedImage?
        while preview == nil, let event = try await events.next() {
            if case .preview(let image) = event.kind { preview = image }
        }
        // Pass 3 of the file, and the processor's digit behind it.
        #expect(preview.map { Int($0.image.trail) } == 13)
        #expect(preview?.isPreview == true)
        let cached = harness.pipeline.cachedImage(for: request)
        #expect(cached == nil || cached?.isPreview == true)
        harness.loader.send(Array(file.dropFirst(12)), expected: 25)
        harness.loader.finish()
        var last: ImageEvent?
        while let event = try await events.next() { last = event }
        guard case .image(let image)? = last?.kind else {
            Issue.record("no picture")
            return
        }
        #expect(image.image.trail == 1 && !image.isPreview)
        #expect(harness.pipeline.cachedImage(for: request) === image)
    }
}

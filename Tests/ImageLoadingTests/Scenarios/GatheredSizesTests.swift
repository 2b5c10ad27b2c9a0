// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageTesting
import LoadScheduling
import Pixels
import Testing

@testable import ImageLoading

@Suite("Renditions of one original", .timeLimit(.minutes(5))) struct GatheredSizesTests {
    private static let size = PixelSize(width: 640, height: 480)

    private static func key(_ request: ImageRequest) -> ImageLoadKey {
        ImageLoadKey(
            ImageKey(request, of: .named("a")), OriginalLoadKey(request, of: .named("a"), salt: 0),
            isReproducible: true)
    }

    private func ask(
        _ harness: PipelineHarness, _ options: DecodeOptions
    ) -> Task<PixelSize, any Error> {
        let request = RenditionRequest(image: harness.request([], options), format: "fake")
        return Task { [pipeline = harness.pipeline] in
            try await pipeline.rendition(for: request).pixelSize
        }
    }

    /// Waits until so many sizes are waited for.
    private func gathered(_ harness: PipelineHarness, _ count: Int) async throws {
        let request = harness.request()
        let key = try #require(Self.key(request).withoutSize)
        await eventually { harness.pipeline.images.gatheredCount(key) == count }
    }

    /// Sends the file once so many decodes wait for it.
    private func deliver(_ harness: PipelineHarness, to count: Int = 1) async {
        await harness.waitingForBytes(harness.request(), count)
        await harness.deliver(FakeCodec.file(Self.size, grey: 9))
    }

    @Test("share no decode with a region, a stored orientation or an embedded thumbnail")
    func separateDecodes() {
        let harness = PipelineHarness()
        #expect(Self.key(harness.request([], DecodeOptions(maximumSide: 20))).withoutSize != nil)
        var region = DecodeOptions()
        region.region = PixelRect(x: 0, y: 0, width: 8, height: 8)
        var stored = DecodeOptions()
        stored.appliesOrientation = false
        var thumbnail = DecodeOptions()
        thumbnail.embeddedThumbnail = .ifLargeEnough
        for options in [region, stored, thumbnail] {
            #expect(Self.key(harness.request([], options)).withoutSize == nil)
        }
    }

    @Test("are made by one decode, whatever their sizes and order") func manySizes() async throws {
        let harness = PipelineHarness()
        var wanted: [(DecodeOptions, PixelSize)] = []
        for number in 1...20 {
            let side = number * 37 % 20 * 16 + 16
            wanted.append(
                (
                    DecodeOptions(maximumSide: side), PixelSize(width: side, height: side * 3 / 4)
                ))
            let box = PixelSize(width: side * 3 / 4, height: side * 3 / 4)
            wanted.append((DecodeOptions(box: box, mode: .fill), box))
            wanted.append((DecodeOptions(box: box, mode: .stretch), box))
        }
        let tasks = wanted.map { ask(harness, $0.0) }
        try await gathered(harness, 60)
        await deliver(harness)
        for (task, (_, size)) in zip(tasks, wanted) { #expect(try await task.value == size) }
        #expect(harness.codec.decodes.count == 1)
        #expect(harness.loader.startCount == 1)
        try await gathered(harness, 0)
    }

    @Test("requested during a decode share the next one") func lateOnes() async throws {
        let harness = PipelineHarness(isGated: true) { $0.decodeThreadCount = 2 }
        let first = ask(harness, DecodeOptions(maximumSide: 100))
        await deliver(harness)
        #expect(await harness.codec.nextEvent() == .began(9))
        let others = [50, 200, 160].map { ask(harness, DecodeOptions(maximumSide: $0)) }
        try await gathered(harness, 4)
        await harness.deliver(FakeCodec.file(Self.size, grey: 8), start: 2)
        harness.codec.openGate(2)
        #expect(try await first.value == PixelSize(width: 100, height: 75))
        #expect(try await others[0].value == PixelSize(width: 50, height: 38))
        #expect(try await others[1].value == PixelSize(width: 200, height: 150))
        #expect(try await others[2].value == PixelSize(width: 160, height: 120))
        #expect(harness.codec.decodes == [9, 8])
    }

    @Test("are made although the first consumer leaves") func leaving() async throws {
        let harness = PipelineHarness()
        let first = ask(harness, DecodeOptions(maximumSide: 100))
        try await gathered(harness, 1)
        let second = ask(harness, DecodeOptions(maximumSide: 40))
        try await gathered(harness, 2)
        first.cancel()
        await #expect(throws: LoadError.cancelled) { try await first.value }
        try await gathered(harness, 1)
        await deliver(harness)
        #expect(try await second.value == PixelSize(width: 40, height: 30))
        #expect(harness.codec.decodes.count == 1)
        // It is made at the size that is still wanted.
        #expect(
            harness.pipeline.memory.larger(
                than: harness.key(harness.request([], DecodeOptions(maximumSide: 45)))) == nil)
    }

    @Test("are each decoded if they show different parts") func parts() async throws {
        let harness = PipelineHarness(isGated: true) { $0.decodeThreadCount = 2 }
        let tasks = [0, 200].map { x in
            var options = DecodeOptions(maximumSide: 100)
            options.region = PixelRect(x: x, y: 0, width: 200, height: 200)
            return ask(harness, options)
        }
        await deliver(harness, to: tasks.count)
        for _ in 0..<2 { #expect(await harness.codec.nextEvent() == .began(9)) }
        harness.codec.openGate(2)
        for task in tasks {
            #expect(try await task.value == PixelSize(width: 100, height: 100))
        }
    }

    @Test("never delay a view") func view() async throws {
        let harness = PipelineHarness(isGated: true) { $0.decodeThreadCount = 2 }
        let large = ask(harness, DecodeOptions(maximumSide: 400))
        let small = harness.ask(harness.request([], DecodeOptions(maximumSide: 10)))
        await deliver(harness, to: 2)
        for _ in 0..<2 { #expect(await harness.codec.nextEvent() == .began(9)) }
        harness.codec.openGate(2)
        #expect(try await small.value == 9)
        #expect(try await large.value.width == 400)
    }

    @Test("do not fail because there is no memory for a larger one") func noRoom() async throws {
        let harness = PipelineHarness { $0.memoryBudget = MemoryBudget(byteLimit: 20_000) }
        let bytes = EncodedBytes(FakeCodec.file(Self.size, grey: 9))
        let tasks = [100, 600].map { side in
            let request = RenditionRequest(
                image: ImageRequest(
                    .bytes(bytes, name: "a"), options: DecodeOptions(maximumSide: side)),
                format: "fake")
            return Task { try await harness.pipeline.rendition(for: request).pixelSize }
        }
        await #expect {
            try await tasks[1].value
        } throws: { error in
            if case LoadError.memoryBudgetExceeded = error { true } else { false }
        }
        #expect(try await tasks[0].value == PixelSize(width: 100, height: 75))
    }
}

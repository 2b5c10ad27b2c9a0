// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import HTTPCaching
import HTTPTypes
import ImageTesting
import LoadingTesting
import Pixels
import Testing

@testable import ImageLoading

@Suite("X5: A stale image from the network", .timeLimit(.minutes(5)))
struct StaleImageTests {
    private static let newFile = FakeCodec.file(PixelSize(width: 40, height: 30), grey: 7)

    /// The image changes with the second request if told so; requests after the first are held.
    private static func web(
        changes: Bool = true, _ control: String = "max-age=10, stale-while-revalidate=20",
        holds: Bool = true
    ) throws -> HTTPFixture {
        try HTTPFixture { request, index in
            let version = changes && index > 0 ? 1 : 0
            var answer = FakeAnswer(
                fields: [.cacheControl: control, .eTag: "\"\(version)\""],
                body: version == 0 ? StoreHarness.file : newFile)
            if request.headerFields[.ifNoneMatch] == "\"\(version)\"" { answer.status = 304 }
            answer.isHeld = holds && index > 0
            return answer
        }
    }

    /// What a listener is shown, the first sample of each image.
    private static func shown(
        _ harness: StoreHarness, _ request: ImageRequest, told: @escaping @Sendable () -> Void
    ) -> Task<[UInt8], any Error> {
        Task {
            var trails: [UInt8] = []
            for try await event in harness.pipeline.updates(for: request) {
                guard case .image(let image) = event.kind else { continue }
                trails.append(image.image.trail)
                told()
            }
            return trails
        }
    }

    /// Waits until the server is asked for what is newer, and lets it answer.
    private static func answer(_ web: HTTPFixture) async {
        await eventually { web.transport.heldCount(HTTPFixture.address) == 1 }
        web.transport.release(HTTPFixture.address)
    }

    @Test(
        "is shown at once, revalidated once for all consumers, and replaced on change",
        arguments: [true, false], [true, false])
    func coalesced(changes: Bool, isInMemory: Bool) async throws {
        let web = try Self.web(changes: changes)
        let first = try StoreHarness(.originals, web: web)
        let small = try first.request()
        var processed = small
        processed.processors = [CountingProcessor(1)]
        for request in [small, processed] { _ = try await first.pipeline.image(for: request) }
        web.advance(seconds: 29)
        // One that has nothing in memory finds the old answer that the server lets be shown.
        let harness = isInMemory ? first : try StoreHarness(.originals, web: web)
        let told = Log<Bool>()
        let tasks = [small, small, processed].map { request in
            Self.shown(harness, request) { told.append(true) }
        }
        await eventually { told.items.count == 3 }
        #expect(web.requestCount <= 2, "the old ones are shown before the server answers")
        await Self.answer(web)
        let trails = try await tasks.asyncMap { try await $0.value }
        let old: [UInt8] = [5, 5, 5 * 4 + 1]
        let new: [UInt8] = [7, 7, 7 * 4 + 1]
        #expect(trails == zip(old, new).map { changes ? [$0, $1] : [$0] })
        #expect(web.requestCount == 2)
        #expect(harness.codec.decodes.filter { $0 == 7 }.count <= (changes ? 2 : 0))
        // From then on the newer one is what there is.
        for (request, trail) in zip([small, processed], changes ? [7, 29] : [5, 21]) {
            #expect(harness.pipeline.cachedImage(for: request)?.image.trail == UInt8(trail))
            #expect(try await harness.pipeline.image(for: request).image.trail == UInt8(trail))
        }
        #expect(web.requestCount == 2)
    }

    @Test("is revalidated in the background for a request of a single image")
    func background() async throws {
        let web = try Self.web()
        let harness = try StoreHarness(.originals, web: web)
        let request = try harness.request()
        _ = try await harness.pipeline.image(for: request)
        web.advance(seconds: 10)
        for _ in 0..<3 {
            #expect(try await harness.pipeline.image(for: request).image.trail == 5)
        }
        await Self.answer(web)
        await eventually { harness.pipeline.cachedImage(for: request)?.image.trail == 7 }
        #expect(try await harness.pipeline.image(for: request).image.trail == 7)
        #expect(web.requestCount == 2)
    }

    @Test("is replaced at all sizes")
    func otherSizes() async throws {
        let web = try Self.web(holds: false)
        let harness = try StoreHarness(.originals, web: web)
        let sizes = try [8, 16].map { try harness.request(side: $0) }
        for request in sizes { _ = try await harness.pipeline.image(for: request) }
        web.advance(seconds: 10)
        _ = try await harness.pipeline.image(for: sizes[0])
        await eventually { harness.pipeline.cachedImage(for: sizes[0])?.image.trail == 7 }
        #expect(harness.pipeline.cachedImage(for: sizes[1]) == nil)
        #expect(try await harness.pipeline.image(for: sizes[1]).image.trail == 7)
    }

    @Test("stays if the server fails, and is revalidated again by the next request")
    func unreachable() async throws {
        let web = try HTTPFixture { _, index in
            var answer = FakeAnswer(
                fields: [.cacheControl: "max-age=10"],
                body: index < 2 ? StoreHarness.file : Self.newFile)
            answer.isUnreachable = index == 1
            return answer
        }
        let harness = try StoreHarness(.originals, web: web)
        let request = try harness.request()
        _ = try await harness.pipeline.image(for: request)
        web.advance(seconds: 10)
        #expect(try await Self.shown(harness, request) {}.value == [5])
        #expect(web.requestCount == 2)
        #expect(try await Self.shown(harness, request) {}.value == [5, 7])
        #expect(web.requestCount == 3)
    }

    @Test("is not revalidated while it is fresh, or if only stored responses are accepted")
    func fresh() async throws {
        let web = try Self.web(holds: false)
        let harness = try StoreHarness(.originals, web: web)
        var request = try harness.request()
        _ = try await harness.pipeline.image(for: request)
        web.advance(seconds: 9)
        #expect(try await Self.shown(harness, request) {}.value == [5])
        web.advance(seconds: 1)
        request.webUse = .onlyIfCached
        #expect(try await Self.shown(harness, request) {}.value == [5])
        #expect(web.requestCount == 1)
    }

    @Test("is not stored as a rendition until the server has confirmed it")
    func renditions() async throws {
        let web = try Self.web(changes: false)
        let first = try StoreHarness(.originals, web: web)
        _ = try await first.pipeline.image(for: first.request())
        web.advance(seconds: 10)
        let second = try StoreHarness(.all, web: web)
        let request = try second.request()
        _ = try await second.pipeline.rendition(
            for: RenditionRequest(image: request, format: "fake"))
        #expect(second.renditions.statistics.entryCount == 0)
        await Self.answer(web)
        await eventually { second.renditions.statistics.entryCount == 1 }
        #expect(try await second.close() == 1)
        let third = try StoreHarness(.all, web: web)
        _ = try await third.pipeline.image(for: request)
        #expect(third.codec.decodes == [5] && web.requestCount == 2)
    }

    @Test("is returned for a request for bytes, and the newer bytes for the next request")
    func bytes() async throws {
        let web = try Self.web()
        let harness = try StoreHarness(.originals, web: web)
        let request = try harness.request(side: nil)
        func bytes() async throws -> [UInt8] {
            let bytes = try await harness.pipeline.data(for: request)
            return bytes.withBytes { span in span.indices.map { span[$0] } }
        }
        #expect(try await bytes() == StoreHarness.file)
        web.advance(seconds: 29)
        for _ in 0..<2 { #expect(try await bytes() == StoreHarness.file) }
        await Self.answer(web)
        await eventually { harness.pipeline.originals.loadCount == 0 }
        #expect(try await bytes() == Self.newFile)
        #expect(web.requestCount == 2)
    }
}

extension Sequence where Element: Sendable {
    /// One after the other.
    fileprivate func asyncMap<Result>(
        _ transform: (Element) async throws -> Result
    ) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}

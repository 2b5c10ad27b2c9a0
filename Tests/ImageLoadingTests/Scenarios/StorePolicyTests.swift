// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import HTTPTypes
import ImageTesting
import LoadingTesting
import LoadScheduling
import Pixels
import Testing

@testable import HTTPCaching
@testable import ImageLoading

/// A pipeline between a network that a test rules and both stores.
struct StoreHarness: Sendable {
    static let file = FakeCodec.file(PixelSize(width: 40, height: 30), grey: 5)

    let web: HTTPFixture
    let codec: FakeCodec
    let renditions: SpyStore
    let pipeline: ImagePipeline

    init(
        _ policy: StorePolicy = .all, codec: FakeCodec = FakeCodec(), web: HTTPFixture? = nil,
        answer: FakeAnswer = .fresh
    ) throws {
        // That of an earlier harness is for what comes after a restart.
        let web = try web ?? HTTPFixture { _, _ in answer }
        let renditions = SpyStore(
            try RenditionStore(
                directory: web.folder.storeDirectory, byteLimit: 1 << 20, logger: .silent,
                date: { web.clock.date }))
        self.web = web
        self.codec = codec
        self.renditions = renditions
        pipeline = ImagePipeline(codec, store: renditions) { configuration in
            configuration.web = web.loader
            configuration.storePolicy = policy
            configuration.storedFormat = "fake"
        }
    }

    /// Requests an image, resized by default.
    func request(
        side: Int? = 8, _ processors: [any ImageProcessor] = []
    ) throws -> ImageRequest {
        ImageRequest(
            .url(try HTTPURL(HTTPFixture.address)),
            options: side.map { DecodeOptions(maximumSide: $0) } ?? DecodeOptions(),
            processors: processors)
    }

    /// Requests images in one load of the original, which is held until all of them wait.
    func loadTogether(_ requests: [ImageRequest]) async throws {
        let tasks = requests.map { request in
            Task { try await pipeline.image(for: request).image.size }
        }
        for request in requests {
            let key = ImageLoadKey(
                image: ImageKey(request, of: .url(HTTPFixture.address)))
            let count = requests.count { $0.identity == request.identity }
            await eventually { pipeline.images.consumerCount(key) == count }
        }
        let data = OriginalLoadKey(requests[0], of: .url(HTTPFixture.address), salt: 0)
        let decodeCount = Set(requests.map(\.options)).count
        await eventually { pipeline.originals.consumerCount(data) == decodeCount }
        await eventually { web.transport.heldCount(HTTPFixture.address) == 1 }
        web.transport.release(HTTPFixture.address)
        for task in tasks { _ = try await task.value }
    }

    /// Whether the bytes of the original are kept.
    func keepsOriginal() async throws -> Bool {
        try await web.store.response(for: HTTPURL(HTTPFixture.address), [:]) != nil
    }

    /// Ends the pipeline, what it still has to keep included.
    ///
    /// - Returns: the renditions that are kept.
    func close() async throws -> Int {
        await pipeline.close()
        let store = try RenditionStore(
            directory: web.folder.storeDirectory, byteLimit: 1 << 20, logger: .silent)
        defer { store.close() }
        return store.statistics.entryCount
    }
}

/// A store that tells what was put into it.
final class SpyStore: RenditionStoring {
    private let store: any RenditionStoring
    private let log = Log<RenditionKey>()
    private let factsLog = Log<ImageFacts>()

    init(_ store: any RenditionStoring) { self.store = store }

    /// The key of each rendition that was put in, the first first.
    var insertions: [RenditionKey] { log.items }
    /// All facts that were put in, the first first.
    var factInsertions: [ImageFacts] { factsLog.items }
    var statistics: StoreStatistics { store.statistics }

    func rendition(for key: RenditionKey) -> Rendition? { store.rendition(for: key) }

    func freshRendition(of name: String, _ request: String) -> Rendition? {
        store.freshRendition(of: name, request)
    }

    func insert(_ rendition: Rendition, for key: RenditionKey, freshUntil: Int) {
        log.append(key)
        store.insert(rendition, for: key, freshUntil: freshUntil)
    }

    func remove(_ key: RenditionKey) { store.remove(key) }
    func removeAll(of name: String) { store.removeAll(of: name) }
    func removeAll() { store.removeAll() }

    func facts(of originals: [FileIdentity]) -> [FileIdentity: ImageFacts] {
        store.facts(of: originals)
    }

    func insert(_ facts: [FileIdentity: ImageFacts]) {
        for facts in facts.values { factsLog.append(facts) }
        store.insert(facts)
    }
    func close() { store.close() }
}

extension FakeAnswer {
    static var fresh: FakeAnswer {
        FakeAnswer(fields: [.cacheControl: "max-age=60"], body: StoreHarness.file)
    }

    static var held: FakeAnswer {
        var answer = fresh
        answer.isHeld = true
        return answer
    }
}

@Suite("S23: The values stored on disk", .timeLimit(.minutes(5))) struct StorePolicyTests {
    @Test("are those of the policy", arguments: StorePolicy.allCases)
    func policy(_ policy: StorePolicy) async throws {
        let whole = try StoreHarness(policy)
        _ = try await whole.pipeline.image(for: whole.request(side: nil))
        #expect(try await whole.keepsOriginal() == (policy != .renditions))
        #expect(try await whole.close() == 0)

        let resized = try StoreHarness(policy)
        _ = try await resized.pipeline.image(for: resized.request())
        #expect(try await resized.keepsOriginal() == [.originals, .all].contains(policy))
        #expect(try await resized.close() == (policy == .originals ? 0 : 1))

        let encoded = try StoreHarness(policy)
        _ = try await encoded.pipeline.rendition(
            for: RenditionRequest(image: encoded.request(), format: "fake"))
        #expect(try await encoded.keepsOriginal() == [.originals, .all].contains(policy))
        #expect(try await encoded.close() == (policy == .originals ? 0 : 1))

        let processed = try StoreHarness(policy)
        _ = try await processed.pipeline.image(
            for: processed.request(side: nil, [CountingProcessor(1), CountingProcessor(2)]))
        #expect(try await processed.keepsOriginal() == [.originals, .all].contains(policy))
        #expect(
            try await processed.close() == (policy == .originals ? 0 : 1),
            "only what was asked for, not what lies on the way to it")

        let data = try StoreHarness(policy)
        _ = try await data.pipeline.data(for: data.request(side: nil))
        #expect(try await data.keepsOriginal() == (policy != .renditions))
        #expect(try await data.close() == 0)
    }

    @Test(
        "are those of separate loads for a shared load, each written once",
        arguments: StorePolicy.allCases)
    func coalesced(_ policy: StorePolicy) async throws {
        let harness = try StoreHarness(policy, answer: .held)
        let one = CountingProcessor(1)
        let small = try harness.request()
        try await harness.loadTogether([
            small, small, harness.request(side: nil), harness.request(side: 16, [one]),
        ])
        #expect(harness.web.requestCount == 1)
        #expect(try await harness.keepsOriginal() == (policy != .renditions))
        #expect(try await harness.close() == (policy == .originals ? 0 : 2))
        let insertions = harness.renditions.insertions
        #expect(Set(insertions).count == insertions.count)

        let resized = try StoreHarness(policy, answer: .held)
        try await resized.loadTogether([resized.request(), resized.request(side: 16)])
        #expect(try await resized.keepsOriginal() == [.originals, .all].contains(policy))
        #expect(try await resized.close() == (policy == .originals ? 0 : 2))
        #expect(resized.renditions.insertions.count == (policy == .originals ? 0 : 2))
    }

    @Test("include no original that is a file or in memory")
    func localOriginals() async throws {
        let harness = try StoreHarness(.all)
        let path = try harness.web.folder.write("a.fake")
        _ = try await harness.pipeline.image(for: ImageRequest(path: path))
        _ = try await harness.pipeline.data(for: ImageRequest(path: path))
        for scheme in ["data", "DATA", "Data"] {
            let name = "\(scheme):image/x-fake;base64,RkFLRQ=="
            #expect(throws: LoadError.self) { try HTTPURL(name) }
            _ = try await harness.pipeline.image(
                for: ImageRequest(.bytes(EncodedBytes(StoreHarness.file), name: name)))
        }
        #expect(await harness.web.store.byteCount() == 0)
        #expect(try await harness.close() == 0)
    }

    @Test("are none if the request forbids it, unless another request of the same load allows it")
    func forbidden() async throws {
        for (uses, isKept) in [
            ([[], [.reads]], false), ([[.reads], .all], true), ([.all, []], true),
        ] as [([ImageRequest.CacheUse], Bool)] {
            let harness = try StoreHarness(.all, answer: .held)
            let pipeline = harness.pipeline
            let tasks = try uses.map { use in
                var request = try harness.request()
                request.storeUse = use
                return Task { [request] in try await pipeline.image(for: request).image.size }
            }
            let key = ImageLoadKey(
                image: ImageKey(
                    original: .url(HTTPFixture.address), options: DecodeOptions(maximumSide: 8)))
            await eventually { pipeline.images.consumerCount(key) == 2 }
            await eventually { harness.web.transport.heldCount(HTTPFixture.address) == 1 }
            harness.web.transport.release(HTTPFixture.address)
            for task in tasks { _ = try await task.value }
            #expect(try await harness.keepsOriginal() == isKept, "\(uses)")
            #expect(try await harness.close() == (isKept ? 1 : 0), "\(uses)")
            #expect(harness.codec.decodes == [5])
        }
    }

    @Test("are none if the server forbids it")
    func noStore() async throws {
        let harness = try StoreHarness(
            .all,
            answer: FakeAnswer(
                fields: [.cacheControl: "no-store, max-age=60"], body: StoreHarness.file))
        _ = try await harness.pipeline.image(for: harness.request())
        _ = try await harness.pipeline.rendition(
            for: RenditionRequest(image: harness.request(), format: "fake"))
        #expect(try await !harness.keepsOriginal())
        #expect(try await harness.close() == 0)
    }

    @Test("are found without a request to the server while the original is fresh")
    func freshRendition() async throws {
        let first = try StoreHarness(.renditions)
        let request = RenditionRequest(image: try first.request(), format: "fake")
        _ = try await first.pipeline.image(for: first.request())
        let made = try await first.pipeline.rendition(for: request)
        #expect(try await first.close() == 2)
        #expect(first.web.requestCount == 1)

        let second = try StoreHarness(.renditions, web: first.web)
        #expect(try await second.pipeline.rendition(for: request) == made)
        let shown = try await second.pipeline.image(for: second.request())
        #expect(shown.image.size == PixelSize(width: 8, height: 6))
        #expect(shown.originalSize == PixelSize(width: 40, height: 30))
        #expect(second.web.requestCount == 1)
        // Who sends fields may be shown something else.
        var other = request
        other.image.fields[.acceptLanguage] = "la"
        _ = try await second.pipeline.rendition(for: other)
        #expect(second.web.requestCount == 2)
        _ = try await second.close()

        second.web.advance(seconds: 60)
        let third = try StoreHarness(.renditions, web: first.web)
        _ = try await third.pipeline.rendition(for: request)
        #expect(third.web.requestCount == 3)
        _ = try await third.close()
    }

    @Test("are all thumbnails of a screen, which wait until none is decoded any more")
    func screenOfThumbnails() async throws {
        let folder = try TestFolder()
        let codec = FakeCodec(isGated: true)
        let store = SpyStore(try folder.store())
        let pipeline = ImagePipeline(codec, store: store) { $0.storedFormat = "fake" }
        let tasks = try (0..<100).map { index in
            let path = try folder.write("\(index).fake", grey: UInt8(index))
            return Task {
                _ = try await pipeline.image(
                    for: ImageRequest(path: path, options: DecodeOptions(maximumSide: 1)))
            }
        }
        await eventually { pipeline.queues.decodes.waitingCount == 99 }
        codec.openGate(100)
        for task in tasks { try await task.value }
        await pipeline.close()
        #expect(Set(store.insertions).count == 100)
    }

    @Test("S3: are reused by other requests")
    func intermediate() async throws {
        let folder = try TestFolder()
        let path = try folder.write("a.fake", grey: 0)
        func session(
            _ processors: [CountingProcessor], decodes: [UInt8], trail: UInt8
        ) async throws {
            let codec = FakeCodec()
            let pipeline = ImagePipeline(codec, store: try folder.store()) {
                $0.storedFormat = "fake"
            }
            let request = ImageRequest(.file(path), processors: processors)
            let loaded = try await pipeline.image(for: request)
            #expect(loaded.image.trail == trail)
            #expect(loaded.key == pipeline.cachedImage(for: request)?.key)
            #expect(codec.decodes == decodes)
            await pipeline.close()
        }
        let one = CountingProcessor(1)
        let two = CountingProcessor(2)
        try await session([one], decodes: [0], trail: 1)
        try await session([one, two], decodes: [1], trail: 6)
        #expect(one.applicationCount == 1 && two.applicationCount == 1)
        try await session([one, two], decodes: [6], trail: 6)
        #expect(one.applicationCount == 1 && two.applicationCount == 1)
    }
}

// SPDX-License-Identifier: Apache-2.0

import DiskStore
import EncodedImages
import GRDB
import HTTPTypes
import ImageTesting
import LoadingTesting
import LoadScheduling
import Pixels
import Testing

@testable import HTTPCaching
@testable import ImageLoading

@Suite("S23: A damaged stored value", .timeLimit(.minutes(5))) struct PoisonedEntryTests {
    @Test(
        "is made again from the original, and replaced, if it is an image",
        arguments: [[], [1, 2, 3], Array("FAKE".utf8), Array(repeating: 0, count: 100)]
            as [[UInt8]])
    func image(_ bytes: [UInt8]) async throws {
        let folder = try TestFolder()
        let path = try folder.write("a.fake", grey: 9, side: 16)
        let request = ImageRequest(path: path, options: DecodeOptions(maximumSide: 4))
        let original = try FileIdentity(path: path)
        let key = RenditionKey(
            OriginalVersion(original),
            request: RenditionKey.text(
                ImageKey(original: .file(original), options: request.options), format: "fake"))
        let store = try folder.store()
        store.insert(
            Rendition(
                bytes: bytes, mediaType: "image/x-fake", pixelSize: PixelSize(width: 4, height: 4),
                original: key.original), for: key)
        let pipeline = ImagePipeline(FakeCodec(), store: store) { $0.storedFormat = "fake" }
        let loaded = try await pipeline.image(for: request)
        #expect(loaded.image.size == PixelSize(width: 4, height: 4) && loaded.image.trail == 9)
        await pipeline.close()
        let again = try folder.store()
        defer { again.close() }
        let replaced = try #require(again.rendition(for: key))
        let facts = [16, 0, 0, 0, 0, 0, 0, 0] as [UInt8]
        #expect(
            replaced.bytes
                == facts + facts + Array(repeating: 0, count: 16) + [1, 0, 0, 0, 0, 0, 0, 0]
                + FakeCodec.file(PixelSize(width: 4, height: 4), grey: 9))
    }

    @Test("is made again if it is a truncated rendition")
    func rendition() async throws {
        let folder = try TestFolder()
        let path = try folder.write("a.fake", grey: 9, side: 16)
        let store = try folder.store()
        let codec = FakeCodec()
        let pipeline = ImagePipeline(codec, store: store)
        let made = try await pipeline.rendition(path, side: 4)
        store.write { db in
            try db.execute(sql: "UPDATE content SET bytes = substr(bytes, 1, 5)")
        }
        #expect(try await pipeline.rendition(path, side: 4) == made)
        let key = RenditionKey(made.original, .fake(path, side: 4))
        #expect(store.rendition(for: key) == made)
        await pipeline.close()
    }

    @Test("is requested again, and replaced, if it is an original from the network")
    func original() async throws {
        let harness = try StoreHarness()
        let url = try HTTPURL(HTTPFixture.address)
        await harness.web.store.insert(
            Array("FAKE".utf8), mediaType: "image/x-fake", for: url)
        let loaded = try await harness.pipeline.image(for: harness.request())
        #expect(loaded.image.trail == 5)
        #expect(harness.web.requestCount == 1)
        let kept = await harness.web.store.response(for: url, [:])
        #expect(kept?.bytes == StoreHarness.file)
        _ = try await harness.close()
    }

    @Test("is requested again once for all loads that found the damage")
    func together() async throws {
        let harness = try StoreHarness(answer: .held)
        let url = try HTTPURL(HTTPFixture.address)
        await harness.web.store.insert(
            Array("FAKE".utf8), mediaType: "image/x-fake", for: url)
        var key = OriginalLoadKey(original: .url(HTTPFixture.address))
        key.refusedBody = contentHash(Array("FAKE".utf8))
        let pipeline = harness.pipeline
        let tasks = try [8, 16].map { side in
            let request = try harness.request(side: side)
            return Task { try await pipeline.image(for: request).image.size.largestSide }
        }
        await eventually { pipeline.originals.consumerCount(key) == 2 }
        await eventually { harness.web.transport.heldCount(HTTPFixture.address) == 1 }
        harness.web.transport.release(HTTPFixture.address)
        #expect(try await tasks[0].value == 8)
        #expect(try await tasks[1].value == 16)
        #expect(harness.web.requestCount == 1)
    }

    @Test("is previewed while it is received again")
    func previews() async throws {
        var answer = FakeAnswer.fresh
        answer.holdsPieces = true
        answer.pieceByteCount = 12
        let harness = try StoreHarness(codec: FakeCodec(isProgressive: true), answer: answer)
        let url = try HTTPURL(HTTPFixture.address)
        await harness.web.store.insert(
            Array("FAKE".utf8), mediaType: "image/x-fake", for: url)
        let hasPreview = Log<Bool>()
        let isOver = Log<Bool>()
        let request = try harness.request()
        let task = Task {
            defer { isOver.append(true) }
            var last: LoadedImage?
            for try await event in harness.pipeline.updates(for: request) {
                #expect(last == nil)
                if case .preview = event.kind { hasPreview.append(true) }
                if case .image(let image) = event.kind { last = image }
            }
            return last?.image.trail
        }
        // The whole image, but not its end, which is the end of previews too.
        var heldCount =
            (StoreHarness.file.count + answer.pieceByteCount - 1) / answer.pieceByteCount
        await eventually {
            if heldCount > 0, harness.web.transport.heldCount(HTTPFixture.address) == 1 {
                harness.web.transport.release(HTTPFixture.address)
                heldCount -= 1
            }
            return !hasPreview.items.isEmpty
        }
        await eventually {
            harness.web.transport.release(HTTPFixture.address)
            return !isOver.items.isEmpty
        }
        #expect(try await task.value == 5)
        #expect(!hasPreview.items.isEmpty)
        let kept = await harness.web.store.response(for: url, [:])
        #expect(kept?.bytes == StoreHarness.file)
    }

    @Test("is requested only once if the server has no better one")
    func hopeless() async throws {
        let harness = try StoreHarness(
            answer: FakeAnswer(fields: [.cacheControl: "max-age=60"], body: Array("FAKE".utf8)))
        let url = try HTTPURL(HTTPFixture.address)
        await harness.web.store.insert(
            Array("FAKE".utf8), mediaType: "image/x-fake", for: url)
        await #expect(throws: LoadError.self) {
            try await harness.pipeline.image(for: harness.request())
        }
        #expect(harness.web.requestCount == 1)
        #expect(try await harness.close() == 0)
    }
}

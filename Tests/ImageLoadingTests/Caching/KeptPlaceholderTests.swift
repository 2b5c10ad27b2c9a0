// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import GRDB
import ImageCodecs
import ImageTesting
import LoadingTesting
import LoadScheduling
import Pixels
import Placeholders
import Synchronization
import Testing

@testable import ImageLoading

@Suite("A placeholder that is kept", .timeLimit(.minutes(5))) struct KeptPlaceholderTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// The placeholder that the store has of a file as it is now.
    private func placeholder(_ path: String, in store: any RenditionStoring) throws -> ThumbHash? {
        let file = try FileIdentity(path: path)
        return store.facts(of: [file])[file]?.placeholder
    }

    /// Does something with a pipeline of fake files and lets everything end that it began.
    private func use(
        _ store: (any RenditionStoring)? = nil, _ body: (ImagePipeline) async throws -> Void
    ) async throws {
        let pipeline = ImagePipeline(FakeCodec(), store: try store ?? folder.store())
        try await body(pipeline)
        await pipeline.close()
    }

    private func events(
        _ pipeline: ImagePipeline, _ request: ImageRequest
    ) async throws -> [ImageEvent.Kind] {
        var kinds: [ImageEvent.Kind] = []
        for try await event in pipeline.updates(for: request) { kinds.append(event.kind) }
        return kinds
    }

    @Test("is there once a rendition has been made, also when the store is opened again")
    func rendition() async throws {
        let path = try folder.write("a.fake", grey: 77, side: 40)
        try await use { pipeline in
            #expect(try await pipeline.facts(for: path).placeholder == nil)
            _ = try await pipeline.rendition(path, side: 20)
        }
        let expected = ThumbHash(
            TestImage.flat(PixelSize(width: 20, height: 20), .gray8, [77]))
        try await use { pipeline in
            let facts = try await pipeline.facts(for: path)
            #expect(facts.placeholder == expected)
            #expect(facts.formatName == "fake")
            #expect(facts.pixelSize == PixelSize(width: 40, height: 40))
        }
    }

    @Test("comes from a view's image, too, and needs no facts to be there before")
    func image() async throws {
        let path = try folder.write("a.fake", grey: 77, side: 40)
        try await use { _ = try await $0.image(path) }
        #expect(try placeholder(path, in: folder.store()) != nil)
    }

    @Test("is that of the image, whether it was decoded in planes or not")
    func planes() async throws {
        let image = TestImage.photograph(PixelSize(width: 300, height: 200), seed: 7)
        let path = folder.url.appending(path: "a.jpg").path
        let bytes = try ImageDestination(format: "jpeg", codecs: builtInCodecs).encode(image)
        try Data(bytes).write(to: URL(filePath: path))
        var configuration = ImagePipeline.Configuration()
        configuration.store = try folder.store()
        let pipeline = ImagePipeline(
            codecs: builtInCodecs, configuration: configuration, logger: .silent)
        _ = try await pipeline.rendition(
            for: RenditionRequest(
                image: ImageRequest(path: path, options: DecodeOptions(maximumSide: 200))))
        await pipeline.close()
        let hash = try #require(try placeholder(path, in: folder.store()))
        let comparison = PixelComparison(hash.image(), ThumbHash(image).image())
        #expect(comparison.maximumDifference <= 12, "\(comparison)")
    }

    @Test("is made once for each version of a file, whatever sizes it is shown at")
    func once() async throws {
        let path = try folder.write("a.fake", side: 40)
        for sides in [[20, 10, 30], [5, 35]] {
            let spy = SpyStore(try folder.store())
            try await use(spy) { pipeline in
                for side in sides { _ = try await pipeline.rendition(path, side: side) }
            }
            let made = spy.factInsertions.count { $0.placeholder != nil }
            #expect(made == (sides.count == 3 ? 1 : 0))
        }
    }

    @Test("is gone once the file has changed, until there is an image of what it is now")
    func changed() async throws {
        let path = try folder.write("a.fake", grey: 10, side: 40)
        try await use { _ = try await $0.rendition(path, side: 20) }
        let old = try #require(try placeholder(path, in: folder.store()))
        try folder.write("a.fake", grey: 200, side: 40)
        try await use { pipeline in
            for _ in 0..<2 {
                #expect(try await pipeline.facts(for: path).placeholder == nil)
            }
            _ = try await pipeline.rendition(path, side: 20)
        }
        let new = try #require(try placeholder(path, in: folder.store()))
        #expect(new != old)
    }

    @Test(
        "counts for nothing if it is damaged, and is made again with the next image",
        arguments: [
            "zeroblob(0)", "zeroblob(4)", "zeroblob(24)", "zeroblob(100000000)", "x'FFFFFFFFFF'",
            "'a text of twenty-four by'", "12345", "1.5",
        ])
    func damaged(_ value: String) async throws {
        let path = try folder.write("a.fake", side: 40)
        try await use { _ = try await $0.rendition(path, side: 20) }
        let store = try folder.store()
        store.write { try $0.execute(sql: "UPDATE original SET placeholder = \(value)") }
        let file = try FileIdentity(path: path)
        #expect(store.facts(of: [file])[file]?.formatName == "fake")
        #expect(try placeholder(path, in: store) == nil)
        try await use(store) { _ = try await $0.rendition(path, side: 10) }
        #expect(try placeholder(path, in: folder.store()) != nil)
    }

    @Test(
        "comes from nothing that shows less than the image, and not where nothing is to be kept")
    func others() async throws {
        let path = try folder.write("a.fake", side: 40)
        let box = PixelSize(width: 20, height: 10)
        try await use { pipeline in
            for mode in [ResizeMode.fill, .stretch] {
                let options = DecodeOptions(box: box, mode: mode)
                _ = try await pipeline.image(for: ImageRequest(path: path, options: options))
            }
            var lying = DecodeOptions(maximumSide: 20)
            lying.appliesOrientation = false
            _ = try await pipeline.image(for: ImageRequest(path: path, options: lying))
            var unkept = ImageRequest(path: path, options: DecodeOptions(maximumSide: 21))
            unkept.storeUse = .reads
            _ = try await pipeline.image(for: unkept)
        }
        #expect(try placeholder(path, in: folder.store()) == nil)
    }

    @Test(
        "is made when nothing else is to be done, unless too much memory waits for that",
        arguments: [LoadPriority.background, .visible])
    func priority(_ priority: LoadPriority) async throws {
        let codec = FakeCodec(isGated: true)
        let store = try folder.store()
        let pipeline = ImagePipeline(codec, store: store)
        let byteCount = priority == .visible ? 32 << 20 : 0
        pipeline.placeholders.pending.withLock { $0.byteCount = byteCount }
        let first = try folder.write("a.fake", grey: 1, side: 40)
        let second = try folder.write("b.fake", grey: 2, side: 40)
        let tasks = [first, second].map { path in
            Task { try await pipeline.rendition(path, side: 20) }
        }
        await eventually {
            pipeline.queues.decodes.busyCount == 1 && pipeline.queues.decodes.waitingCount == 1
        }
        // The other image is not begun, nor is what the first leaves behind.
        pipeline.queues.decodes.isSuspended = true
        codec.openGate(1)
        await eventually { pipeline.queues.decodes.waitingCount == 2 }
        #expect(pipeline.queues.decodes.waitingPriorities == [.visible, priority])
        #expect(pipeline.placeholders.pending.withLock { $0.files.count } == 1)
        #expect(pipeline.placeholders.pending.withLock { $0.byteCount } > byteCount)
        pipeline.queues.decodes.isSuspended = false
        codec.openGate(1)
        for task in tasks { _ = try await task.value }
        await pipeline.close()
        #expect(pipeline.placeholders.pending.withLock { $0.files.isEmpty })
        #expect(pipeline.placeholders.pending.withLock { $0.byteCount } == byteCount)
        for path in [first, second] {
            let store = try folder.store()
            #expect(try placeholder(path, in: store) != nil)
        }
    }

    @Test("is shown first of a file that is known, in the proportions that are asked for")
    func updates() async throws {
        let path = try folder.write("a.fake", grey: 77, side: 40)
        try await use { pipeline in
            let fresh = try await events(
                pipeline, ImageRequest(path: path, options: DecodeOptions(maximumSide: 20)))
            #expect(fresh.count == 1, "nothing was known of it")
        }
        let cases: [(DecodeOptions, PixelSize)] = [
            (DecodeOptions(), PixelSize(width: 32, height: 32)),
            (DecodeOptions(maximumSide: 10), PixelSize(width: 10, height: 10)),
            (
                DecodeOptions(box: PixelSize(width: 40, height: 20), mode: .fill),
                PixelSize(width: 32, height: 16)
            ),
        ]
        for (options, size) in cases {
            try await use { pipeline in
                let request = ImageRequest(path: path, options: options)
                let kinds = try await events(pipeline, request)
                try #require(kinds.count == 2)
                guard case .placeholder(let placeholder) = kinds[0], case .image = kinds[1] else {
                    Issue.record("\(kinds)")
                    return
                }
                #expect(placeholder.image.size == size)
                #expect(placeholder.isPreview)
                let expected = TestImage.flat(size, .rgb8, [77, 77, 77])
                #expect(PixelComparison(placeholder.image, expected).maximumDifference <= 4)
                let again = try await events(pipeline, request)
                #expect(again.count == 1, "the picture is in memory")
            }
        }
    }

    @Test("is not shown of a file that has changed, nor where a processor would change it")
    func noUpdate() async throws {
        let path = try folder.write("a.fake", side: 40)
        try await use { _ = try await $0.rendition(path, side: 20) }
        try await use { pipeline in
            let request = ImageRequest(.file(path), processors: [CountingProcessor(1)])
            let kinds = try await events(pipeline, request)
            #expect(kinds.count == 1)
        }
        try folder.write("a.fake", side: 40)
        try await use { pipeline in
            let kinds = try await events(pipeline, ImageRequest(path: path))
            #expect(kinds.count == 1)
        }
    }

    @Test("is text wherever facts are written down")
    func coding() throws {
        let hash = ThumbHash(TestImage.photograph(PixelSize(width: 30, height: 20), seed: 1))
        let facts = ImageFacts(
            formatName: "png", mediaType: "image/png", pixelSize: PixelSize(width: 3, height: 2),
            placeholder: hash)
        let data = try JSONEncoder().encode(facts)
        #expect(String(decoding: data, as: UTF8.self).contains("\"placeholder\":\""))
        #expect(try JSONDecoder().decode(ImageFacts.self, from: data) == facts)
        #expect(throws: (any Error).self) {
            try JSONDecoder().decode(ThumbHash.self, from: Data("\"AAAA\"".utf8))
        }
    }
}

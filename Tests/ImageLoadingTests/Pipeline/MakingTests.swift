// SPDX-License-Identifier: Apache-2.0

import LoadingTesting
import LoadScheduling
import EncodedImages
import Foundation
import ImageTesting
import Pixels
import Synchronization
import Testing

@testable import ImageLoading

@Suite("The making of images and renditions", .timeLimit(.minutes(5))) struct MakingTests {
    private let folder, otherFolder: TestFolder

    init() throws { (folder, otherFolder) = (try TestFolder(), try TestFolder()) }

    /// Everything below a pipeline.
    private struct Parts {
        let resources: PipelineResources
        let originals: OriginalLoading
        let placeholders: PlaceholderKeeping
        let images: ImageMaking
        let renditions: RenditionMaking

        init(
            _ codec: FakeCodec, store: (any RenditionStoring)? = nil,
            shared: (any SharedRenditionStoring)? = nil
        ) {
            var configuration = ImagePipeline.Configuration()
            configuration.decodeThreadCount = 1
            configuration.store = store
            configuration.sharedStore = shared
            resources = PipelineResources(
                codecs: CodecSet([codec]), configuration: configuration, logger: .silent)
            originals = OriginalLoading(resources, web: nil)
            placeholders = PlaceholderKeeping(resources)
            images = ImageMaking(resources, originals, placeholders, configuration)
            renditions = RenditionMaking(resources, images, originals, configuration)
        }
    }

    @Test("decodes, processes and remembers an image") func image() async throws {
        let codec = FakeCodec()
        let parts = Parts(codec)
        let bytes = EncodedBytes(FakeCodec.file(PixelSize(width: 8, height: 8), grey: 0))
        let processor = CountingProcessor(3)
        let request = ImageRequest(.bytes(bytes, name: "a"), processors: [processor])
        for _ in 0..<2 {
            let made = try await parts.images.image(
                for: request, ImageMaking.Loads.Consumer(urgency: .fixed(.visible)))
            #expect(made.loaded.image.trail == 3)
            #expect(made.isCurrent)
        }
        #expect(codec.decodes == [0])
        #expect(processor.applicationCount == 1)
        #expect(parts.images.loadCount == 0)
        #expect(parts.images.imageInMemory(ImageKey(request, of: .named("a"))) != nil)
    }

    @Test(
        "reads the file status and changes threads as seldom as possible for a cold rendition",
        arguments: [true, false])
    func costOfRendition(isIdentityKnown: Bool) async throws {
        let parts = Parts(FakeCodec(), store: try folder.store())
        let path = try folder.write("a.fake", grey: 7, side: 40)
        // A placeholder of the file is pending already, so that no other one is made.
        let file = try FileIdentity(path: path)
        _ = parts.placeholders.pending.withLock { $0.files.insert(file) }
        var request = RenditionRequest.fake(path, side: 20)
        if isIdentityKnown { request.image.fileIdentity = file }
        let story = LoadMetrics()
        let rendition = try await parts.renditions.rendition(
            for: request, .fixed(.visible), story)
        #expect(rendition.bytes == FakeCodec.file(PixelSize(width: 20, height: 20), grey: 7))
        #expect(rendition.original == OriginalVersion(file))
        // Look-up in the store, read, decode, encode.
        #expect(parts.resources.queues.submittedCount == 4)
        // Without a known identity one before the file is read; in any case one after it was decoded.
        #expect(parts.resources.files.readCount == (isIdentityKnown ? 1 : 2))
        #expect(story.steps.map(\.stage) == [.load, .decode, .encode])
    }

    /// A shared store in memory that counts its lookups.
    private final class SharedMemory: SharedRenditionStoring {
        private let state = Mutex<(stored: [RenditionKey: Rendition], lookupCount: Int)>(([:], 0))
        /// The keys whose requests have ended.
        private let endedKeys = Mutex<[RenditionKey]>([])

        var ended: [RenditionKey] { endedKeys.withLock { $0 } }
        var stored: [RenditionKey: Rendition] { state.withLock { $0.stored } }
        var lookupCount: Int { state.withLock { $0.lookupCount } }

        func rendition(for key: RenditionKey) async -> Rendition? {
            state.withLock { state in
                state.lookupCount += 1
                return state.stored[key]
            }
        }

        func insert(_ rendition: Rendition, for key: RenditionKey) {
            #expect(ended.isEmpty)
            state.withLock { $0.stored[key] = rendition }
        }

        func endMaking(of key: RenditionKey) { endedKeys.withLock { $0.append(key) } }
        func dropWaiting(of name: String) {}
        func removeAll(of name: String) async throws(LoadError) {}
    }

    @Test("makes a rendition once for all pipelines that share a store") func sharedStore()
        async throws
    {
        let shared = SharedMemory()
        let path = try folder.write("a.fake", grey: 7, side: 40)
        let request = RenditionRequest.fake(path, side: 20)
        let maker = Parts(FakeCodec(), store: try folder.store(), shared: shared)
        let made = try await maker.renditions.rendition(for: request, .fixed(.visible), nil)
        #expect(shared.stored.count == 1)
        #expect(shared.ended == Array(shared.stored.keys))
        // Another machine: the same file, an empty store of its own.
        let codec = FakeCodec()
        let store = try otherFolder.store()
        let other = Parts(codec, store: store, shared: shared)
        for _ in 0..<2 {
            let found = try await other.renditions.rendition(for: request, .fixed(.visible), nil)
            #expect(found == made)
        }
        #expect(codec.decodes.isEmpty)
        // The first lookup of the maker, and one of the other, which then has a copy.
        #expect(shared.lookupCount == 2)
        #expect(store.statistics.entryCount == 1)
    }

    @Test("ends the making of a rendition whose original cannot be decoded")
    func endOfFailure() async throws {
        let shared = SharedMemory()
        let path = try folder.write("a.fake")
        try Data([0, 1, 2]).write(to: URL(filePath: path))
        let parts = Parts(FakeCodec(), store: try folder.store(), shared: shared)
        await #expect(throws: LoadError.self) {
            _ = try await parts.renditions.rendition(
                for: .fake(path, side: 20), .fixed(.visible), nil)
        }
        #expect(shared.ended.count == 1)
    }

    @Test("keeps renditions of other than files out of the shared store") func sharedFilesOnly()
        async throws
    {
        let shared = SharedMemory()
        let parts = Parts(FakeCodec(), store: try folder.store(), shared: shared)
        let bytes = EncodedBytes(FakeCodec.file(PixelSize(width: 8, height: 8), grey: 0))
        let request = RenditionRequest(
            image: ImageRequest(.bytes(bytes, name: "a")), format: "fake")
        _ = try await parts.renditions.rendition(for: request, .fixed(.visible), nil)
        #expect(shared.stored.isEmpty && shared.lookupCount == 0)
    }

    @Test("makes the rendition of the new version of a file whose known identity is old")
    func replacedFile() async throws {
        let codec = FakeCodec()
        let store = try folder.store()
        let parts = Parts(codec, store: store)
        let path = try folder.write("a.fake", grey: 1)
        let old = try FileIdentity(path: path)
        try folder.write("a.fake", grey: 2)
        var request = RenditionRequest.fake(path, side: 2)
        request.image.fileIdentity = old
        let rendition = try await parts.renditions.rendition(
            for: request, .fixed(.visible), nil)
        #expect(rendition.bytes == FakeCodec.file(PixelSize(width: 2, height: 2), grey: 2))
        #expect(rendition.original == OriginalVersion(try FileIdentity(path: path)))
        #expect(store.rendition(for: RenditionKey(OriginalVersion(old), request)) == nil)
    }

    @Test("reports a file that has been removed since its identity was read")
    func removedFile() async throws {
        let parts = Parts(FakeCodec())
        let path = try folder.write("a.fake")
        let request = ImageRequest(file: try FileIdentity(path: path))
        try FileManager.default.removeItem(atPath: path)
        await #expect(throws: LoadError.notFound(path: path)) {
            _ = try await parts.images.image(
                for: request, ImageMaking.Loads.Consumer(urgency: .fixed(.visible)))
        }
    }

    @Test("waits for memory without holding a decode thread") func fullBudget() async throws {
        let parts = Parts(FakeCodec())
        let budget = parts.resources.budget
        let held = try await budget.reserve(budget.byteLimit)
        let path = try folder.write("a.fake", grey: 3, side: 40)
        let task = Task {
            try await parts.renditions.rendition(
                for: .fake(path, side: 20), .fixed(.visible), nil
            ).pixelSize.width
        }
        await eventually { budget.waitingCount == 1 }
        await eventually { parts.resources.queues.decodes.busyCount == 0 }
        held.release()
        #expect(try await task.value == 20)
    }

    @Test("reads facts from the header, then from the store") func facts() async throws {
        let codec = FakeCodec()
        let file = try FileIdentity(path: folder.write("a.fake", side: 12))
        let resources = PipelineResources(codec) { [folder] in $0.store = try? folder.store() }
        let reading = FactReading(resources: resources)
        #expect(try await reading.storedFacts(of: [file]) == [:])
        let facts = await reading.facts(of: [file])
        #expect(try facts.first?.get().pixelSize == PixelSize(width: 12, height: 12))
        #expect(try await reading.storedFacts(of: [file])[file] == (try facts[0].get()))
        #expect(codec.decodes.isEmpty)
    }

    @Test("draws the placeholder that the first image of a file has left")
    func placeholder() async throws {
        let parts = Parts(FakeCodec(), store: try folder.store())
        let path = try folder.write("a.fake", grey: 9, side: 40)
        let request = ImageRequest(path: path, options: DecodeOptions(maximumSide: 20))
        #expect(await parts.placeholders.image(for: request, .fixed(.visible)) == nil)
        _ = try await parts.images.image(
            for: request, ImageMaking.Loads.Consumer(urgency: .fixed(.visible)))
        await eventually { parts.placeholders.pending.withLock { $0.files.isEmpty } }
        let drawn = await parts.placeholders.image(for: request, .fixed(.visible))
        #expect(drawn?.isPreview == true)
        #expect(drawn?.originalSize == PixelSize(width: 40, height: 40))
    }

    @Test("works with nothing but the codecs") func defaults() async throws {
        let pipeline = ImagePipeline(codecs: CodecSet([FakeCodec()]))
        #expect(try await pipeline.grey(folder.write("a.fake", grey: 4)) == 4)
        await pipeline.close()
    }
}

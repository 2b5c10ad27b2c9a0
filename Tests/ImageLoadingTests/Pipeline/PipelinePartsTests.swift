// SPDX-License-Identifier: Apache-2.0

import LoadingTesting
import DiskStore
import HTTPCaching
import LoadScheduling
import EncodedImages
import Foundation
import ImageTesting
import Pixels
import Testing

@testable import ImageLoading

extension PipelineResources {
    /// The resources of a pipeline with one format and one decode thread.
    init(
        _ codec: FakeCodec, _ change: (inout ImagePipeline.Configuration) -> Void = { _ in }
    ) {
        var configuration = ImagePipeline.Configuration()
        configuration.decodeThreadCount = 1
        change(&configuration)
        self.init(codecs: CodecSet([codec]), configuration: configuration, logger: .silent)
    }
}

@Suite("File identities", .timeLimit(.minutes(5))) struct FileIdentitiesTests {
    private let folder: TestFolder
    private let resources = PipelineResources(FakeCodec())
    private var files: FileIdentities { resources.files }

    init() throws { folder = try TestFolder() }

    @Test("of a request are used without reading the file") func carried() async throws {
        let path = try folder.write("a.fake")
        let file = try FileIdentity(path: path)
        let request = ImageRequest(file: file)
        #expect(try await files.original(of: request, .fixed(.visible)) == .file(file))
        #expect(files.readCount == 0)
        #expect(files.latestOriginal(of: ImageRequest(path: path)) == .file(file))
    }

    @Test("of another file than the source of the request are ignored") func otherSource() throws {
        var request = ImageRequest(file: try FileIdentity(path: folder.write("a.fake")))
        request.source = .file(try folder.write("b.fake"))
        #expect(request.knownOriginal == nil)
        #expect(files.known(request) == nil)
    }

    @Test("are read once, and dropped on demand") func read() async throws {
        let path = try folder.write("a.fake")
        let request = ImageRequest(path: path)
        #expect(files.latestOriginal(of: request) == nil)
        let original = try await files.original(of: request, .fixed(.visible))
        #expect(files.readCount == 1)
        #expect(files.latestOriginal(of: request) == original)
        #expect(files.remove(path) == (try FileIdentity(path: path)))
        #expect(files.latestOriginal(of: request) == nil)
    }

    @Test("differ once the file has been replaced") func replaced() throws {
        let path = try folder.write("a.fake")
        let file = try files.read(path)
        #expect(try files.isCurrent(file))
        try folder.write("a.fake", grey: 2)
        #expect(try !files.isCurrent(file))
        #expect(files.readCount == 3)
    }
}

@Suite("The loading of originals", .timeLimit(.minutes(5))) struct OriginalLoadingTests {
    private let folder: TestFolder
    private let originals = OriginalLoading(PipelineResources(FakeCodec()), web: nil)

    init() throws { folder = try TestFolder() }

    private func load(_ request: ImageRequest) async throws(LoadError) -> LoadedOriginal {
        var original = request.knownOriginal
        if original == nil { original = .file(try FileIdentity(path: request.source.name)) }
        guard let original else { throw .cancelled }
        return try await originals.data(
            for: request, originals.key(request, of: original),
            OriginalLoading.Loads.Consumer(urgency: .fixed(.visible)))
    }

    @Test("reads files, and returns bytes in memory as they are") func sources() async throws {
        let path = try folder.write("a.fake", grey: 5)
        let bytes = FakeCodec.file(PixelSize(width: 4, height: 4), grey: 5)
        let read = try await load(ImageRequest(path: path))
        #expect(read.bytes.withBytes { contentHash($0) } == contentHash(bytes))
        #expect(read.original == OriginalVersion(try FileIdentity(path: path)))
        let named = try await load(ImageRequest(.bytes(EncodedBytes(bytes), name: "a")))
        #expect(named.original == OriginalVersion("a", version: "0"))
    }

    @Test("refuses URLs without a loader for the network") func noNetwork() async throws {
        let request = ImageRequest(.url(try HTTPURL(HTTPFixture.address)))
        await #expect {
            _ = try await load(request)
        } throws: { error in
            if case LoadError.addressRefused = error { true } else { false }
        }
    }

    @Test("shares a load among equal requests, unless one shares nothing") func shared()
        async throws
    {
        let loader = FakeLoader()
        var request = ImageRequest(.loader(loader, name: "a"))
        let tasks = (0..<2).map { _ in
            Task { [request] in try await load(request).bytes.count }
        }
        let key = originals.key(request, of: .named("a"))
        await eventually { originals.consumerCount(key) == 2 }
        request.isShared = false
        #expect(originals.key(request, of: .named("a")) != key)
        let alone = Task { [request] in try await load(request).bytes.count }
        await loader.started(2)
        #expect(originals.loadCount == 2)
        alone.cancel()
        await #expect(throws: LoadError.cancelled) { try await alone.value }
        for task in tasks { task.cancel() }
        await eventually { originals.loadCount == 0 }
    }
}

@Suite("Gathered sizes") struct GatheredSizesStateTests {
    private let sizes = GatheredSizes()
    private let key = ImageLoadKey(image: ImageKey(original: .named("a")))

    private func source(hasPlanes: Bool = false) throws -> ImageSource {
        let file = FakeCodec.file(PixelSize(width: 640, height: 640), grey: 1)
        return try ImageSource(
            EncodedBytes(file), codecs: CodecSet([FakeCodec(hasPlanes: hasPlanes)]))
    }

    @Test("wait for a running decode that makes the same planes") func planes() throws {
        func add(_ side: Int) -> GatheredSizes.DecodeNumber {
            sizes.add(DecodeOptions(maximumSide: side), to: key, as: sizes.makeTicket())
        }
        let first = add(100)
        let source = try source(hasPlanes: true)
        #expect(sizes.take(first, key, of: source).count == 1)
        sizes.begin(first, key, source, DecodeOptions(maximumSide: 100))
        #expect(add(60) == first)
        let second = add(40)
        #expect(second != first)
        #expect(sizes.take(second, key, of: source) == [DecodeOptions(maximumSide: 40)])
        #expect(add(50) == first)
        sizes.end(first, key)
        let third = add(60)
        #expect(third != first && third != second)
        #expect(sizes.count(key) == 5)
    }

    @Test("are taken after those that are made of the same planes as the first") func alike() throws
    {
        let decodes = [100, 40, 60].map {
            sizes.add(DecodeOptions(maximumSide: $0), to: key, as: sizes.makeTicket())
        }
        let source = try source(hasPlanes: true)
        #expect(
            sizes.take(decodes[0], key, of: source)
                == [100, 60, 40].map { DecodeOptions(maximumSide: $0) })
    }

    @Test("are taken once, the one that waits longest first") func order() throws {
        let wanted = [20, 40, 20, 10].map { DecodeOptions(maximumSide: $0) }
        let decodes = wanted.map { sizes.add($0, to: key, as: sizes.makeTicket()) }
        #expect(Set(decodes).count == 1)
        #expect(sizes.count(key) == 4)
        let source = try source()
        #expect(sizes.take(decodes[0], key, of: source) == [wanted[0], wanted[1], wanted[3]])
        let next = sizes.add(wanted[0], to: key, as: sizes.makeTicket())
        #expect(next != decodes[0])
        #expect(sizes.take(next, key, of: source) == [wanted[0]])
    }

    @Test("are not decoded once they have been removed") func removed() throws {
        let ticket = sizes.makeTicket()
        let decode = sizes.add(DecodeOptions(maximumSide: 20), to: key, as: ticket)
        sizes.remove(ticket, from: key)
        #expect(sizes.count(key) == 0)
        #expect(sizes.take(decode, key, of: try source()) == [])
    }
}

@Suite("Kept facts") struct KeptFactsTests {
    @Test("survive encoding, and are refused without a file behind them") func bytes() {
        let facts = StoredFacts(
            originalSize: PixelSize(width: 4000, height: 3000), isOriginalScalable: true,
            freshUntil: 1_700_000_000, originalFrameCount: 7)
        #expect(facts.bytes.count == StoredFacts.byteCount)
        #expect(StoredFacts(facts.bytes + [0]) == facts)
        #expect(StoredFacts(facts.bytes) == nil)
        #expect(StoredFacts([UInt8](repeating: 0, count: StoredFacts.byteCount + 1)) == nil)
    }
}

@Suite("Image memory lookups") struct MemoryLookupTests {
    private let memory = MemoryCache(byteLimit: 1 << 20, budget: MemoryBudget(byteLimit: 1 << 20))

    @Test("find larger images only for requests that are not reproducible") func larger() {
        let lookup = MemoryLookup(memory: memory, web: nil)
        let key = ImageKey(original: .named("a"))
        let size = PixelSize(width: 40, height: 40)
        memory.insert(
            LoadedImage(TestImage.flat(size, .gray8, [1]), key: key, originalSize: size))
        let options = DecodeOptions(maximumSide: 10)
        var request = ImageRequest(.bytes(EncodedBytes([]), name: "a"), options: options)
        let small = ImageKey(request, of: .named("a"))
        #expect(lookup.exactImage(key) != nil)
        #expect(lookup.image(small, for: request) == nil)
        request.precision = .atLeast
        #expect(lookup.image(small, for: request)?.loaded.image.size == size)
        request.isReproducible = true
        #expect(lookup.image(small, for: request) == nil)
        request.memoryUse = .writes
        #expect(lookup.image(key, for: request) == nil)
    }
}

// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageTesting
import LoadingTesting
import LoadScheduling
import Pixels
import Testing

@testable import ImageLoading

@Suite("The pipeline", .timeLimit(.minutes(5))) struct ImagePipelineTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test("does not decode an image in memory again")
    func memory() async throws {
        let codec = FakeCodec()
        let pipeline = ImagePipeline(codec)
        let path = try folder.write("a.fake", grey: 7)
        for _ in 0..<3 { #expect(try await pipeline.grey(path) == 7) }
        #expect(codec.decodes == [7])
    }

    @Test("does not encode a stored rendition again, also in another process")
    func store() async throws {
        let codec = FakeCodec()
        let path = try folder.write("a.fake", grey: 7)
        for _ in 0..<3 {
            let pipeline = ImagePipeline(codec, store: try folder.store())
            let rendition = try await pipeline.rendition(path, side: 2)
            #expect(rendition.bytes == FakeCodec.file(PixelSize(width: 2, height: 2), grey: 7))
            #expect(rendition.pixelSize == PixelSize(width: 2, height: 2))
            #expect(rendition.mediaType == "image/x-fake")
            await pipeline.close()
        }
        #expect(codec.decodes == [7])
    }

    @Test("shows the new version of a replaced file, and nothing of the old one")
    func replacedFile() async throws {
        let codec = FakeCodec()
        let pipeline = ImagePipeline(codec, store: try folder.store())
        let path = try folder.write("a.fake", grey: 1)
        #expect(try await pipeline.grey(path) == 1)
        let old = try await pipeline.rendition(path, side: 2)
        try folder.write("a.fake", grey: 2)
        #expect(try await pipeline.grey(path) == 2)
        let new = try await pipeline.rendition(path, side: 2)
        #expect(new.bytes == FakeCodec.file(PixelSize(width: 2, height: 2), grey: 2))
        #expect(new.original != old.original)
        #expect(new.original.version != old.original.version)
    }

    @Test("stores nothing for a file that was replaced while it was read")
    func replacedMeanwhile() async throws {
        let codec = FakeCodec(isGated: true)
        let pipeline = ImagePipeline(codec)
        let path = try folder.write("a.fake", grey: 1)
        let task = Task { try await pipeline.grey(path) }
        #expect(await codec.nextEvent() == .began(1))
        try folder.write("a.fake", grey: 2)
        codec.openGate(2)
        #expect(try await task.value == 2)
        #expect(try await pipeline.grey(path) == 2)
        #expect(codec.decodes == [1, 2])
    }

    @Test("serves from memory and store while all decode threads are blocked")
    func heldUp() async throws {
        let free = FakeCodec()
        let kept = try folder.write("kept.fake", grey: 1)
        let filling = ImagePipeline(free, store: try folder.store())
        _ = try await filling.rendition(kept, side: 2)
        await filling.close()

        let codec = FakeCodec(isGated: true)
        let pipeline = ImagePipeline(codec, store: try folder.store())
        let inMemory = try folder.write("memory.fake", grey: 2)
        codec.openGate(1)
        #expect(try await pipeline.grey(inMemory) == 2)
        let blocking = try folder.write("blocking.fake", grey: 3)
        let blocked = Task { try await pipeline.grey(blocking) }
        while await codec.nextEvent() != .began(3) {}

        #expect(try await pipeline.grey(inMemory) == 2)
        #expect(try await pipeline.rendition(kept, side: 2).pixelSize.width == 2)
        #expect(try await pipeline.facts(for: blocking).formatName == "fake")
        codec.openGate(1)
        #expect(try await blocked.value == 3)
    }

    @Test("rejects work beyond the maximum number that waits")
    func queueFull() async throws {
        let codec = FakeCodec(isGated: true)
        let pipeline = ImagePipeline(codec) { $0.maximumQueuedDecodeCount = 1 }
        let paths = try (UInt8(0)..<3).map { try folder.write("\($0).fake", grey: $0) }
        let running = Task { try await pipeline.grey(paths[0]) }
        #expect(await codec.nextEvent() == .began(0))
        let waiting = Task { try await pipeline.grey(paths[1]) }
        await eventually { pipeline.queues.decodes.waitingCount == 1 }
        await #expect(throws: LoadError.queueFull) { try await pipeline.grey(paths[2]) }
        codec.openGate(2)
        #expect(try await running.value == 0)
        #expect(try await waiting.value == 1)
    }

    @Test("reports what is wrong with a file, with its path")
    func failures() async throws {
        let pipeline = ImagePipeline(FakeCodec(), store: try folder.store())
        let missing = folder.url.appending(path: "missing.fake").path
        await #expect(throws: LoadError.notFound(path: missing)) {
            try await pipeline.grey(missing)
        }
        await #expect(throws: LoadError.notFound(path: missing)) {
            try await pipeline.facts(for: missing)
        }
        await #expect(
            throws: LoadError.unreadable(path: folder.url.path, reason: "not a regular file")
        ) { try await pipeline.rendition(folder.url.path, side: 2) }
        let foreign = folder.url.appending(path: "foreign.fake").path
        try Data("no picture".utf8).write(to: URL(filePath: foreign))
        await #expect(throws: LoadError.decodingFailed(path: foreign, .unknownFormat)) {
            try await pipeline.grey(foreign)
        }
        let originals = [try FileIdentity(path: foreign)]
        let facts = await pipeline.facts(for: originals)
        #expect(facts == [.failure(.decodingFailed(path: foreign, .unknownFormat))])
    }
}

// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageTesting
import LoadingTesting
import Pixels
import Sprites
import Testing

@testable import ImageLoading

@Suite("Files whose names are equivalent") struct EquivalentNameTests {
    private let folder: TestFolder
    /// A file for each of the names, of a grey and a side of its own.
    private let paths: [String]

    init() throws {
        let folder = try TestFolder()
        self.folder = folder
        paths = try EquivalentNames.all.enumerated().map { index, name in
            try folder.write("\(name).fake", grey: UInt8(index + 1), side: index + 4)
        }
    }

    private var identities: [FileIdentity] {
        get throws { try paths.map { path in try FileIdentity(path: path) } }
    }

    @Test("are different originals")
    func identity() throws {
        let identities = try identities
        #expect(Set(identities.map(\.inode)).count == paths.count, "the names are of one file")
        #expect(Set(identities).count == paths.count)
        #expect(Set(identities.map { OriginalIdentity.file($0) }).count == paths.count)
        #expect(Set(paths.map { OriginalIdentity.named($0) }).count == paths.count)
        #expect(Set(paths.map { OriginalIdentity.url($0) }).count == paths.count)
        #expect(Set(paths.map { OriginalVersion($0, version: "1") }).count == paths.count)
        #expect(Set(paths.map { ImageRequest(path: $0).identity }).count == paths.count)
        let pyramid = TilePyramid(PixelSize(width: 9, height: 9))
        let tiles = paths.map { TileSetKey(name: $0, pyramid: pyramid, encoding: "") }
        #expect(Set(tiles).count == paths.count)
    }

    @Test("have separate facts in the store, and are removed one by one")
    func facts() throws {
        let store = try folder.store()
        defer { store.close() }
        let identities = try identities
        var facts: [FileIdentity: ImageFacts] = [:]
        for (index, identity) in identities.enumerated() {
            facts[identity] = ImageFacts(
                formatName: "fake", mediaType: "image/x-fake",
                pixelSize: PixelSize(width: index + 1, height: 1))
        }
        store.insert(facts)
        #expect(store.facts(of: identities) == facts)
        store.removeAll(of: paths[0])
        #expect(store.facts(of: identities) == facts.filter { $0.key != identities[0] })
    }

    @Test("have separate images, renditions and facts in a pipeline")
    func pipeline() async throws {
        let store = try folder.store()
        let pipeline = ImagePipeline(FakeCodec(), store: store)
        // The second time from memory and from the store.
        for round in 0..<2 {
            for (index, path) in paths.enumerated() {
                #expect(try await pipeline.grey(path) == UInt8(index + 1), "round \(round)")
                let rendition = try await pipeline.rendition(path, side: 2)
                let file = FakeCodec.file(
                    PixelSize(width: 2, height: 2), grey: UInt8(index + 1))
                #expect(rendition.bytes == file, "round \(round)")
                #expect(rendition.original == OriginalVersion(try FileIdentity(path: path)))
            }
            let facts = await pipeline.facts(for: try identities)
            #expect(try facts.map { try $0.get().pixelSize.width } == paths.indices.map { $0 + 4 })
        }
        let count = store.statistics.entryCount
        try await pipeline.removeAll(of: paths[0])
        #expect(store.statistics.entryCount < count)
        for (index, path) in paths.enumerated() {
            let cached = pipeline.cachedImage(for: ImageRequest(path: path))
            #expect((cached == nil) == (index == 0))
        }
        await pipeline.close()
    }

    @Test("have separate sprites in an index")
    func sprites() {
        let names = EquivalentNames.all
        let index = SpriteIndex(
            size: PixelSize(width: 100, height: 1),
            sprites: names.enumerated().map { number, name in
                SpriteIndex.Sprite(name, PixelRect(x: number, y: 0, width: 1, height: 1))
            })
        #expect(names.map { index[$0]?.x } == names.indices.map { $0 })
    }

    @Test("may have been changed after 2262, which 64 bits of nanoseconds do not reach")
    func lateTime() throws {
        var times = [timespec(), timespec()]
        for seconds in [9_300_000_000, 99_999_999_999, -9_300_000_000] {
            for index in times.indices { times[index].tv_sec = seconds }
            let path = paths[0]
            try #require(unsafe utimensat(AT_FDCWD, path, times, 0) == 0)
            let identity = try FileIdentity(path: path)
            #expect(identity.version.count == 13)
            #expect(try FileIdentity(path: path) == identity)
        }
        #expect(nanoseconds(seconds: .max, nanoseconds: 1) == .max)
        #expect(nanoseconds(seconds: .min, nanoseconds: 1) == .min)
        #expect(nanoseconds(seconds: 9_223_372_036, nanoseconds: 854_775_808) == .max)
        #expect(nanoseconds(seconds: 1, nanoseconds: 2) == 1_000_000_002)
    }
}

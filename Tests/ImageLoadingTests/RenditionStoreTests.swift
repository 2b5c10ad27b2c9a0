// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import GRDB
import ImageTesting
import LoadingTesting
import LoadScheduling
import Pixels
import Testing

@testable import ImageLoading

@Suite("The rendition store") struct RenditionStoreTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func key(_ name: String, side: Int = 2) throws -> RenditionKey {
        let path = folder.url.appending(path: name).path
        return RenditionKey(OriginalVersion(try FileIdentity(path: path)), .fake(path, side: side))
    }

    /// A rendition of `byteCount` bytes of the original that a key names.
    private func rendition(_ key: RenditionKey, byteCount: Int = 100) -> Rendition {
        Rendition(
            bytes: (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 * 7) },
            mediaType: "image/x-fake", pixelSize: PixelSize(width: 3, height: 4),
            original: key.original)
    }

    @Test("returns inserted renditions, also when opened again and to another process")
    func roundTrip() throws {
        try folder.write("a.fake")
        let key = try key("a.fake")
        let first = try folder.store()
        let second = try folder.store()
        #expect(first.rendition(for: key) == nil)
        first.insert(rendition(key), for: key)
        #expect(first.rendition(for: key) == rendition(key))
        #expect(second.rendition(for: key) == rendition(key))
        first.close()
        second.close()
        let again = try folder.store()
        #expect(again.rendition(for: key) == rendition(key))
        #expect(again.byteCount == 100)
    }

    @Test("distinguishes requests and originals")
    func keys() throws {
        try folder.write("a.fake")
        let store = try folder.store()
        let small = try key("a.fake", side: 2)
        store.insert(rendition(small), for: small)
        #expect(store.rendition(for: try key("a.fake", side: 3)) == nil)
        try folder.write("a.fake")
        #expect(store.rendition(for: try key("a.fake", side: 2)) == nil, "the file was replaced")
    }

    @Test("distinguishes target similarities") func similarities() {
        var request = RenditionRequest.fake("a.fake", side: 2)
        let texts = [nil, 0.9, 0.95].map { target in
            request.encodeOptions.targetSSIM = target
            return RenditionKey.text(request)
        }
        #expect(Set(texts).count == 3)
    }

    @Test("evicts the least recently used, and counts every byte")
    func eviction() throws {
        let store = try folder.store(byteLimit: 1_000)
        var keys: [RenditionKey] = []
        for index in 0..<10 {
            try folder.write("\(index).fake")
            keys.append(try key("\(index).fake"))
            store.insert(rendition(keys[index]), for: keys[index])
        }
        #expect(store.byteCount == 1_000)
        #expect(store.rendition(for: keys[0]) != nil)
        try folder.write("last.fake")
        let last = try key("last.fake")
        store.insert(rendition(last, byteCount: 150), for: last)
        #expect(store.byteCount == 950)
        let kept = keys.indices.filter { store.rendition(for: keys[$0]) != nil }
        #expect(kept == [0, 3, 4, 5, 6, 7, 8, 9])
        store.insert(rendition(last, byteCount: 1_001), for: last)
        #expect(store.byteCount == 950, "one larger than the limit is not kept")
        store.close()
        #expect(try folder.store(byteLimit: 500).byteCount <= 500, "the limit has become lower")
    }

    @Test("removes a rendition whose bytes are damaged")
    func damagedBytes() throws {
        try folder.write("a.fake")
        let key = try key("a.fake")
        let store = try folder.store()
        store.insert(rendition(key), for: key)
        store.write { db in
            try db.execute(sql: "UPDATE content SET bytes = zeroblob(100)")
        }
        #expect(store.rendition(for: key) == nil)
        #expect(store.byteCount == 0)
        store.insert(rendition(key), for: key)
        #expect(store.rendition(for: key) == rendition(key))
    }

    @Test("moves aside a file that is no database, is damaged or of another version")
    func replaced() throws {
        try folder.write("a.fake")
        let key = try key("a.fake")
        for round in 0..<3 {
            let store = try folder.store()
            store.insert(rendition(key), for: key)
            if round == 1 { store.write { try $0.execute(sql: "PRAGMA user_version = 99") } }
            store.close()
            let file = URL(filePath: folder.databasePath)
            var bytes = try Data(contentsOf: file)
            if round == 0 { bytes = Data("this is no database".utf8) }
            if round == 2 { bytes.replaceSubrange(100..<4_096, with: Data(count: 3_996)) }
            try bytes.write(to: file)
            let again = try folder.store()
            #expect(again.rendition(for: key) == nil, "round \(round)")
            again.insert(rendition(key), for: key)
            #expect(again.rendition(for: key) == rendition(key), "round \(round)")
            again.close()
        }
    }

    @Test("continues with a new database when the open one is damaged")
    func damagedWhileOpen() throws {
        try folder.write("a.fake")
        let key = try key("a.fake")
        let filler = try folder.store()
        filler.insert(rendition(key, byteCount: 50_000), for: key)
        filler.close()
        let store = try folder.store()
        // Every page but the first, behind SQLite's back.
        let file = try FileHandle(forUpdating: URL(filePath: folder.databasePath))
        let byteCount = try file.seekToEnd()
        try file.seek(toOffset: 4_096)
        try file.write(contentsOf: Data(repeating: 0xA5, count: Int(byteCount) - 4_096))
        try file.close()
        #expect(store.rendition(for: key) == nil)
        store.insert(rendition(key), for: key)
        #expect(store.rendition(for: key) == rendition(key))
    }

    @Test("returns facts until the file changes")
    func facts() async throws {
        let path = try folder.write("a.fake", side: 4)
        let store = try folder.store()
        let pipeline = ImagePipeline(FakeCodec(), store: store)
        #expect(try await pipeline.facts(for: path).pixelSize == PixelSize(width: 4, height: 4))
        let original = try FileIdentity(path: path)
        #expect(store.facts(of: [original])[original]?.formatName == "fake")
        try folder.write("a.fake", side: 9)
        #expect(try await pipeline.facts(for: path).pixelSize == PixelSize(width: 9, height: 9))
    }

    @Test("is private to its user, in the directory of the environment")
    func place() throws {
        _ = try folder.store()
        for path in [folder.storeDirectory, folder.databasePath] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            let permissions = try #require(attributes[.posixPermissions] as? Int)
            #expect(permissions & 0o077 == 0, "\(path)")
        }
        let directory = RenditionStore.defaultDirectory
        #expect(directory(["XDG_CACHE_HOME": "/c", "HOME": "/h"]) == "/c/calotype")
        #expect(directory(["XDG_CACHE_HOME": "c", "HOME": "/h"]) == "/h/.cache/calotype")
        #expect(directory(["HOME": "/h"]) == "/h/.cache/calotype")
        #expect(throws: LoadError.self) {
            _ = try RenditionStore(
                directory: "\(folder.databasePath)/store", byteLimit: 1, logger: .silent)
        }
    }
}

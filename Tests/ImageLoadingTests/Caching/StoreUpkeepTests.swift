// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import GRDB
import LoadingTesting
import Pixels
import Testing

@testable import ImageLoading

@Suite("S22: The store on disk", .timeLimit(.minutes(10))) struct StoreUpkeepTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func key(_ name: String) -> RenditionKey {
        RenditionKey(OriginalVersion(name, version: "1"), request: "r")
    }

    private func insert(_ name: String, byteCount: Int = 100, into store: RenditionStore) {
        store.insert(
            Rendition(
                bytes: Array(repeating: 7, count: byteCount), mediaType: "image/x-fake",
                pixelSize: PixelSize(width: 3, height: 4), original: key(name).original),
            for: key(name))
    }

    @Test("keeps the order of use across a restart")
    func recency() throws {
        let first = try folder.store(byteLimit: 1_000)
        for number in 0..<10 { insert("\(number)", into: first) }
        for number in [3, 0] { #expect(first.rendition(for: key("\(number)")) != nil) }
        first.close()
        let second = try folder.store(byteLimit: 1_000)
        defer { second.close() }
        insert("new", byteCount: 800, into: second)
        let kept = (0..<10).filter { second.rendition(for: key("\($0)")) != nil }
        #expect(kept == [0, 3])
    }

    @Test("is made again when its directory was deleted")
    func deletedDirectory() throws {
        let store = try folder.store()
        defer { store.close() }
        insert("a", into: store)
        for round in 0..<2 {
            try FileManager.default.removeItem(atPath: folder.storeDirectory)
            #expect(store.rendition(for: key("a")) == nil, "round \(round)")
            insert("a", into: store)
            #expect(store.rendition(for: key("a")) != nil, "round \(round)")
            #expect(FileManager.default.fileExists(atPath: folder.databasePath))
            let other = try folder.store()
            #expect(other.rendition(for: key("a")) != nil, "another process finds it too")
            other.close()
        }
    }

    @Test("lets readers continue while everything is removed")
    func openRead() throws {
        let store = try folder.store()
        defer { store.close() }
        for number in 0..<50 { insert("\(number)", byteCount: 10_000, into: store) }
        let isReading = Gate()
        let isRemoved = Gate()
        startThread {
            isReading.wait()
            store.removeAll()
            isRemoved.open()
        }
        var sizes: [Int] = []
        _ = store.read { db in
            let rows = try Row.fetchCursor(db, sql: "SELECT bytes FROM content")
            while let row = try rows.next() {
                if sizes.isEmpty {
                    isReading.open()
                    isRemoved.wait()
                }
                sizes.append((row["bytes"] as Data).count)
            }
        }
        #expect(sizes == Array(repeating: 10_000, count: 50))
        #expect(store.statistics.entryCount == 0)
    }

    @Test("returns pages after large removals, and keeps some for later insertions")
    func shrinking() throws {
        let store = try folder.store(byteLimit: 64 << 20)
        for number in 0..<100 { insert("\(number)", byteCount: 100_000, into: store) }
        let pageCount = try #require(pages(of: store, "page_count"))
        #expect(pageCount > 2_400)
        store.removeAll()
        store.tidy()
        #expect(try #require(pages(of: store, "page_count")) <= StoreUpkeep.pageCount + 50)
        store.close()
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.databasePath)
        #expect(try #require(attributes[.size] as? Int) < pageCount * 4_096 / 8)
    }

    private func pages(of store: RenditionStore, _ name: String) -> Int? {
        store.write { db in try Int.fetchOne(db, sql: "PRAGMA \(name)") }
    }

    @Test("removes the rows of removed originals, some at a time")
    func originalsGone() throws {
        let store = try folder.store()
        defer { store.close() }
        let facts = ImageFacts(
            formatName: "fake", mediaType: "image/x-fake",
            pixelSize: PixelSize(width: 4, height: 4))
        var originals: [FileIdentity] = []
        for number in 0..<(3 * StoreUpkeep.originalCount) {
            originals.append(try FileIdentity(path: folder.write("\(number).fake", side: 1)))
        }
        store.insert(Dictionary(uniqueKeysWithValues: originals.map { ($0, facts) }))
        for original in originals { insert(original.path, byteCount: 1, into: store) }
        for original in originals.dropLast() {
            try FileManager.default.removeItem(atPath: original.path)
        }
        for _ in 0..<4 { store.tidy() }
        #expect(store.facts(of: originals).keys.map(\.path) == originals.suffix(1).map(\.path))
        #expect(store.statistics.entryCount == 1)
    }

    @Test("evicts expired renditions in the background")
    func tooOld() throws {
        let date = TestDate()
        let store = try RenditionStore(
            directory: folder.storeDirectory, byteLimit: 1 << 20, maximumAge: .seconds(10),
            logger: .silent, date: { date.now })
        defer { store.close() }
        for number in 0..<5 { insert("\(number)", into: store) }
        date.pass(10)
        insert("new", into: store)
        store.tidy()
        #expect(store.statistics.entryCount == 1 && store.statistics.evictionCount == 5)
    }
}

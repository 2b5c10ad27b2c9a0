// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageTesting
import LoadingTesting
import Pixels
import Placeholders
import Synchronization
import Testing

@testable import ImageLoading

/// Every kind of store that the contract is for.
enum StoreKind: CaseIterable {
    case database, memory
}

/// A date that only a test moves.
final class TestDate: Sendable {
    private let seconds = Mutex(1_000)

    var now: Int { seconds.withLock { $0 } }

    func pass(_ more: Int) { seconds.withLock { $0 += more } }
}

@Suite("S22: Every store of renditions", .timeLimit(.minutes(10))) struct RenditionStoringTests {
    /// A store of 1000 bytes, and a clock that only a test moves.
    private final class Fixture: Sendable {
        let folder: TestFolder
        let store: any RenditionStoring
        private let clock = TestDate()

        init(_ kind: StoreKind, maximumAge: Int? = nil) throws {
            folder = try TestFolder()
            let clock = clock
            switch kind {
            case .database:
                store = try RenditionStore(
                    directory: folder.storeDirectory, byteLimit: 1_000,
                    maximumAge: maximumAge.map { .seconds($0) }, logger: .silent,
                    date: { clock.now })
            case .memory:
                store = MemoryRenditionStore(
                    byteLimit: 1_000, maximumAge: maximumAge, date: { clock.now })
            }
        }

        deinit { store.close() }

        func pass(_ seconds: Int) { clock.pass(seconds) }
    }

    private func key(
        _ name: String = "a", version: String = "1", _ request: String = "r"
    ) -> RenditionKey {
        RenditionKey(OriginalVersion(name, version: version), request: request)
    }

    private func rendition(
        _ key: RenditionKey, byteCount: Int = 100, fill: UInt8 = 7
    ) -> Rendition {
        Rendition(
            bytes: Array(repeating: fill, count: byteCount), mediaType: "image/x-fake",
            pixelSize: PixelSize(width: 3, height: 4), original: key.original)
    }

    @Test("returns an inserted rendition at once", arguments: StoreKind.allCases)
    func roundTrip(_ kind: StoreKind) throws {
        let fixture = try Fixture(kind)
        let store = fixture.store
        defer { withExtendedLifetime(fixture) {} }
        #expect(store.rendition(for: key()) == nil)
        for count in [0, 1, 100, 1_000] {
            store.insert(rendition(key(), byteCount: count), for: key())
            #expect(store.rendition(for: key()) == rendition(key(), byteCount: count))
            #expect(store.statistics.byteCount == count)
        }
    }

    @Test("distinguishes names, versions and requests", arguments: StoreKind.allCases)
    func keys(_ kind: StoreKind) throws {
        let fixture = try Fixture(kind)
        let store = fixture.store
        defer { withExtendedLifetime(fixture) {} }
        let keys = [key(), key("b"), key(version: "2"), key("a", "s"), key("ar", "")]
        for (number, key) in keys.enumerated() {
            store.insert(rendition(key, fill: UInt8(number)), for: key)
        }
        for (number, key) in keys.enumerated() {
            #expect(store.rendition(for: key) == rendition(key, fill: UInt8(number)))
        }
    }

    @Test("has only the new rendition after a replacement", arguments: StoreKind.allCases)
    func replacement(_ kind: StoreKind) throws {
        let fixture = try Fixture(kind)
        let store = fixture.store
        defer { withExtendedLifetime(fixture) {} }
        store.insert(rendition(key(), fill: 1), for: key())
        store.insert(rendition(key(), byteCount: 50, fill: 2), for: key())
        #expect(store.rendition(for: key()) == rendition(key(), byteCount: 50, fill: 2))
        #expect(store.statistics.entryCount == 1 && store.statistics.byteCount == 50)
        store.insert(rendition(key(), byteCount: 1_001), for: key())
        #expect(store.statistics.byteCount == 50, "one larger than the store changes nothing")
    }

    @Test(
        "removes one, those of an original, or all, and accepts them again",
        arguments: StoreKind.allCases)
    func removal(_ kind: StoreKind) throws {
        let fixture = try Fixture(kind)
        let store = fixture.store
        defer { withExtendedLifetime(fixture) {} }
        let keys = [key(), key(version: "2"), key("a", "s"), key("b")]
        func fill() { for key in keys { store.insert(rendition(key), for: key) } }
        func kept() -> [Int] { keys.indices.filter { store.rendition(for: keys[$0]) != nil } }
        fill()
        store.remove(keys[0])
        #expect(kept() == [1, 2, 3])
        store.removeAll(of: "a")
        #expect(kept() == [3])
        fill()
        #expect(kept() == [0, 1, 2, 3])
        store.removeAll()
        #expect(kept() == [])
        #expect(store.statistics.entryCount == 0 && store.statistics.byteCount == 0)
        store.insert(rendition(keys[0], fill: 9), for: keys[0])
        #expect(store.rendition(for: keys[0]) == rendition(keys[0], fill: 9))
        #expect(kept() == [0])
    }

    @Test("evicts the least recently used", arguments: StoreKind.allCases)
    func eviction(_ kind: StoreKind) throws {
        let fixture = try Fixture(kind)
        let store = fixture.store
        defer { withExtendedLifetime(fixture) {} }
        let keys = (0..<10).map { key("\($0)") }
        for key in keys { store.insert(rendition(key), for: key) }
        #expect(store.rendition(for: keys[1]) != nil)
        #expect(store.rendition(for: keys[0]) != nil)
        store.insert(rendition(key("last"), byteCount: 750), for: key("last"))
        #expect(store.statistics.evictionCount == 8)
        #expect(keys.indices.filter { store.rendition(for: keys[$0]) != nil } == [0, 1])
    }

    @Test("does not find expired renditions, and evicts them first", arguments: StoreKind.allCases)
    func age(_ kind: StoreKind) throws {
        let fixture = try Fixture(kind, maximumAge: 10)
        let store = fixture.store
        store.insert(rendition(key("old"), byteCount: 300), for: key("old"))
        store.insert(rendition(key("aged"), byteCount: 300), for: key("aged"))
        fixture.pass(5)
        store.insert(rendition(key("young"), byteCount: 300), for: key("young"))
        fixture.pass(4)
        #expect(store.rendition(for: key("old")) != nil)
        fixture.pass(1)
        #expect(store.rendition(for: key("old")) == nil)
        store.insert(rendition(key("new"), byteCount: 300), for: key("new"))
        store.insert(rendition(key("newer"), byteCount: 300), for: key("newer"))
        #expect(store.rendition(for: key("young")) != nil, "older ones had to go")
        #expect(store.statistics.byteCount == 900)
        fixture.pass(5)
        #expect(store.rendition(for: key("young")) == nil)
        store.insert(rendition(key("young")), for: key("young"))
        #expect(store.rendition(for: key("young")) != nil, "it is young again")
    }

    @Test("finds the newest fresh rendition by name alone", arguments: StoreKind.allCases)
    func freshness(_ kind: StoreKind) throws {
        let fixture = try Fixture(kind)
        let store = fixture.store
        let one = key(version: "1")
        let two = key(version: "2")
        store.insert(rendition(one), for: one)
        #expect(store.freshRendition(of: "a", "r") == nil)
        store.insert(rendition(one, fill: 1), for: one, freshUntil: 1_020)
        #expect(store.freshRendition(of: "a", "r") == rendition(one, fill: 1))
        store.insert(rendition(two, fill: 2), for: two, freshUntil: 1_010)
        _ = store.rendition(for: one)
        #expect(store.freshRendition(of: "a", "r") == rendition(two, fill: 2))
        #expect(store.freshRendition(of: "a", "s") == nil)
        #expect(store.freshRendition(of: "b", "r") == nil)
        fixture.pass(20)
        #expect(store.freshRendition(of: "a", "r") == nil)
        #expect(store.rendition(for: two) == rendition(two, fill: 2))
    }

    @Test("counts entries, hits, misses and evictions", arguments: StoreKind.allCases)
    func statistics(_ kind: StoreKind) throws {
        let fixture = try Fixture(kind)
        let store = fixture.store
        defer { withExtendedLifetime(fixture) {} }
        for number in 0..<11 {
            let key = key("\(number)")
            store.insert(rendition(key), for: key)
        }
        for number in 0..<11 { _ = store.rendition(for: key("\(number)")) }
        _ = store.freshRendition(of: "5", "r")
        var wanted = StoreStatistics()
        wanted.entryCount = 10
        wanted.byteCount = 1_000
        wanted.hitCount = 10
        wanted.missCount = 2
        wanted.evictionCount = 1
        #expect(store.statistics == wanted)
    }

    @Test("returns facts until the file changes or is removed", arguments: StoreKind.allCases)
    func facts(_ kind: StoreKind) throws {
        let fixture = try Fixture(kind)
        let store = fixture.store
        let path = try fixture.folder.write("a.fake")
        let old = try FileIdentity(path: path)
        let facts = ImageFacts(
            formatName: "fake", mediaType: "image/x-fake",
            pixelSize: PixelSize(width: 4, height: 5))
        store.insert([old: facts])
        #expect(store.facts(of: [old]) == [old: facts])
        #expect(store.facts(of: []).isEmpty)
        try fixture.folder.write("a.fake")
        let new = try FileIdentity(path: path)
        #expect(store.facts(of: [new]).isEmpty)
        store.insert([new: facts])
        #expect(store.facts(of: [old, new]) == [new: facts])
        store.removeAll(of: path)
        #expect(store.facts(of: [new]).isEmpty)
        store.insert([new: facts])
        store.removeAll()
        #expect(store.facts(of: [new]).isEmpty)
    }

    @Test(
        "keeps a placeholder with the facts until the file changes", arguments: StoreKind.allCases
    )
    func placeholders(_ kind: StoreKind) throws {
        let fixture = try Fixture(kind)
        let store = fixture.store
        let path = try fixture.folder.write("a.fake")
        let old = try FileIdentity(path: path)
        let plain = ImageFacts(
            formatName: "fake", mediaType: "image/x-fake",
            pixelSize: PixelSize(width: 4, height: 5))
        var facts = plain
        facts.placeholder = ThumbHash(
            TestImage.photograph(PixelSize(width: 4, height: 5), seed: 1))
        store.insert([old: facts])
        #expect(store.facts(of: [old]) == [old: facts])
        store.insert([old: plain])
        #expect(store.facts(of: [old]) == [old: facts], "the file is still the same")
        var other = plain
        other.placeholder = ThumbHash(
            TestImage.photograph(PixelSize(width: 4, height: 5), seed: 2))
        store.insert([old: other])
        #expect(store.facts(of: [old]) == [old: other])
        try fixture.folder.write("a.fake")
        let new = try FileIdentity(path: path)
        store.insert([new: plain])
        #expect(store.facts(of: [old, new]) == [new: plain])
    }

    @Test("shows a reader the old or the new rendition, whole", arguments: StoreKind.allCases)
    func overwriting(_ kind: StoreKind) throws {
        let fixture = try Fixture(kind)
        let store = fixture.store
        defer { withExtendedLifetime(fixture) {} }
        let key = key()
        store.insert(rendition(key, byteCount: 900, fill: 0), for: key)
        let torn = Atomic<Int>(0)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for round in UInt8(1)...50 {
                if thread == 0 {
                    store.insert(
                        rendition(key, byteCount: 900 - Int(round), fill: round), for: key)
                } else {
                    let read = store.rendition(for: key)
                    let fill = read?.bytes.first ?? 255
                    if read != rendition(key, byteCount: 900 - Int(fill), fill: fill) {
                        torn.add(1, ordering: .relaxed)
                    }
                }
            }
        }
        #expect(torn.load(ordering: .relaxed) == 0)
        #expect(store.rendition(for: key)?.bytes.first == 50)
    }

    @Test("finds and stores nothing once closed", arguments: StoreKind.allCases)
    func closed(_ kind: StoreKind) throws {
        let fixture = try Fixture(kind)
        let store = fixture.store
        defer { withExtendedLifetime(fixture) {} }
        store.insert(rendition(key()), for: key())
        store.close()
        #expect(store.rendition(for: key()) == nil)
        store.insert(rendition(key()), for: key())
        store.removeAll()
        #expect(store.rendition(for: key()) == nil)
    }
}

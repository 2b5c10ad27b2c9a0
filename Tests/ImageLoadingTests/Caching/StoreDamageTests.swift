// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import ImageTesting
import LoadingTesting
import Pixels
import Placeholders
import Testing

@testable import ImageLoading

/// A trap ends the process of the tests, and with it all of them: each damage is one that does not.
@Suite("A store with damage", .timeLimit(.minutes(60))) struct StoreDamageTests {
    private static let tables = [
        (
            name: "rendition",
            columns: [
                "id", "hash", "path", "version", "request", "media_type", "width", "height",
                "byte_count", "checksum", "created", "fresh_until", "last_use",
            ]
        ),
        (name: "content", columns: ["id", "bytes"]),
        (name: "total", columns: ["byte_count", "entry_count"]),
        (
            name: "original",
            columns: [
                "path", "version", "format_name", "media_type", "width", "height", "checksum",
                "placeholder", "placeholder_checksum",
            ]
        ),
    ]

    private let folder: TestFolder
    private let identities: [FileIdentity]
    private let keys: [RenditionKey]

    init() throws {
        let folder = try TestFolder()
        self.folder = folder
        identities = try (0..<4).map { try FileIdentity(path: folder.write("\($0).fake")) }
        keys = identities.flatMap { identity in
            (0..<3).map { RenditionKey(OriginalVersion(identity), request: "request \($0)") }
        }
    }

    /// Of bytes and a size that no other key has.
    private func rendition(_ key: RenditionKey) -> Rendition {
        let number = keys.firstIndex(of: key) ?? 0
        return Rendition(
            bytes: Array("\(key.original.name) \(key.request)".utf8)
                + [UInt8](repeating: UInt8(number), count: 700 * number),
            mediaType: "image/x-\(number)", pixelSize: PixelSize(width: number + 1, height: 7),
            original: key.original)
    }

    private func facts(_ identity: FileIdentity) throws -> ImageFacts {
        let number = identities.firstIndex(of: identity) ?? 0
        let hash = try ThumbHash(
            base64: ["1QcSHQRnh493V4dIh4eXh1h4kJUI", "3OcRJYB4d3h/iIeHeEh3eIhw+j3A"][number % 2])
        return ImageFacts(
            formatName: "fake\(number)", mediaType: "image/x-fake",
            pixelSize: PixelSize(width: number + 1, height: 9), placeholder: hash)
    }

    private func fill(_ store: RenditionStore) throws {
        for key in keys { store.insert(rendition(key), for: key, freshUntil: 4_000_000_000) }
        store.insert(
            try Dictionary(identities.map { ($0, try facts($0)) }, uniquingKeysWith: { $1 }))
    }

    /// Asks for everything: what is there is what was kept.
    private func read(_ store: RenditionStore, _ place: String) throws -> Int {
        var count = 0
        for key in keys {
            if let found = store.rendition(for: key) {
                #expect(found == rendition(key), "\(place)")
                count += 1
            }
            if let found = store.freshRendition(of: key.original.name, key.request) {
                #expect(found == rendition(key), "\(place)")
            }
        }
        for (identity, found) in store.facts(of: identities) {
            var wanted = try facts(identity)
            if found.placeholder == nil { wanted.placeholder = nil }
            #expect(found == wanted, "\(place)")
            count += 1
        }
        return count
    }

    @Test("in its rows finds intact rows, and makes the others again")
    func rows() throws {
        var random = SeededRandom(seed: 24)
        let count = StoreDamage.count(usually: 80)
        var missingCount = 0
        var store = try folder.store(byteLimit: 1 << 20)
        for number in 0..<count {
            try fill(store)
            try StoreDamage.changeRows(folder.databasePath, Self.tables, &random)
            if number % 10 == 0 {
                store.close()
                store = try folder.store(byteLimit: 1 << 20)
            }
            let place = "damage \(number)"
            missingCount += keys.count + identities.count - (try read(store, place))
            _ = store.statistics
            store.tidy()
            if number % 7 == 0 { store.removeAll(of: keys[0].original.name) }
            if number % 50 == 49 { store.removeAll() }
            // A damaged sum may cost one more round.
            for _ in 0..<2 { try fill(store) }
            #expect(try read(store, place) == keys.count + identities.count, "\(place)")
            #expect((0...1 << 20).contains(store.byteCount), "\(place)")
        }
        store.close()
        #expect(missingCount > count / 2, "the damage damaged nothing")
    }

    @Test("in its sums keeps its limit once the rows have been counted")
    func limit() throws {
        let limit = 12_000
        for sum in ["NULL", "-9223372036854775808", "9223372036854775807", "'text'", "1e300"] {
            let store = try folder.store(byteLimit: limit)
            try fill(store)
            store.write { db in try db.execute(sql: "UPDATE total SET byte_count = \(sum)") }
            try fill(store)
            store.close()
            let again = try folder.store(byteLimit: limit)
            again.tidy()
            try fill(again)
            let kept = again.read { db in
                try Int.fetchOne(db, sql: "SELECT sum(length(bytes)) FROM content")
            }
            #expect((1...limit).contains(try #require(kept)), "\(sum)")
            #expect(again.byteCount == kept, "\(sum)")
            again.close()
        }
    }

    @Test("in its pages opens, and never returns a value that was not stored")
    func pages() throws {
        var random = SeededRandom(seed: 26)
        let filled = try folder.store(byteLimit: 1 << 20)
        try fill(filled)
        filled.tidy()
        let wal = "\(folder.databasePath)-wal"
        let log = [UInt8](try Data(contentsOf: URL(filePath: wal)))
        let early = [UInt8](try Data(contentsOf: URL(filePath: folder.databasePath)))
        filled.close()
        let whole = [UInt8](try Data(contentsOf: URL(filePath: folder.databasePath)))
        var foundCount = 0
        for number in 0..<StoreDamage.count(usually: 50) {
            let damaged = try TestFolder()
            try FileManager.default.createDirectory(
                atPath: damaged.storeDirectory, withIntermediateDirectories: true)
            // A file alone, as it is closed, or with its log.
            let hasLog = number % 3 == 0
            var file = hasLog ? early : whole
            var fileLog = log
            if !hasLog || Bool.random(using: &random) {
                file = StoreDamage.change(file, &random)
            } else {
                fileLog = StoreDamage.change(log, &random)
            }
            try Data(file).write(to: URL(filePath: damaged.databasePath))
            if hasLog { try Data(fileLog).write(to: URL(filePath: "\(damaged.databasePath)-wal")) }
            let place = "damage \(number)"
            let store = try damaged.store(byteLimit: 1 << 20)
            foundCount += try read(store, place)
            try fill(store)
            _ = try read(store, place)
            store.tidy()
            store.removeAll(of: keys[0].original.name)
            _ = store.statistics
            try fill(store)
            _ = try read(store, place)
            store.close()
            let again = try damaged.store(byteLimit: 1 << 20)
            _ = try read(again, place)
            again.close()
        }
        #expect(foundCount > 0, "nothing was left of any store")
    }

    @Test("of every kind in one row drops that row alone")
    func columns() throws {
        let store = try folder.store()
        defer { store.close() }
        for column in Self.tables[0].columns.dropFirst(2) {
            for value in ["NULL", "'text'", "9223372036854775807"] {
                try fill(store)
                try StoreDamage.withoutConstraints(folder.databasePath) { db in
                    try db.execute(
                        sql: "UPDATE rendition SET \(column) = \(value) WHERE id = "
                            + "(SELECT min(id) FROM rendition)")
                }
                let found = try read(store, "\(column) = \(value)")
                #expect(found >= keys.count + identities.count - 1, "\(column) = \(value)")
            }
        }
    }

    @Test(
        "of its tables is moved aside",
        arguments: [
            "DROP TABLE total", "DROP TABLE original", "DROP TRIGGER rendition_removed",
            "ALTER TABLE rendition RENAME COLUMN width TO size", "DROP INDEX rendition_by_use",
            "CREATE TABLE more (id INTEGER)",
        ])
    func schema(change: String) throws {
        let store = try folder.store()
        try fill(store)
        store.write { try $0.execute(sql: change) }
        store.close()
        let again = try folder.store()
        #expect(try read(again, change) == 0)
        try fill(again)
        #expect(try read(again, change) == keys.count + identities.count)
        again.close()
        let third = try folder.store()
        #expect(try read(third, change) == keys.count + identities.count)
        third.close()
    }

    @Test("in the header of its file, at each of its bytes, opens")
    func header() throws {
        let store = try folder.store()
        try fill(store)
        store.close()
        let whole = [UInt8](try Data(contentsOf: URL(filePath: folder.databasePath)))
        let isDeep = StoreDamage.count(usually: 0) > 0
        // What decides how the file is opened, and some of the rest.
        for offset in 0..<100 where isDeep || offset % 7 == 0 || (14..<24).contains(offset) {
            for value in [whole[offset] ^ 0xFF, whole[offset] &+ 1] {
                var bytes = whole
                bytes[offset] = value
                try Data(bytes).write(to: URL(filePath: folder.databasePath))
                let store = try folder.store()
                _ = try read(store, "byte \(offset) is \(value)")
                store.close()
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import DiskStore
import Foundation
import GRDB
import HTTPTypes
import ImageTesting
import LoadingTesting
import Testing

@testable import HTTPCaching

@Suite("A damaged response store", .timeLimit(.minutes(60)))
struct ResponseCacheDamageTests {
    private static let tables = [
        (
            name: "response",
            columns: [
                "id", "url", "is_partial", "vary", "variant", "status", "fields", "media_type",
                "validator", "fresh_until", "revalidate_until", "error_until", "offline", "file",
                "body_byte_count", "checksum", "fields_checksum", "byte_count", "last_use",
            ]
        ),
        (name: "content", columns: ["id", "bytes"]),
        (name: "total", columns: ["byte_count"]),
        (name: "doomed", columns: ["file", "since"]),
    ]

    private let folder: TestFolder
    private let urls: [HTTPURL]

    init() throws {
        folder = try TestFolder()
        urls = try (0..<5).map { try HTTPURL("https://example.org/\($0)") }
    }

    private var path: String { "\(folder.storeDirectory)/responses.sqlite" }

    private func store() throws -> ResponseCache {
        try ResponseCache(directory: folder.storeDirectory, byteLimit: 10 << 20, logger: .silent)
    }

    private func response(_ url: HTTPURL) -> StoredResponse {
        let number = urls.firstIndex(of: url) ?? 0
        return StoredResponse(
            status: number == 4 ? 404 : 200,
            fields: [.cacheControl: "max-age=\(60 + number)", .eTag: "\"\(number)\""],
            // One is a file.
            bytes: [UInt8](repeating: UInt8(number), count: number == 0 ? 300_000 : 10 * number),
            requestDate: 0, responseDate: 0)
    }

    private func fill(_ store: ResponseCache) async {
        for url in urls {
            await store.insert(response(url), for: url, Variant(names: "", [:]))
        }
        if let found = await store.response(for: urls[1], [:]) {
            await store.refresh(found, for: urls[1])
        }
    }

    private func read(_ store: ResponseCache, _ place: String) async -> Int {
        var count = 0
        for url in urls {
            _ = await store.partial(for: url, [:])
            guard let found = await store.response(for: url, [:]) else { continue }
            let wanted = response(url)
            #expect(found.bytes == wanted.bytes, "\(place)")
            #expect(found.status == wanted.status, "\(place)")
            #expect(found.fields == wanted.fields, "\(place)")
            #expect(found.validator == wanted.validator, "\(place)")
            #expect(found.freshness == wanted.freshness, "\(place)")
            #expect(found.mediaType == wanted.mediaType, "\(place)")
            count += 1
        }
        return count
    }

    @Test("with damaged rows returns intact responses and stores the others again")
    func rows() async throws {
        var random = SeededRandom(seed: 27)
        let count = StoreDamage.count(usually: 40)
        var missingCount = 0
        var store = try store()
        for number in 0..<count {
            await fill(store)
            try StoreDamage.changeRows(path, Self.tables, &random)
            if number % 10 == 0 {
                await store.close()
                store = try self.store()
            }
            let place = "damage \(number)"
            missingCount += urls.count - (await read(store, place))
            if number % 7 == 0 { await store.remove(urls[2]) }
            // A damaged sum may cost one more round.
            for _ in 0..<2 { await fill(store) }
            #expect(await read(store, place) == urls.count, "\(place)")
            #expect(await store.byteCount() >= 0, "\(place)")
        }
        await store.close()
        #expect(missingCount > count / 4, "the damage damaged nothing")
    }

    @Test("with damaged pages opens, and never returns other bytes than were stored")
    func pages() async throws {
        var random = SeededRandom(seed: 28)
        let filled = try store()
        await fill(filled)
        await filled.close()
        let whole = [UInt8](try Data(contentsOf: URL(filePath: path)))
        for number in 0..<StoreDamage.count(usually: 30) {
            for suffix in ["-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: path + suffix)
            }
            try Data(StoreDamage.change(whole, &random)).write(to: URL(filePath: path))
            let store = try store()
            _ = await read(store, "damage \(number)")
            await fill(store)
            _ = await read(store, "damage \(number)")
            await store.close()
        }
    }

    @Test("with a damaged row number continues to store responses")
    func number() async throws {
        let store = try store()
        await fill(store)
        store.database.write { db in
            try db.execute(sql: "UPDATE response SET id = \(Int64.max) WHERE file NOT NULL")
        }
        for _ in 0..<2 {
            _ = await read(store, "the last number")
            await fill(store)
        }
        #expect(await read(store, "the last number") == urls.count)
        await store.close()
    }

    @Test("stores responses beside an unreachable row with the largest number")
    func largestNumber() async throws {
        let store = try store()
        await fill(store)
        store.database.write { db in
            try db.execute(
                sql: "UPDATE response SET id = \(Int64.max), url = 'other' WHERE url = ?",
                arguments: [urls[4].description])
        }
        for _ in 0..<2 { await fill(store) }
        #expect(await read(store, "the largest number") == urls.count)
        await store.close()
    }

    @Test("is replaced when its row numbers are exhausted")
    func sequence() async throws {
        let store = try store()
        await fill(store)
        store.database.write { db in
            try db.execute(sql: "UPDATE sqlite_sequence SET seq = \(Int64.max)")
        }
        for url in urls { await store.remove(url) }
        // The first insertion fails and replaces the database.
        for _ in 0..<2 { await fill(store) }
        #expect(await read(store, "no number left") == urls.count)
        await store.close()
    }

    @Test("whose file is removed while it is read continues to store responses")
    func concurrentReplacement() async throws {
        let store = try store()
        let readers = Task { [urls] in
            await withTaskGroup(of: Void.self) { group in
                for url in urls {
                    group.addTask {
                        while !Task.isCancelled { _ = await store.response(for: url, [:]) }
                    }
                }
            }
        }
        for _ in 0..<StoreDamage.count(usually: 100) {
            await fill(store)
            unsafe _ = unlink(path)
        }
        readers.cancel()
        await readers.value
        for _ in 0..<2 { await fill(store) }
        #expect(await read(store, "the last file") == urls.count)
        await store.close()
    }

    @Test("removes no file outside of its folder")
    func doomed() async throws {
        let store = try store()
        let victim = try folder.write("victim")
        let content = try Data(contentsOf: URL(filePath: victim))
        store.database.write { db in
            for name in ["../../victim", victim, "../responses.sqlite", ".", ""] {
                try db.execute(sql: "INSERT INTO doomed VALUES (?, 0)", arguments: [name])
            }
        }
        store.removeDoomed()
        #expect(try Data(contentsOf: URL(filePath: victim)) == content)
        #expect(FileManager.default.fileExists(atPath: path))
        await store.close()
    }
}

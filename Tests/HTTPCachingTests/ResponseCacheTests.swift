// SPDX-License-Identifier: Apache-2.0

import DiskStore
import Foundation
import GRDB
import HTTPTypes
import LoadingTesting
import Testing

@testable import HTTPCaching

@Suite("The response store", .timeLimit(.minutes(5))) struct ResponseCacheTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func store(byteLimit: Int = 10 << 20) throws -> ResponseCache {
        try ResponseCache(
            directory: folder.storeDirectory, byteLimit: byteLimit, logger: .silent)
    }

    private var files: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: "\(folder.storeDirectory)/bodies"))
            ?? []
    }

    private static func url(_ name: some CustomStringConvertible) throws -> HTTPURL {
        try HTTPURL("https://example.org/\(name)")
    }

    private static func response(_ byteCount: Int, _ value: UInt8 = 1) -> StoredResponse {
        StoredResponse(
            status: 200, fields: [.cacheControl: "max-age=60"],
            bytes: [UInt8](repeating: value, count: byteCount), requestDate: 0, responseDate: 0)
    }

    private static let anyRequest = Variant(names: "", [:])

    @Test(
        "stores small bodies in its database and large ones as files", arguments: [1000, 300_000])
    func kept(byteCount: Int) async throws {
        let url = try Self.url("a")
        let first = try store()
        await first.insert(Self.response(byteCount, 7), for: url, Self.anyRequest)
        #expect(files.count == (byteCount < 256 << 10 ? 0 : 1))
        await first.close()
        let second = try store()
        let found = try #require(await second.response(for: url, [:]))
        #expect(found.bytes == [UInt8](repeating: 7, count: byteCount))
        #expect(found.fields == [.cacheControl: "max-age=60"])
        #expect(found.freshness == Self.response(1).freshness)
        #expect(await second.byteCount() >= byteCount)
        await second.remove(url)
        #expect(await second.response(for: url, [:]) == nil)
        #expect(await second.byteCount() == 0)
        #expect(files.isEmpty)
    }

    @Test("replaces a response, its file and its byte count")
    func replaced() async throws {
        let store = try store()
        let url = try Self.url("a")
        var counts: Set<Int> = []
        for value in UInt8(1)...3 {
            await store.insert(Self.response(300_000, value), for: url, Self.anyRequest)
            counts.insert(await store.byteCount())
            #expect(files.count == 1)
        }
        #expect(counts.count == 1)
        #expect(await store.response(for: url, [:])?.bytes.first == 3)
    }

    @Test("evicts the least recently used responses", arguments: [1000, 300_000])
    func evicted(byteCount: Int) async throws {
        let store = try store(byteLimit: 3 * (byteCount + 400))
        for name in 0..<3 {
            await store.insert(Self.response(byteCount), for: try Self.url(name), Self.anyRequest)
        }
        _ = await store.response(for: try Self.url(0), [:])
        await store.insert(Self.response(byteCount), for: try Self.url(3), Self.anyRequest)
        var found: [Int] = []
        for name in 0..<4 where await store.response(for: try Self.url(name), [:]) != nil {
            found.append(name)
        }
        #expect(found == [0, 2, 3])
        #expect(await store.byteCount() <= store.byteLimit)
        #expect(files.count == (byteCount < 256 << 10 ? 0 : 3))
    }

    @Test("stores nothing larger than its limit, and counts responses without a body")
    func limits() async throws {
        let store = try store(byteLimit: 10_000)
        await store.insert(Self.response(9_000), for: try Self.url("a"), Self.anyRequest)
        await store.insert(Self.response(10_001), for: try Self.url("a"), Self.anyRequest)
        #expect(await store.byteCount() == 0, "nor the one that it would have replaced")
        for name in 0..<100 {
            await store.insert(Self.response(0), for: try Self.url(name), Self.anyRequest)
        }
        #expect(await store.byteCount() <= 10_000)
        #expect(await store.response(for: try Self.url(0), [:]) == nil)
    }

    @Test("never returns the fields of a replaced response")
    func refreshedTooLate() async throws {
        let store = try store()
        let url = try Self.url("a")
        await store.insert(Self.response(10, 1), for: url, Self.anyRequest)
        var old = try #require(await store.response(for: url, [:]))
        await store.insert(Self.response(10, 2), for: url, Self.anyRequest)
        old.serializedFields = Array("ETag: \"old\"".utf8)
        await store.refresh(old, for: url)
        let found = try #require(await store.response(for: url, [:]))
        #expect(found.bytes.first == 2)
        #expect(found.fields[.eTag] == nil)
    }

    @Test("keeps a response when a partial one is too large to be stored")
    func largePartial() async throws {
        let store = try store(byteLimit: 10_000)
        let url = try Self.url("a")
        await store.insert(Self.response(10), for: url, Self.anyRequest)
        await store.insertPartial(Self.response(10_001), for: url, Self.anyRequest)
        #expect(await store.response(for: url, [:]) != nil)
        #expect(await store.partial(for: url, [:]) == nil)
    }

    @Test("returns no damaged or missing body", arguments: [1000, 300_000])
    func damaged(byteCount: Int) async throws {
        let store = try store()
        for isLost in [true, false] {
            let url = try Self.url("a")
            await store.insert(Self.response(byteCount), for: url, Self.anyRequest)
            if let file = files.first {
                let path = URL(filePath: "\(folder.storeDirectory)/bodies/\(file)")
                if isLost {
                    try FileManager.default.removeItem(at: path)
                } else {
                    try Data(repeating: 9, count: byteCount).write(to: path)
                }
            } else {
                store.database.write { db in
                    try db.execute(
                        sql: isLost
                            ? "DELETE FROM content" : "UPDATE content SET bytes = zeroblob(1000)")
                }
            }
            #expect(await store.response(for: url, [:]) == nil)
            #expect(await store.byteCount() == 0)
        }
    }

    @Test("removes files that a crash left without a row, but none being written")
    func leftOver() async throws {
        let first = try store()
        let url = try Self.url("a")
        await first.insert(Self.response(300_000), for: url, Self.anyRequest)
        let kept = try #require(files.first)
        for (name, since) in [("left", 0), ("young", systemDate() + 3600)] {
            #expect(first.bodies.write([1], name: name))
            first.database.write { db in
                try db.execute(sql: "INSERT INTO doomed VALUES (?, ?)", arguments: [name, since])
            }
        }
        await first.close()
        let second = try store()
        #expect(Set(files) == [kept, "young"])
        #expect(await second.response(for: url, [:]) != nil)
    }

    @Test("replaces a file that is not a database")
    func noDatabase() async throws {
        await (try store()).close()
        try Data("no database, but long enough to be looked at as one".utf8).write(
            to: URL(filePath: "\(folder.storeDirectory)/responses.sqlite"))
        let store = try store()
        await store.insert(Self.response(10), for: try Self.url("a"), Self.anyRequest)
        #expect(await store.response(for: try Self.url("a"), [:]) != nil)
    }

    @Test("finds and stores nothing once closed")
    func closed() async throws {
        let store = try store()
        let url = try Self.url("a")
        await store.insert(Self.response(10), for: url, Self.anyRequest)
        await store.close()
        #expect(await store.response(for: url, [:]) == nil)
        await store.insert(Self.response(10), for: url, Self.anyRequest)
        #expect(await store.byteCount() == 0)
    }

    @Test("counts every byte through all changes")
    func accounting() async throws {
        let store = try store(byteLimit: 1 << 20)
        for index in 0..<60 {
            let url = try Self.url(index % 7)
            let response = Self.response([500, 300_000, 0][index % 3], UInt8(index))
            switch index % 5 {
            case 0: await store.insertPartial(response, for: url, Self.anyRequest)
            case 1: await store.remove(url)
            case 2:
                if var found = await store.response(for: url, [:]) {
                    found.serializedFields = Array("Via: \(index * 1000)".utf8)
                    await store.refresh(found, for: url)
                }
            default: await store.insert(response, for: url, Self.anyRequest)
            }
            let sum = store.database.read { db in
                try Int.fetchOne(
                    db,
                    sql: """
                        SELECT ifnull(sum(body_byte_count + ifnull(length(fields), 0)
                            + length(url) + 300), 0) FROM response
                        """)
            }
            #expect(await store.byteCount() == sum)
            let fileCount = store.database.read { db in
                try Int.fetchOne(db, sql: "SELECT count(file) FROM response")
            }
            #expect(files.count == fileCount)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import DiskStore
import Foundation
import GRDB
import HTTPTypes
import LoadingTesting
import LoadScheduling
import Testing

@testable import HTTPCaching

@Suite("A stored response", .timeLimit(.minutes(5))) struct ResponseCachingTests {
    private static let image = HTTPFixture.image
    private static let other = Array("FAKE other".utf8)

    /// Answers every request with these fields, and a conditional one for tag `"a"` with 304.
    private static func fixture(
        _ fields: HTTPFields, status: Int = 200, notModified: HTTPFields = [:]
    ) throws -> HTTPFixture {
        try HTTPFixture { request, _ in
            if let tag = request.headerFields[.ifNoneMatch], tag == fields[.eTag] {
                return FakeAnswer(status: 304, fields: notModified)
            }
            return FakeAnswer(status: status, fields: fields, body: image)
        }
    }

    @Test(
        "is used without a request while it is fresh",
        arguments: [
            [.cacheControl: "max-age=60"], [.cacheControl: "public, Max-Age=\"60\""],
            [.expires: httpDate(60), .date: httpDate()],
            // A cache of one user looks at max-age alone.
            [.cacheControl: "s-maxage=1, max-age=60", .expires: httpDate(1)],
            // Ten times as old when it came, so a tenth is left.
            [.lastModified: httpDate(-600), .date: httpDate()],
            [.cacheControl: "max-age=100", .age: "40"],
            [.cacheControl: "max-age=90", .date: httpDate(-30)],
        ] as [HTTPFields])
    func fresh(fields: HTTPFields) async throws {
        let fixture = try Self.fixture(fields)
        #expect(try await fixture.load().source == .network)
        fixture.advance(seconds: 59)
        let log = EventLog()
        let response = try await fixture.load(events: log)
        #expect(response.source == .store)
        #expect(response.bytes == Self.image)
        #expect(log.events.isEmpty)
        #expect(fixture.requestCount == 1)
        fixture.advance(seconds: 1)
        #expect(try await fixture.load().source == .network)
        #expect(fixture.requestCount == 2)
    }

    @Test(
        "is revalidated each time without freshness information",
        arguments: [
            [:], [.cacheControl: "no-cache, max-age=60"], [.cacheControl: "max-age=junk"],
            [.expires: "0"], [.cacheControl: "max-age=60, max-age=0"],
        ] as [HTTPFields])
    func neverFresh(fields: HTTPFields) async throws {
        let fixture = try Self.fixture(fields)
        for _ in 0..<2 { _ = try await fixture.load() }
        #expect(fixture.requestCount == 2)
    }

    @Test("is reused with updated fields after status 304")
    func notModified() async throws {
        let latin: [UInt8] = [0x47, 0x72, 0xFC, 0xDF, 0x65]
        let name = try #require(HTTPField.Name("X-Name"))
        var newer: HTTPFields = [
            .cacheControl: "max-age=100", .eTag: "W/\"a\"", .contentType: "text/html",
        ]
        newer.append(HTTPField(name: name, value: latin))
        newer.append(HTTPField(name: .contentLanguage, value: "日本語"))
        let older: HTTPFields = [
            .cacheControl: "max-age=10", .eTag: "\"a\"", .contentType: "image/png",
            .contentLocation: "/Größe.png", name: "old",
        ]
        let fixture = try Self.fixture(older, notModified: newer)
        let first = try await fixture.load()
        fixture.advance(seconds: 10)
        let log = EventLog()
        let second = try await fixture.load(events: log)
        #expect(fixture.lastFields[.ifNoneMatch] == "\"a\"")
        #expect(second.source == .revalidated)
        #expect(second.bytes == Self.image)
        #expect(second.validator == first.validator)
        #expect(second.mediaType == "image/png")
        #expect(log.events.isEmpty)
        let kept = try #require(
            await fixture.store.response(
                for: try HTTPURL(HTTPFixture.address), fixture.lastFields)
        ).fields
        #expect(kept[.cacheControl] == "max-age=100")
        #expect(kept[.contentType] == "image/png")
        #expect(kept[.contentLength] == "22789")
        #expect(kept[.contentLocation] == "/Größe.png")
        #expect(kept[.contentLanguage] == "日本語")
        #expect(kept.rawValues(name) == [latin])
        fixture.advance(seconds: 99)
        #expect(try await fixture.load().source == .store)
        #expect(fixture.requestCount == 2)
    }

    @Test("is revalidated by its date as well")
    func lastModified() async throws {
        let fixture = try HTTPFixture { request, _ in
            request.headerFields[.ifModifiedSince] == httpDate(-60)
                ? FakeAnswer(status: 304)
                : FakeAnswer(
                    fields: [.lastModified: httpDate(-60), .cacheControl: "max-age=0"],
                    body: Self.image)
        }
        #expect(try await fixture.load().validator == "modified \(httpDate(-60))")
        #expect(try await fixture.load().source == .revalidated)
    }

    @Test("is replaced by a changed one")
    func replaced() async throws {
        let fixture = try HTTPFixture { _, index in
            FakeAnswer(
                fields: [.eTag: "\"\(index)\"", .cacheControl: "max-age=10"],
                body: index == 0 ? Self.image : Self.other)
        }
        let first = try await fixture.load()
        fixture.advance(seconds: 10)
        let second = try await fixture.load()
        #expect(fixture.lastFields[.ifNoneMatch] == "\"0\"")
        #expect(second.source == .network)
        #expect(second.bytes == Self.other)
        #expect(second.validator != first.validator)
        #expect(try await fixture.load().bytes == Self.other)
        #expect(fixture.requestCount == 2)
    }

    @Test("is fetched again if status 304 has another entity tag")
    func notModifiedOther() async throws {
        let fixture = try Self.fixture([.eTag: "\"a\""], notModified: [.eTag: "\"b\""])
        _ = try await fixture.load()
        #expect(try await fixture.load().source == .network)
        #expect(fixture.requestCount == 3)
        #expect(fixture.lastFields[.ifNoneMatch] == nil)
    }

    @Test("is removed by a response with no-store")
    func noStore() async throws {
        let fixture = try HTTPFixture { _, index in
            FakeAnswer(
                fields: [.cacheControl: index == 0 ? "max-age=10" : "max-age=10, no-store"],
                body: index == 0 ? Self.image : Self.other)
        }
        _ = try await fixture.load()
        #expect(await fixture.store.byteCount() > 0)
        fixture.advance(seconds: 10)
        for count in 2...3 {
            #expect(try await fixture.load().bytes == Self.other)
            #expect(fixture.requestCount == count)
        }
        #expect(await fixture.store.byteCount() == 0)
    }

    @Test("is removed by status 304 with no-store")
    func notModifiedNoStore() async throws {
        let fixture = try Self.fixture(
            [.eTag: "\"a\""], notModified: [.cacheControl: "no-store"])
        _ = try await fixture.load()
        #expect(try await fixture.load().bytes == Self.image)
        #expect(await fixture.store.byteCount() == 0)
    }

    @Test(
        "with status 404 or 410 is thrown while fresh, then fetched again",
        arguments: [404, 410])
    func notFound(status: Int) async throws {
        let fixture = try HTTPFixture { _, index in
            FakeAnswer(
                status: index == 0 ? status : 200, fields: [.cacheControl: "max-age=10"],
                body: Self.image)
        }
        let error = LoadError.badStatus(url: HTTPFixture.address, code: status)
        for _ in 0..<3 {
            await #expect(throws: error) { try await fixture.load() }
        }
        #expect(fixture.requestCount == 1)
        fixture.advance(seconds: 10)
        #expect(try await fixture.load().bytes == Self.image)
        #expect(try await fixture.load().source == .store)
        #expect(fixture.requestCount == 2)
    }

    @Test("is removed by a 404 that must not be stored")
    func goneForGood() async throws {
        let fixture = try HTTPFixture { _, index in
            FakeAnswer(
                status: index == 0 ? 200 : 404,
                fields: index == 0 ? [.cacheControl: "max-age=10"] : [:], body: Self.image)
        }
        _ = try await fixture.load()
        fixture.advance(seconds: 10)
        await #expect(throws: LoadError.self) { try await fixture.load() }
        #expect(await fixture.store.byteCount() == 0)
    }

    @Test("never has status 500, whatever its fields contain", arguments: [500, 503, 403])
    func serverError(status: Int) async throws {
        let fixture = try Self.fixture([.cacheControl: "max-age=60"], status: status)
        for _ in 0..<2 {
            await #expect(throws: LoadError.badStatus(url: HTTPFixture.address, code: status)) {
                try await fixture.load()
            }
        }
        #expect(fixture.requestCount == 2)
        #expect(await fixture.store.byteCount() == 0)
    }

    @Test("that the program inserted is always fresh")
    func withoutMetadata() async throws {
        let fixture = try Self.fixture([:])
        let url = try HTTPURL(HTTPFixture.address)
        await fixture.store.insert(Self.other, mediaType: "image/gif", for: url)
        fixture.advance(seconds: 1_000_000_000)
        let response = try await fixture.load()
        #expect(response.bytes == Self.other)
        #expect(response.mediaType == "image/gif")
        #expect(response.source == .store)
        #expect(fixture.requestCount == 0)
        await fixture.loader.remove(url)
        #expect(try await fixture.load().bytes == Self.image)
    }

    @Test("is fetched again if its fields are damaged")
    func damagedFields() async throws {
        let fixture = try Self.fixture([.cacheControl: "max-age=60"])
        _ = try await fixture.load()
        fixture.store.database.write { db in
            try db.execute(sql: "UPDATE response SET fields = x'FF00FF'")
        }
        #expect(try await fixture.load().bytes == Self.image)
        #expect(fixture.requestCount == 2)
    }

    @Test("matches only requests with equal Vary fields")
    func vary() async throws {
        let fixture = try Self.fixture([
            .cacheControl: "max-age=60", .vary: "Accept, X-Other",
        ])
        _ = try await fixture.load(fields: [.accept: "image/webp"])
        _ = try await fixture.load(fields: [.accept: "image/webp", .referer: "x"])
        #expect(fixture.requestCount == 1)
        _ = try await fixture.load(fields: [.accept: "image/avif"])
        #expect(fixture.requestCount == 2)
        // Both are there.
        _ = try await fixture.load(fields: [.accept: "image/webp"])
        _ = try await fixture.load(fields: [.accept: "image/avif"])
        #expect(fixture.requestCount == 2)
    }

    @Test("with Vary: * matches no request")
    func varyByAll() async throws {
        let fixture = try Self.fixture([.cacheControl: "max-age=60", .vary: "*"])
        for _ in 0..<2 { _ = try await fixture.load() }
        #expect(fixture.requestCount == 2)
    }

    @Test("is not shared between users, and contains no credentials")
    func credentials() async throws {
        let fixture = try Self.fixture([.cacheControl: "max-age=60", .setCookie: "secret"])
        for (name, value) in [(HTTPField.Name.authorization, "secret"), (.cookie, "secret")] {
            let count = fixture.requestCount
            _ = try await fixture.load(fields: [name: value])
            _ = try await fixture.load(fields: [name: value])
            #expect(fixture.requestCount == count + 1)
            _ = try await fixture.load(fields: [name: "other"])
            #expect(fixture.requestCount == count + 2)
        }
        let rows = try #require(
            fixture.store.database.read { db in
                try Row.fetchAll(db, sql: "SELECT vary, variant, fields FROM response")
            })
        #expect(rows.count == 4)
        for row in rows {
            #expect(!(row["variant"] as String).contains("secret"))
            #expect(!"\(HTTPFields(serialized: [UInt8](row["fields"] as Data)))".contains("secret"))
        }
    }

    @Test("is not read by a reload, which replaces it")
    func reload() async throws {
        let fixture = try HTTPFixture { _, index in
            FakeAnswer(
                fields: [.cacheControl: "max-age=60", .eTag: "\"a\""],
                body: index == 0 ? Self.image : Self.other)
        }
        _ = try await fixture.load()
        #expect(try await fixture.load(.reload).bytes == Self.other)
        #expect(fixture.lastFields[.ifNoneMatch] == nil)
        #expect(try await fixture.load().bytes == Self.other)
        #expect(fixture.requestCount == 2)
    }

    @Test("is neither read nor replaced by a no-store request")
    func requestNoStore() async throws {
        let fixture = try HTTPFixture { _, index in
            FakeAnswer(
                fields: [.cacheControl: "max-age=60"], body: index == 1 ? Self.other : Self.image)
        }
        _ = try await fixture.load()
        #expect(try await fixture.load(.noStore).bytes == Self.other)
        #expect(try await fixture.load().bytes == Self.image)
        #expect(fixture.requestCount == 2)
    }

    @Test("is the only source for onlyIfCached, stale or not")
    func onlyIfCached() async throws {
        let fixture = try Self.fixture([.cacheControl: "max-age=10"])
        await #expect(throws: LoadError.notKept(url: HTTPFixture.address)) {
            try await fixture.load(.onlyIfCached)
        }
        #expect(fixture.requestCount == 0)
        _ = try await fixture.load()
        #expect(try await fixture.load(.onlyIfCached).source == .store)
        fixture.advance(seconds: 10)
        #expect(try await fixture.load(.onlyIfCached).source == .stale)
        #expect(fixture.requestCount == 1)
    }

    @Test("is not used stale with must-revalidate")
    func mustRevalidate() async throws {
        let fixture = try HTTPFixture { _, index in
            FakeAnswer(
                status: index == 0 ? 200 : 503,
                fields: [
                    .cacheControl: "max-age=10, must-revalidate, stale-if-error=60, "
                        + "stale-while-revalidate=60"
                ], body: Self.image)
        }
        _ = try await fixture.load()
        fixture.advance(seconds: 10)
        await #expect(throws: LoadError.self) { try await fixture.load(.onlyIfCached) }
        await #expect(throws: LoadError.badStatus(url: HTTPFixture.address, code: 503)) {
            try await fixture.load()
        }
    }

    @Test("is used stale after a server error, within stale-if-error", arguments: [true, false])
    func staleIfError(isUnreachable: Bool) async throws {
        let fixture = try HTTPFixture { _, index in
            index == 0
                ? FakeAnswer(
                    fields: [.cacheControl: "max-age=10, stale-if-error=20"], body: Self.image)
                : FakeAnswer(status: 502, isUnreachable: isUnreachable)
        }
        _ = try await fixture.load()
        fixture.advance(seconds: 29)
        let response = try await fixture.load()
        #expect(response.source == .stale)
        #expect(response.bytes == Self.image)
        #expect(fixture.requestCount == 2)
        fixture.advance(seconds: 1)
        await #expect(throws: LoadError.self) { try await fixture.load() }
    }

    @Test("is identified by ETag, date or bytes")
    func validator() async throws {
        #expect(try await Self.fixture([.eTag: "W/\"a\""]).load().validator == "etag W/\"a\"")
        let one = try await Self.fixture([:]).load().validator
        let same = try await Self.fixture([:]).load().validator
        let other = try await HTTPFixture { _, _ in FakeAnswer(body: Self.other) }.load().validator
        #expect(one == same)
        #expect(one != other)
    }
}

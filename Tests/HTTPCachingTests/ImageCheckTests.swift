// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import LoadingTesting
import LoadScheduling
import Testing

@testable import HTTPCaching

@Suite("A response that is not an image", .timeLimit(.minutes(5))) struct ImageCheckTests {
    private static let page = Array("<!DOCTYPE html><html><body>Sorry</body></html>".utf8)
    private static let json = Array("{\"error\": \"no such picture\"}".utf8)

    private static func fixture(_ type: String?, _ body: [UInt8]) throws -> HTTPFixture {
        try HTTPFixture {
            $0.maximumRetryCount = 2
        } _: { _, _ in
            var answer = FakeAnswer(fields: [.cacheControl: "max-age=60"], body: body)
            answer.fields[.contentType] = type
            answer.pieceByteCount = 7
            return answer
        }
    }

    @Test(
        "is rejected and not stored",
        arguments: [
            ("text/html; charset=utf-8", page), ("TEXT/HTML", page), ("image/jpeg", page),
            (nil, page), ("image/png", Array("\u{FEFF}\n <HTML lang=de>".utf8)),
            ("application/octet-stream", page), ("application/json", json), ("text/plain", json),
            ("text/plain", [UInt8](repeating: 65, count: 10_000)), ("image/png", []),
            ("image/png", Array("<htm".utf8)),
        ] as [(String?, [UInt8])])
    func refused(type: String?, body: [UInt8]) async throws {
        let fixture = try Self.fixture(type, body)
        let log = EventLog()
        let error = await #expect(throws: LoadError.self) {
            try await fixture.load(events: log)
        }
        guard case .badResponse = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(log.events.isEmpty, "no consumer has seen a byte of it")
        #expect(await fixture.store.byteCount() == 0)
        #expect(fixture.requestCount == 1)
    }

    @Test(
        "is distinguished from an image with another media type",
        arguments: ["text/plain", "application/json", "text/html", "application/octet-stream", nil])
    func knownSignature(type: String?) async throws {
        let fixture = try Self.fixture(type, HTTPFixture.image)
        let log = EventLog()
        #expect(try await fixture.load(events: log).bytes == HTTPFixture.image)
        #expect(log.bytes == HTTPFixture.image)
        #expect(try await fixture.load().source == .store)
    }

    @Test(
        "is distinguished from an image in an unknown format",
        arguments: ["image/future", "binary/octet-stream", "Image/PNG;q=1", nil])
    func unknownSignature(type: String?) async throws {
        for body in [[0x89, 0x50], Array("<svg/>".utf8)] as [[UInt8]] {
            #expect(try await Self.fixture(type, body).load().bytes == body)
        }
    }

    @Test("keeps the stored image, and is replaced later")
    func overwritten() async throws {
        let fixture = try HTTPFixture { _, index in
            index == 1
                ? FakeAnswer(fields: [.contentType: "text/html"], body: Self.page)
                : FakeAnswer(
                    fields: [.cacheControl: "max-age=10"],
                    body: index == 0 ? HTTPFixture.image : Array("FAKE other".utf8))
        }
        _ = try await fixture.load()
        fixture.advance(seconds: 10)
        await #expect(throws: LoadError.self) { try await fixture.load() }
        #expect(try await fixture.load(.onlyIfCached).bytes == HTTPFixture.image)
        #expect(try await fixture.load().bytes == Array("FAKE other".utf8))
    }

    @Test(
        "can be removed or overwritten when only its decoder finds out", arguments: [true, false])
    func removed(byReloading: Bool) async throws {
        let bad = Array("FAKE bad".utf8)
        let fixture = try HTTPFixture { _, index in
            FakeAnswer(
                fields: [.cacheControl: "max-age=60"],
                body: index == 0 ? bad : HTTPFixture.image)
        }
        #expect(try await fixture.load().bytes == bad)
        #expect(try await fixture.load().bytes == bad)
        if byReloading {
            _ = try await fixture.load(.reload)
        } else {
            await fixture.loader.remove(try HTTPURL(HTTPFixture.address))
        }
        #expect(try await fixture.load().bytes == HTTPFixture.image)
        #expect(fixture.requestCount == 2)
    }

    @Test("has an unexpected content coding")
    func coded() async throws {
        let fixture = try HTTPFixture { _, _ in
            FakeAnswer(fields: [.contentEncoding: "gzip"], body: [0x1F, 0x8B])
        }
        await #expect(throws: LoadError.self) { try await fixture.load() }
        #expect(fixture.lastFields[.acceptEncoding] == "identity")
        #expect(await fixture.store.byteCount() == 0)
    }
}

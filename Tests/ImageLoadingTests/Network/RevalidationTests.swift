// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Testing

@testable import ImageLoading

@Suite("An old answer that may be shown meanwhile", .timeLimit(.minutes(1)))
struct RevalidationTests {
    private static let other = Array("FAKE other".utf8)

    /// The picture changes with its first revalidation if told so; later requests are held.
    private static func fixture(changes: Bool) throws -> HTTPFixture {
        try HTTPFixture { request, index in
            let version = changes && index > 0 ? 1 : 0
            var answer = FakeAnswer(
                fields: [
                    .cacheControl: "max-age=10, stale-while-revalidate=20",
                    .eTag: "\"\(version)\"",
                ], body: version == 0 ? HTTPFixture.picture : other)
            if request.headerFields[.ifNoneMatch] == "\"\(version)\"" { answer.status = 304 }
            answer.isHeld = index > 0
            return answer
        }
    }

    @Test(
        "is shown at once, revalidated once for all, and replaced on change",
        arguments: [true, false])
    func revalidated(changes: Bool) async throws {
        let fixture = try Self.fixture(changes: changes)
        let first = try await fixture.load()
        #expect(first.revalidation == nil)
        fixture.advance(seconds: 29)
        var shown: [LoadedResponse] = []
        for _ in 0..<3 { shown.append(try await fixture.load()) }
        #expect(shown.allSatisfy { $0.source == .stale && $0.bytes == HTTPFixture.picture })
        #expect(fixture.requestCount == 1, "nobody waits for the newer one yet")
        let tasks = try shown.map { response in
            let revalidation = try #require(response.revalidation)
            return Task { try await revalidation.value() }
        }
        let revalidation = try #require(shown.first?.revalidation)
        let key = HTTPLoader.RevalidationKey(
            url: revalidation.request.url, fields: revalidation.request.fields)
        await eventually { fixture.loader.revalidations.consumerCount(key) == 3 }
        await eventually { fixture.transport.heldCount(HTTPFixture.address) == 1 }
        // Old ones are still shown while the server is asked.
        #expect(try await fixture.load().source == .stale)
        fixture.transport.release(HTTPFixture.address)
        for task in tasks {
            let response = try await task.value
            #expect(response.source == (changes ? .network : .revalidated))
            #expect(response.bytes == (changes ? Self.other : HTTPFixture.picture))
            #expect((response.validator != first.validator) == changes)
        }
        #expect(fixture.requestCount == 2)
        // Who comes late finds what the others have brought.
        #expect(try await revalidation.value().source == .store)
        #expect(try await fixture.load().bytes == (changes ? Self.other : HTTPFixture.picture))
        #expect(fixture.requestCount == 2)
    }

    @Test("is not shown when it is older than that")
    func tooOld() async throws {
        let fixture = try HTTPFixture { _, _ in
            FakeAnswer(
                fields: [.cacheControl: "max-age=10, stale-while-revalidate=20"],
                body: HTTPFixture.picture)
        }
        _ = try await fixture.load()
        fixture.advance(seconds: 30)
        #expect(try await fixture.load().source == .network)
    }

    @Test("is revalidated until the last of those who wait has gone")
    func cancelled() async throws {
        let fixture = try Self.fixture(changes: true)
        _ = try await fixture.load()
        fixture.advance(seconds: 10)
        let revalidation = try #require(try await fixture.load().revalidation)
        let key = HTTPLoader.RevalidationKey(
            url: revalidation.request.url, fields: revalidation.request.fields)
        let tasks = (0..<2).map { _ in Task { try await revalidation.value() } }
        await eventually { fixture.loader.revalidations.consumerCount(key) == 2 }
        await eventually { fixture.transport.heldCount(HTTPFixture.address) == 1 }
        tasks[0].cancel()
        await #expect(throws: LoadError.cancelled) { try await tasks[0].value }
        #expect(fixture.transport.cancelCount(HTTPFixture.address) == 0)
        tasks[1].cancel()
        await #expect(throws: LoadError.cancelled) { try await tasks[1].value }
        await eventually { fixture.transport.cancelCount(HTTPFixture.address) == 1 }
        #expect(try await fixture.load().source == .stale, "and what is kept stays")
    }
}

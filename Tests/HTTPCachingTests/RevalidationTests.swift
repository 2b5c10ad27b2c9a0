// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import ImageTesting
import LoadingTesting
import LoadScheduling
import Testing

@testable import HTTPCaching

@Suite("A stale response within stale-while-revalidate", .timeLimit(.minutes(5)))
struct RevalidationTests {
    private static let other = Array("FAKE other".utf8)

    /// The image changes with its first revalidation if told so; later requests are held.
    private static func fixture(changes: Bool) throws -> HTTPFixture {
        try HTTPFixture { request, index in
            let version = changes && index > 0 ? 1 : 0
            var answer = FakeAnswer(
                fields: [
                    .cacheControl: "max-age=10, stale-while-revalidate=20",
                    .eTag: "\"\(version)\"",
                ], body: version == 0 ? HTTPFixture.image : other)
            if request.headerFields[.ifNoneMatch] == "\"\(version)\"" { answer.status = 304 }
            answer.isHeld = index > 0
            return answer
        }
    }

    @Test("is returned at once and replaced if it changed", arguments: [true, false])
    func revalidated(changes: Bool) async throws {
        let fixture = try Self.fixture(changes: changes)
        let first = try await fixture.load()
        #expect(!first.needsRevalidation)
        fixture.advance(seconds: 29)
        for _ in 0..<3 {
            let shown = try await fixture.load()
            #expect(shown.source == .stale && shown.needsRevalidation)
            #expect(shown.bytes == HTTPFixture.image)
        }
        #expect(fixture.requestCount == 1, "no load waits for the newer one yet")
        let task = Task { try await Self.revalidate(fixture) }
        await eventually { fixture.transport.heldCount(HTTPFixture.address) == 1 }
        // Old ones are still shown while the server is asked.
        #expect(try await fixture.load().source == .stale)
        fixture.transport.release(HTTPFixture.address)
        let newer = try await task.value
        #expect(newer.source == (changes ? .network : .revalidated))
        #expect(!newer.needsRevalidation)
        #expect(newer.bytes == (changes ? Self.other : HTTPFixture.image))
        #expect((newer.validator != first.validator) == changes)
        #expect(fixture.requestCount == 2)
        // Who comes late finds what the others have brought.
        #expect(try await Self.revalidate(fixture).source == .store)
        #expect(try await fixture.load().bytes == (changes ? Self.other : HTTPFixture.image))
        #expect(fixture.requestCount == 2)
    }

    private static func revalidate(_ fixture: HTTPFixture) async throws -> LoadedResponse {
        var request = HTTPLoadRequest(url: try HTTPURL(HTTPFixture.address))
        request.acceptsStale = false
        return try await fixture.loader.load(request)
    }

    @Test("is not returned when it is older")
    func tooOld() async throws {
        let fixture = try HTTPFixture { _, _ in
            FakeAnswer(
                fields: [.cacheControl: "max-age=10, stale-while-revalidate=20"],
                body: HTTPFixture.image)
        }
        _ = try await fixture.load()
        fixture.advance(seconds: 30)
        #expect(try await fixture.load().source == .network)
    }

    @Test("stays stored when its revalidation is cancelled")
    func cancelled() async throws {
        let fixture = try Self.fixture(changes: true)
        _ = try await fixture.load()
        fixture.advance(seconds: 10)
        let task = Task { try await Self.revalidate(fixture) }
        await eventually { fixture.transport.heldCount(HTTPFixture.address) == 1 }
        task.cancel()
        await #expect(throws: LoadError.cancelled) { try await task.value }
        await eventually { fixture.transport.cancelCount(HTTPFixture.address) == 1 }
        #expect(try await fixture.load().source == .stale)
    }
}

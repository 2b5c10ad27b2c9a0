// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import ImageTesting
import LoadingTesting
import LoadScheduling
import Testing

@testable import HTTPCaching

@Suite("A failed request", .timeLimit(.minutes(5))) struct RetryTests {
    private static func fixture(
        _ change: @escaping (inout HTTPLoader.Configuration) -> Void = { _ in },
        _ handler: @escaping FakeTransport.Handler
    ) throws -> HTTPFixture {
        try HTTPFixture(
            {
                $0.maximumRetryCount = 2
                change(&$0)
            }, handler)
    }

    @Test(
        "is retried with increasing delay after temporary errors",
        arguments: [408, 429, 500, 502, 503, 504, nil] as [Int?])
    func retried(status: Int?) async throws {
        let fixture = try Self.fixture { _, index in
            if index == 2 { return FakeAnswer(body: HTTPFixture.image) }
            return FakeAnswer(status: status ?? 0, isUnreachable: status == nil)
        }
        async let response = fixture.load()
        for (index, longest) in [Duration.milliseconds(500), .seconds(1)].enumerated() {
            await fixture.clock.sleepsBriefly()
            let delay = try #require(fixture.clock.sleeps.first)
            #expect(delay >= longest / 2 && delay <= longest)
            #expect(fixture.requestCount == index + 1)
            fixture.clock.advance(by: delay)
        }
        #expect(try await response.bytes == HTTPFixture.image)
        #expect(fixture.requestCount == 3)
    }

    @Test("fails after the maximum number of retries")
    func bounded() async throws {
        let fixture = try Self.fixture { _, _ in FakeAnswer(status: 503) }
        let task = Task { try await fixture.load() }
        for _ in 0..<2 {
            await fixture.clock.sleepsBriefly()
            fixture.clock.advance(by: .seconds(1))
        }
        await #expect(throws: LoadError.badStatus(url: HTTPFixture.address, code: 503)) {
            try await task.value
        }
        #expect(fixture.requestCount == 3)
    }

    @Test(
        "is not made again for what will not pass", arguments: [400, 401, 403, 404, 410, 501, 204])
    func permanent(status: Int) async throws {
        let fixture = try Self.fixture { _, _ in FakeAnswer(status: status) }
        await #expect(throws: LoadError.badStatus(url: HTTPFixture.address, code: status)) {
            try await fixture.load()
        }
        #expect(fixture.requestCount == 1)
    }

    @Test(
        "waits for Retry-After, in seconds or until a date",
        arguments: ["20", httpDate(20)])
    func retryAfter(value: String) async throws {
        let fixture = try Self.fixture { _, index in
            index == 0
                ? FakeAnswer(status: 429, fields: [.retryAfter: value])
                : FakeAnswer(body: HTTPFixture.image)
        }
        async let response = fixture.load()
        await eventually { fixture.clock.sleeps == [.seconds(20)] }
        fixture.clock.advance(by: .seconds(20))
        #expect(try await response.bytes == HTTPFixture.image)
    }

    @Test(
        "fails when Retry-After exceeds the maximum delay",
        arguments: ["3600", "\(Int.max)"])
    func tooLong(value: String) async throws {
        let fixture = try Self.fixture { _, _ in
            FakeAnswer(status: 503, fields: [.retryAfter: value])
        }
        await #expect(throws: LoadError.badStatus(url: HTTPFixture.address, code: 503)) {
            try await fixture.load()
        }
        #expect(fixture.requestCount == 1)
    }

    @Test("is not retried once cancelled")
    func cancelled() async throws {
        let fixture = try Self.fixture { _, _ in FakeAnswer(isUnreachable: true) }
        let task = Task { try await fixture.load() }
        await fixture.clock.sleepsBriefly()
        task.cancel()
        await #expect(throws: LoadError.cancelled) { try await task.value }
        #expect(fixture.requestCount == 1)
        #expect(fixture.clock.sleeps.isEmpty)
    }

    @Test("times out without a response head")
    func responseTimeout() async throws {
        let fixture = try Self.fixture {
            $0.maximumRetryCount = 0
            $0.responseTimeout = .seconds(7)
        } _: { _, _ in
            FakeAnswer(isHeld: true)
        }
        let task = Task { try await fixture.load() }
        await eventually { fixture.transport.heldCount(HTTPFixture.address) == 1 }
        await eventually { fixture.clock.sleeps == [.seconds(7)] }
        fixture.clock.advance(by: .seconds(7))
        await #expect(throws: LoadError.timedOut(url: HTTPFixture.address)) { try await task.value }
        #expect(fixture.transport.cancelCount(HTTPFixture.address) == 1)
    }

    /// An image whose first response is sent in pieces, and is continued by the next ones.
    private static func slowAnswer(_ index: Int) -> FakeAnswer {
        FakeAnswer(
            fields: [.acceptRanges: "bytes", .eTag: "\"a\""], body: HTTPFixture.image,
            holdsPieces: index == 0, rangeValidator: "\"a\"")
    }

    /// Waits until a part is held after `count` received ones, and the watchdog sleeps.
    private static func pieceIsHeld(_ count: Int, _ fixture: HTTPFixture, _ log: EventLog) async {
        await eventually {
            fixture.transport.heldCount(HTTPFixture.address) == 1
                && log.receivedByteCounts.count == count && !fixture.clock.sleeps.isEmpty
        }
    }

    /// Lets a piece come every six seconds.
    private static func sendPieces(_ count: Int, _ fixture: HTTPFixture, _ log: EventLog) async {
        for piece in 0..<count {
            await pieceIsHeld(piece, fixture, log)
            fixture.clock.advance(by: .seconds(6))
            await eventually { !fixture.clock.sleeps.isEmpty }
            fixture.transport.release(HTTPFixture.address)
        }
    }

    @Test("times out when its body stalls, and resumes")
    func idleTimeout() async throws {
        let fixture = try Self.fixture {
            $0.maximumRetryCount = 0
            $0.idleTimeout = .seconds(7)
        } _: { _, index in
            Self.slowAnswer(index)
        }
        let log = EventLog()
        let task = Task { try await fixture.load(events: log) }
        // Slow is not still: each piece has its own time.
        await Self.sendPieces(3, fixture, log)
        await eventually {
            fixture.transport.heldCount(HTTPFixture.address) == 1
                && log.receivedByteCounts.count == 3
        }
        for _ in 0..<10 where fixture.transport.cancelCount(HTTPFixture.address) == 0 {
            fixture.clock.advance(by: .seconds(7))
            for _ in 0..<100 { await Task.yield() }
        }
        await #expect(throws: LoadError.timedOut(url: HTTPFixture.address)) { try await task.value }
        #expect(try await fixture.load().bytes == HTTPFixture.image)
        #expect(fixture.lastFields[.range] == "bytes=3000-")
    }

    @Test("times out in total despite steady progress, and resumes")
    func totalTimeout() async throws {
        let fixture = try Self.fixture {
            $0.idleTimeout = .seconds(7)
            $0.totalTimeout = .seconds(20)
        } _: { _, index in
            Self.slowAnswer(index)
        }
        let log = EventLog()
        let task = Task { try await fixture.load(events: log) }
        await Self.sendPieces(3, fixture, log)
        await Self.pieceIsHeld(3, fixture, log)
        fixture.clock.advance(by: .seconds(2))
        await #expect(throws: LoadError.timedOut(url: HTTPFixture.address)) { try await task.value }
        #expect(fixture.transport.cancelCount(HTTPFixture.address) == 1)
        #expect(fixture.requestCount == 1, "no time is left for another try")
        #expect(try await fixture.load().bytes == HTTPFixture.image)
        #expect(fixture.lastFields[.range] == "bytes=3000-")
    }

    @Test("is not retried when Retry-After exceeds the remaining time")
    func noTimeLeft() async throws {
        let fixture = try Self.fixture {
            $0.totalTimeout = .seconds(20)
        } _: { _, _ in
            FakeAnswer(status: 503, fields: [.retryAfter: "20"])
        }
        await #expect(throws: LoadError.badStatus(url: HTTPFixture.address, code: 503)) {
            try await fixture.load()
        }
        #expect(fixture.requestCount == 1)
    }

    @Test("releases its slot of the host, whose number is limited")
    func hostLimit() async throws {
        let fixture = try Self.fixture {
            $0.maximumConcurrentCountPerHost = 2
        } _: { _, _ in
            FakeAnswer(body: HTTPFixture.image, isHeld: true)
        }
        let addresses = (0..<4).map { "https://example.org/\($0)" }
        let tasks = addresses.map { address in Task { try await fixture.load(address) } }
        let other = Task { try await fixture.load("https://example.com/") }
        func heldAddresses() -> [String] {
            addresses.filter { fixture.transport.heldCount($0) == 1 }
        }
        await eventually {
            heldAddresses().count == 2 && fixture.transport.heldCount("https://example.com/") == 1
        }
        #expect(fixture.requestCount == 3)
        fixture.transport.release("https://example.com/")
        _ = try await other.value
        for count in 1...4 {
            let address = try #require(heldAddresses().first)
            fixture.transport.release(address)
            await eventually { heldAddresses().count == min(2, 4 - count) }
        }
        for task in tasks { _ = try await task.value }
        #expect(fixture.requestCount == 5)
    }
}

// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import ImageTesting
import LoadingTesting
import LoadScheduling
import Testing

@testable import HTTPCaching

@Suite("An interrupted download", .timeLimit(.minutes(5))) struct ResumableDownloadTests {
    private static let image = HTTPFixture.image
    private static let half = 11_397
    private static let tagged: HTTPFields = [
        .acceptRanges: "bytes", .eTag: "\"a\"", .contentType: "image/png",
    ]
    private static let dated: HTTPFields = [
        .acceptRanges: "bytes", .lastModified: httpDate(-3600), .date: httpDate(),
    ]

    /// Breaks off the first time; then answers ranges of what `validator` names.
    private static func fixture(
        _ fields: HTTPFields, validator: String?, retries: Int = 0
    ) throws -> HTTPFixture {
        try HTTPFixture {
            $0.maximumRetryCount = retries
        } _: { _, index in
            var answer = FakeAnswer(fields: fields, body: image)
            if index == 0 { answer.failsAfter = half } else { answer.rangeValidator = validator }
            return answer
        }
    }

    private static func fail(_ fixture: HTTPFixture) async throws {
        await #expect(
            throws: LoadError.connectionFailed(url: HTTPFixture.address, reason: "reset")
        ) { try await fixture.load() }
    }

    @Test("resumes by ETag or Last-Modified", arguments: [tagged, dated])
    func resumed(fields: HTTPFields) async throws {
        let validator = try #require(fields[.eTag] ?? fields[.lastModified])
        let fixture = try Self.fixture(fields, validator: validator)
        try await Self.fail(fixture)
        let log = EventLog()
        let response = try await fixture.load(events: log)
        #expect(fixture.lastFields[.range] == "bytes=11397-")
        #expect(fixture.lastFields[.ifRange] == validator)
        #expect(response.bytes == Self.image)
        #expect(log.bytes == Self.image)
        #expect(!log.events.contains(.restart))
        #expect(log.receivedByteCounts.first == Self.half + 1000)
        #expect(log.receivedByteCounts.last == 22_789)
        #expect(Set(log.expectedByteCounts) == [22_789])
        // The start is not kept beside the whole.
        let url = try HTTPURL(HTTPFixture.address)
        #expect(await fixture.store.partial(for: url, fixture.lastFields) == nil)
        // And the whole is an answer like any other: of status 200 and of its whole length.
        let kept = try #require(await fixture.store.response(for: url, fixture.lastFields))
        #expect(kept.status == 200)
        #expect(kept.bytes == Self.image)
        #expect(kept.fields[.contentLength] == "22789")
        #expect(kept.fields[.contentRange] == nil)
    }

    @Test("resumes in a retry within one load")
    func retried() async throws {
        let fixture = try Self.fixture(Self.tagged, validator: "\"a\"", retries: 1)
        let log = EventLog()
        async let response = fixture.load(events: log)
        await fixture.clock.sleepsBriefly()
        fixture.clock.advance(by: .seconds(1))
        #expect(try await response.bytes == Self.image)
        #expect(fixture.lastFields[.range] == "bytes=11397-")
        #expect(log.bytes == Self.image)
        #expect(log.receivedByteCounts == log.receivedByteCounts.sorted())
    }

    @Test("resumes in another process")
    func reopened() async throws {
        let first = try Self.fixture(Self.tagged, validator: nil)
        try await Self.fail(first)
        await first.loader.close()
        let second = try HTTPFixture(folder: first.folder, clock: first.clock) { _, _ in
            FakeAnswer(fields: Self.tagged, body: Self.image, rangeValidator: "\"a\"")
        }
        #expect(try await second.load().bytes == Self.image)
        #expect(second.lastFields[.range] == "bytes=11397-")
    }

    @Test("restarts when the server returns the whole body")
    func replaced() async throws {
        let other = Array("FAKE other".utf8)
        let fixture = try HTTPFixture { _, index in
            var fields = Self.tagged
            fields[.eTag] = "\"\(index)\""
            return index == 0
                ? FakeAnswer(fields: fields, body: Self.image, failsAfter: Self.half)
                : FakeAnswer(fields: fields, body: other, rangeValidator: "\"1\"")
        }
        try await Self.fail(fixture)
        let log = EventLog()
        let response = try await fixture.load(events: log)
        #expect(fixture.lastFields[.ifRange] == "\"0\"")
        #expect(response.bytes == other)
        #expect(log.bytes == other)
        #expect(log.receivedByteCounts == [other.count])
    }

    @Test("sends a restart event when the whole body arrives within one load")
    func restarted() async throws {
        let fixture = try Self.fixture(Self.tagged, validator: "\"b\"", retries: 1)
        let log = EventLog()
        async let response = fixture.load(events: log)
        await fixture.clock.sleepsBriefly()
        fixture.clock.advance(by: .seconds(1))
        #expect(try await response.bytes == Self.image)
        #expect(log.events.count { $0 == .restart } == 1)
        #expect(log.bytes == Self.image)
    }

    @Test("is not stored when the new body is interrupted and cannot be resumed")
    func discardedByWhole() async throws {
        let fixture = try HTTPFixture { _, index in
            FakeAnswer(
                fields: index == 0 ? Self.tagged : [:], body: Self.image, failsAfter: Self.half)
        }
        try await Self.fail(fixture)
        try await Self.fail(fixture)
        #expect(fixture.lastFields[.range] != nil)
        try await Self.fail(fixture)
        #expect(fixture.lastFields[.range] == nil)
    }

    @Test(
        "is not stored when the response cannot be resumed",
        arguments: [
            [.eTag: "\"a\""], [.acceptRanges: "bytes"],
            [.acceptRanges: "none", .eTag: "\"a\""], [.acceptRanges: "bytes", .eTag: "W/\"a\""],
            [.acceptRanges: "bytes", .lastModified: httpDate(), .date: httpDate()],
            [.acceptRanges: "bytes", .eTag: "\"a\"", .cacheControl: "no-store"],
            [.acceptRanges: "bytes", .eTag: "\"a\"", .vary: "*"],
        ] as [HTTPFields])
    func incompleteFields(fields: HTTPFields) async throws {
        let fixture = try Self.fixture(fields, validator: "\"a\"")
        try await Self.fail(fixture)
        #expect(try await fixture.load().bytes == Self.image)
        #expect(fixture.lastFields[.range] == nil)
        #expect(fixture.lastFields[.ifRange] == nil)
    }

    @Test("is not stored when its length is unknown")
    func unknownLength() async throws {
        let fixture = try HTTPFixture { _, index in
            FakeAnswer(
                fields: Self.tagged, body: Self.image, hasLength: false,
                failsAfter: index == 0 ? Self.half : nil)
        }
        try await Self.fail(fixture)
        #expect(try await fixture.load().bytes == Self.image)
        #expect(fixture.lastFields[.range] == nil)
    }

    @Test("is not stored when no byte or all were received", arguments: [0, 22_789])
    func wholeBody(failsAfter: Int) async throws {
        let fixture = try HTTPFixture { _, index in
            FakeAnswer(
                fields: Self.tagged, body: Self.image, failsAfter: index == 0 ? failsAfter : nil)
        }
        try await Self.fail(fixture)
        #expect(await fixture.store.byteCount() == 0)
        #expect(try await fixture.load().bytes == Self.image)
        #expect(fixture.lastFields[.range] == nil)
    }

    @Test("keeps its prefix when the next attempt is cancelled before its first byte")
    func cancelledRetry() async throws {
        let fixture = try HTTPFixture { _, index in
            FakeAnswer(
                fields: Self.tagged, body: Self.image, failsAfter: index == 0 ? Self.half : nil,
                isHeld: index == 1, holdsPieces: index == 2,
                rangeValidator: index > 0 ? "\"a\"" : nil)
        }
        try await Self.fail(fixture)
        // First without a head, then with one.
        for _ in 0..<2 {
            let task = Task { try await fixture.load() }
            await eventually { fixture.transport.heldCount(HTTPFixture.address) == 1 }
            task.cancel()
            await #expect(throws: LoadError.cancelled) { try await task.value }
        }
        #expect(fixture.transport.cancelCount(HTTPFixture.address) == 2)
        #expect(try await fixture.load().bytes == Self.image)
        #expect(fixture.lastFields[.range] == "bytes=11397-")
    }

    @Test("keeps the bytes received when it is cancelled")
    func cancelledBody() async throws {
        let fixture = try HTTPFixture { _, index in
            FakeAnswer(
                fields: Self.tagged, body: Self.image, holdsPieces: index == 0,
                rangeValidator: "\"a\"")
        }
        let log = EventLog()
        let task = Task { try await fixture.load(events: log) }
        for count in 1...3 {
            await eventually { fixture.transport.heldCount(HTTPFixture.address) == 1 }
            #expect(log.receivedByteCounts.count == count - 1)
            fixture.transport.release(HTTPFixture.address)
        }
        await eventually { fixture.transport.heldCount(HTTPFixture.address) == 1 }
        task.cancel()
        await #expect(throws: LoadError.cancelled) { try await task.value }
        #expect(try await fixture.load().bytes == Self.image)
        #expect(fixture.lastFields[.range] == "bytes=3000-")
    }

    @Test("is not complete when its body ends because of cancellation")
    func endedByCancelling() async throws {
        let fixture = try HTTPFixture { _, _ in
            FakeAnswer(
                body: Self.image, hasLength: false, holdsPieces: true, endsWhenCancelled: true)
        }
        let task = Task { try await fixture.load() }
        await eventually { fixture.transport.heldCount(HTTPFixture.address) == 1 }
        fixture.transport.release(HTTPFixture.address)
        await eventually { fixture.transport.heldCount(HTTPFixture.address) == 1 }
        task.cancel()
        await #expect(throws: LoadError.cancelled) { try await task.value }
        #expect(await fixture.store.byteCount() == 0)
    }

    @Test("resumes from the longer prefix after a second interruption")
    func brokenTwice() async throws {
        let fixture = try HTTPFixture { _, index in
            FakeAnswer(
                fields: Self.tagged, body: Self.image,
                failsAfter: index < 2 ? [Self.half, 5000][index] : nil, rangeValidator: "\"a\"")
        }
        try await Self.fail(fixture)
        try await Self.fail(fixture)
        #expect(try await fixture.load().bytes == Self.image)
        #expect(fixture.lastFields[.range] == "bytes=16397-")
    }

    @Test("restarts once when the server rejects the range")
    func notSatisfiable() async throws {
        let fixture = try HTTPFixture { request, index in
            var answer = FakeAnswer(fields: Self.tagged, body: Self.image)
            if index == 0 { answer.failsAfter = Self.half }
            if request.headerFields[.range] != nil {
                answer = FakeAnswer(status: 416, fields: [.contentRange: "bytes */100"])
            }
            return answer
        }
        try await Self.fail(fixture)
        #expect(try await fixture.load().bytes == Self.image)
        #expect(fixture.requestCount == 3)
        #expect(fixture.lastFields[.range] == nil)
    }

    @Test(
        "restarts when the partial response has another range",
        arguments: [
            "bytes 0-22788/22789", "bytes 11397-22788/30000", "bytes 11397-20000/22789", "junk",
            "bytes 11398-22788/22789",
        ])
    func otherRange(range: String) async throws {
        let fixture = try HTTPFixture { request, index in
            if request.headerFields[.range] == nil {
                return FakeAnswer(
                    fields: Self.tagged, body: Self.image,
                    failsAfter: index == 0 ? Self.half : nil)
            }
            return FakeAnswer(
                status: 206, fields: [.contentRange: range, .eTag: "\"a\""], body: Self.image)
        }
        try await Self.fail(fixture)
        #expect(try await fixture.load().bytes == Self.image)
        #expect(fixture.requestCount == 3)
    }

    @Test("restarts when the partial response has another version")
    func otherVersion() async throws {
        let fixture = try HTTPFixture { request, index in
            var answer = FakeAnswer(fields: Self.tagged, body: Self.image)
            if index == 0 { answer.failsAfter = Self.half }
            if request.headerFields[.range] != nil {
                answer.status = 206
                answer.fields[.eTag] = "\"b\""
                answer.fields[.contentRange] = "bytes 11397-22788/22789"
            }
            return answer
        }
        try await Self.fail(fixture)
        #expect(try await fixture.load().bytes == Self.image)
        #expect(fixture.requestCount == 3)
    }

    @Test("is detected by its length when the connection is closed")
    func endedEarly() async throws {
        let fixture = try HTTPFixture { _, index in
            FakeAnswer(
                fields: Self.tagged, body: Self.image, endsAfter: index == 0 ? Self.half : nil,
                rangeValidator: "\"a\"")
        }
        await #expect(
            throws: LoadError.connectionFailed(
                url: HTTPFixture.address, reason: "connection closed after 11397 of 22789 bytes")
        ) { try await fixture.load() }
        #expect(try await fixture.load().bytes == Self.image)
        #expect(fixture.lastFields[.range] == "bytes=11397-")
    }

    @Test("is stored for matching requests only, and never with no-store")
    func otherRequest() async throws {
        var fields = Self.tagged
        fields[.vary] = "Accept"
        let fixture = try Self.fixture(fields, validator: "\"a\"")
        try await Self.fail(fixture)
        _ = try await fixture.load(fields: [.accept: "image/webp"], .noStore)
        #expect(fixture.lastFields[.range] == nil)
        _ = try await fixture.load(fields: [.accept: "image/webp"])
        #expect(fixture.lastFields[.range] == nil)
    }
}

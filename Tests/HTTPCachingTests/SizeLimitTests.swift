// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import HTTPTypes
import LoadingTesting
import LoadScheduling
import Testing

@testable import HTTPCaching

@Suite("A body that exceeds the limit", .timeLimit(.minutes(5))) struct SizeLimitTests {
    private static func error(needed: Int) -> LoadError {
        .decodingFailed(
            path: HTTPFixture.address, .limitExceeded(.byteCount, needed: needed, allowed: 10_000))
    }

    private static func fixture(
        hasLength: Bool, byteCount: Int = 22_789
    ) throws -> HTTPFixture {
        try HTTPFixture {
            $0.maximumBodyByteCount = 10_000
            $0.maximumRetryCount = 2
        } _: { _, _ in
            FakeAnswer(
                fields: [.acceptRanges: "bytes", .eTag: "\"a\""],
                body: Array(HTTPFixture.image.prefix(byteCount)), hasLength: hasLength)
        }
    }

    @Test("is rejected by its declared length, before its first byte")
    func declared() async throws {
        let fixture = try Self.fixture(hasLength: true)
        let log = EventLog()
        await #expect(throws: Self.error(needed: 22_789)) {
            try await fixture.load(events: log)
        }
        #expect(log.events.isEmpty)
        #expect(fixture.transport.cancelCount(HTTPFixture.address) == 1)
        #expect(fixture.requestCount == 1, "a limit does not go away by trying again")
    }

    @Test("without a declared length is rejected at the first part beyond the limit")
    func undeclared() async throws {
        let fixture = try Self.fixture(hasLength: false)
        let log = EventLog()
        await #expect(throws: Self.error(needed: 11_000)) { try await fixture.load(events: log) }
        #expect(log.receivedByteCounts.last == 10_000)
        #expect(fixture.transport.cancelCount(HTTPFixture.address) == 1)
        #expect(await fixture.store.byteCount() == 0)
    }

    @Test("exceeds it by one byte", arguments: [true, false])
    func exact(hasLength: Bool) async throws {
        let allowed = try Self.fixture(hasLength: hasLength, byteCount: 10_000)
        #expect(try await allowed.load().bytes.count == 10_000)
        #expect(allowed.transport.cancelCount(HTTPFixture.address) == 0)
        let refused = try Self.fixture(hasLength: hasLength, byteCount: 10_001)
        await #expect(throws: Self.error(needed: 10_001)) { try await refused.load() }
    }

    @Test("is reported with the limit")
    func description() {
        #expect(Self.error(needed: 5).description.contains("10000"))
    }

    @Test("is rejected by default, at a limit within the body budget")
    func byDefault() {
        let configuration = HTTPLoader.Configuration()
        #expect(configuration.maximumBodyByteCount == 256 << 20)
        #expect(configuration.bodyBudget.bodyByteLimit == 256 << 20)
    }
}

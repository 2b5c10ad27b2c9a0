// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import HTTPTypes
import ImageTesting
import LoadingTesting
import LoadScheduling
import Synchronization
import Testing

@testable import HTTPCaching

/// A server whose bodies have no end; it counts what it was asked for.
private final class EndlessTransport: HTTPTransport {
    static let pieceByteCount = 50_000

    let sentByteCount = Atomic(0)
    let mostChargedByteCount = Atomic(0)
    private let budget: BodyBudget
    private let declaredByteCount: Int?

    init(_ budget: BodyBudget, declaring declaredByteCount: Int? = nil) {
        self.budget = budget
        self.declaredByteCount = declaredByteCount
    }

    func send(_ request: HTTPRequest) async throws(LoadError) -> HTTPTransportResponse {
        var head = HTTPResponse(status: .ok, headerFields: [.contentType: "image/x-fake"])
        head.headerFields[.contentLength] = declaredByteCount.map { "\($0)" }
        return HTTPTransportResponse(head: head, body: EndlessBody(transport: self))
    }

    fileprivate func piece() -> [UInt8] {
        sentByteCount.add(Self.pieceByteCount, ordering: .relaxed)
        mostChargedByteCount.max(budget.byteCount, ordering: .relaxed)
        return [UInt8](repeating: 7, count: Self.pieceByteCount)
    }
}

private struct EndlessBody: AsyncSequence, Sendable {
    let transport: EndlessTransport

    struct AsyncIterator: AsyncIteratorProtocol {
        let transport: EndlessTransport

        mutating func next() async throws(LoadError) -> [UInt8]? {
            try await next(isolation: nil)
        }

        mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(LoadError) -> [UInt8]? {
            if Task.isCancelled { throw .cancelled }
            await Task.yield()
            return transport.piece()
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(transport: transport) }
}

@Suite("The body budget", .timeLimit(.minutes(5))) struct BodyBudgetTests {
    private func load(
        _ transport: some HTTPTransport, _ number: Int = 0,
        _ change: (inout HTTPLoader.Configuration) -> Void
    ) async throws(LoadError) -> LoadedResponse {
        var configuration = HTTPLoader.Configuration()
        configuration.maximumRetryCount = 2
        change(&configuration)
        let loader = HTTPLoader(
            transport: transport, store: nil, codecs: CodecSet([FakeCodec()]),
            configuration: configuration, logger: .silent)
        return try await loader.load(
            HTTPLoadRequest(url: try HTTPURL("https://example.org/\(number).fake")))
    }

    @Test(
        "rejects an endless body at the limit and releases its memory",
        arguments: [nil, 900_000])
    func endless(declared: Int?) async throws {
        let budget = BodyBudget(byteLimit: 4 << 20)
        let transport = EndlessTransport(budget, declaring: declared)
        for number in 0..<3 {
            await #expect(
                throws: LoadError.decodingFailed(
                    path: "https://example.org/\(number).fake",
                    .limitExceeded(.byteCount, needed: 1_050_000, allowed: 1_000_000))
            ) {
                _ = try await load(transport, number) {
                    $0.maximumBodyByteCount = 1_000_000
                    $0.bodyBudget = budget
                }
            }
            #expect(transport.sentByteCount.load(ordering: .relaxed) == (number + 1) * 1_050_000)
            #expect(budget.byteCount == 0)
        }
    }

    @Test("limits all concurrent bodies together")
    func together() async throws {
        let budget = BodyBudget(byteLimit: 2_000_000)
        let transport = EndlessTransport(budget)
        await withTaskGroup(of: LoadError?.self) { group in
            for number in 0..<20 {
                group.addTask {
                    do throws(LoadError) {
                        _ = try await load(transport, number) {
                            $0.maximumBodyByteCount = 900_000
                            $0.bodyBudget = budget
                        }
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            for await error in group {
                guard case .decodingFailed(_, .limitExceeded(.byteCount, _, _)) = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
            }
        }
        #expect(transport.mostChargedByteCount.load(ordering: .relaxed) <= 2_000_000)
        #expect(transport.mostChargedByteCount.load(ordering: .relaxed) > 900_000)
        #expect(budget.byteCount == 0)
        #expect(budget.waitingCount == 0)
    }

    @Test("rejects a body larger than its limit without waiting")
    func tooLarge() async throws {
        let budget = BodyBudget(byteLimit: 1_000_000)
        await #expect(throws: LoadError.memoryBudgetExceeded(needed: 550_000, allowed: 500_000)) {
            _ = try await load(EndlessTransport(budget)) { $0.bodyBudget = budget }
        }
        #expect(budget.byteCount == 0)
    }

    @Test("charges a body until it is released")
    func whole() async throws {
        let budget = BodyBudget(byteLimit: 10 << 20)
        let body = HTTPFixture.image + [UInt8](repeating: 7, count: 3_000_000)
        for hasLength in [true, false] {
            var response: LoadedResponse? = try await load(
                FakeTransport { _, _ in FakeAnswer(body: body, hasLength: hasLength) }
            ) { $0.bodyBudget = budget }
            #expect(response?.bytes == body)
            #expect(budget.byteCount >= body.count)
            response = nil
            #expect(budget.byteCount == 0)
        }
    }

    @Test("makes transfers wait, and reserves the second half for the oldest")
    func waiting() async throws {
        let budget = BodyBudget(byteLimit: 4_000_000)
        var used: BodyRoom? = BodyRoom(in: budget)
        try await used?.take(1_500_000)
        used?.end()
        let (oldest, younger) = (BodyRoom(in: budget), BodyRoom(in: budget))
        try await younger.take(400_000)
        try await oldest.take(2_000_000)
        #expect(budget.byteCount == 3_900_000)
        let waiting = Task { try? await younger.take(1_500_000) }
        while budget.waitingCount == 0 { await Task.yield() }
        oldest.end()
        oldest.shrink(to: 0)
        used = nil
        _ = await waiting.value
        #expect(budget.byteCount == 1_500_000)
    }

    @Test("cancels a waiting transfer")
    func cancelled() async throws {
        let budget = BodyBudget(byteLimit: 2_000_000)
        let (first, second) = (BodyRoom(in: budget), BodyRoom(in: budget))
        try await first.take(1_000_000)
        let waiting = Task { () -> LoadError? in
            do throws(LoadError) {
                try await second.take(1_000_000)
                return nil
            } catch {
                return error
            }
        }
        while budget.waitingCount == 0 { await Task.yield() }
        waiting.cancel()
        #expect(await waiting.value == .cancelled)
        #expect(budget.byteCount == 1_000_000)
        withExtendedLifetime(first) {}
    }

    @Test(
        "delivers parts only up to the preview limit",
        arguments: [0, 5_000, 1 << 20])
    func previews(byteCount: Int) async throws {
        let fixture = try HTTPFixture {
            $0.maximumPreviewByteCount = byteCount
        } _: { _, _ in
            FakeAnswer(body: HTTPFixture.image)
        }
        let log = EventLog()
        #expect(try await fixture.load(events: log).bytes == HTTPFixture.image)
        #expect(log.bytes == Array(HTTPFixture.image.prefix(byteCount)))
        #expect(log.receivedByteCounts.last == HTTPFixture.image.count)
    }
}

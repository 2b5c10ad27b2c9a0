// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import ImageTesting
import LoadingTesting
import LoadScheduling
import Testing

@testable import HTTPCaching

@Suite("A rate limit of 80 per second with a burst of 25", .timeLimit(.minutes(5)))
struct RateLimiterTests {
    private let clock = FakeClock()
    private let limiter: RateLimiter

    init() {
        limiter = RateLimiter(
            rate: 80, burst: 25, clock: LoaderClock(clock, date: { 0 }))
    }

    private func drain() async throws {
        for _ in 0..<25 { try await limiter.take() }
    }

    @Test("admits a burst of 25 without waiting")
    func burst() async throws {
        let limiter = limiter
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<25 { group.addTask { try await limiter.take() } }
            // The clock stands still: a waiting request would wait for ever.
            try await group.waitForAll()
        }
        #expect(limiter.tokenCount == 0)
    }

    @Test("spaces later requests by 1/80 second")
    func spacing() async throws {
        try await drain()
        let limiter = limiter
        let starts = Log<Int>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await limiter.take()
                    starts.append(1)
                }
            }
            for count in 0..<4 {
                await eventually { clock.sleeps.count == 1 && limiter.waitingCount == 3 - count }
                let wait = try #require(clock.sleeps.first)
                #expect(abs(wait / .milliseconds(1) - 12.5) < 0.001)
                clock.advance(by: .milliseconds(12))
                #expect(starts.items.count == count)
                clock.advance(by: wait - .milliseconds(12))
                await eventually { starts.items.count == count + 1 }
            }
            try await group.waitForAll()
        }
    }

    @Test("refills up to 25")
    func refill() async throws {
        try await drain()
        clock.advance(by: .milliseconds(126))
        #expect(limiter.tokenCount == 10)
        clock.advance(by: .seconds(100))
        #expect(limiter.tokenCount == 25)
    }

    @Test("takes no token for a cancelled request, first in the queue or not")
    func cancelled() async throws {
        try await drain()
        let limiter = limiter
        let tasks = (0..<3).map { _ in Task { try await limiter.take() } }
        await eventually { clock.sleeps.count == 1 && limiter.waitingCount == 2 }
        for task in tasks { task.cancel() }
        for task in tasks {
            await #expect(throws: LoadError.cancelled) { try await task.value }
        }
        clock.advance(by: .seconds(1))
        #expect(limiter.tokenCount == 25)
    }

    @Test("is not drained by cancelled requests, and admits the next at once")
    func onlyCancelled() async throws {
        try await drain()
        let limiter = limiter
        let tasks = (0..<1000).map { _ in
            Task {
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                try await limiter.take()
            }
        }
        for task in tasks {
            await #expect(throws: LoadError.cancelled) { try await task.value }
        }
        #expect(clock.sleeps.isEmpty)
        clock.advance(by: .milliseconds(13))
        #expect(limiter.tokenCount == 1)
        try await limiter.take()
    }

    @Test("admits requests by priority")
    func priority() async throws {
        try await drain()
        let limiter = limiter
        let order = Log<LoadPriority>()
        await withTaskGroup(of: Void.self) { group in
            for (index, priority) in [LoadPriority.background, .prefetch, .visible].enumerated() {
                // The one that watches the clock keeps its place.
                group.addTask {
                    try? await limiter.take(priority)
                    order.append(priority)
                }
                await eventually { clock.sleeps.count == 1 && limiter.waitingCount == index }
            }
            for count in 1...3 {
                await eventually { clock.sleeps.count == 1 }
                clock.advance(by: .milliseconds(13))
                await eventually { order.items.count == count }
            }
        }
        #expect(order.items == [.background, .visible, .prefetch])
    }

    @Test("applies to the requests of a loader, without responses from the store")
    func loads() async throws {
        let fixture = try HTTPFixture {
            $0.maximumConcurrentCountPerHost = 100
        } _: { _, _ in
            FakeAnswer(fields: [.cacheControl: "max-age=60"], body: HTTPFixture.image)
        }
        for index in 0..<25 { _ = try await fixture.load("https://example.org/\(index)") }
        for index in 0..<25 { _ = try await fixture.load("https://example.org/\(index)") }
        #expect(fixture.requestCount == 25)
        let task = Task { try await fixture.load("https://example.org/late") }
        // The limiter's own sleeper only.
        await eventually { fixture.clock.sleeps.count == 1 }
        #expect(fixture.requestCount == 25)
        fixture.clock.advance(by: .milliseconds(13))
        _ = try await task.value
        #expect(fixture.requestCount == 26)
    }
}

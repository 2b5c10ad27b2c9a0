// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import Synchronization

/// Spaces what is started, so that scrolling past a thousand pictures does not start a thousand
/// connections: a bucket of tokens that fills at a steady rate, one token for each start.
///
/// Who finds no token waits in a queue. Only the first in it watches the clock; who leaves it by
/// being cancelled has taken nothing.
final class RateLimiter: Sendable {
    private struct Bucket {
        var tokenCount: Double
        var lastFill: Duration
    }

    /// Tokens that come each second.
    private let rate: Double
    /// Tokens that the bucket holds.
    private let burst: Double
    private let clock: LoaderClock
    private let bucket: Mutex<Bucket>
    private let queue = AsyncSemaphore(count: 1)

    init(rate: Double, burst: Int, clock: LoaderClock) {
        precondition(rate > 0 && burst > 0, "a limit that lets nothing through")
        self.rate = rate
        self.burst = Double(burst)
        self.clock = clock
        bucket = Mutex(Bucket(tokenCount: Double(burst), lastFill: clock.elapsed()))
    }

    /// How many wait, besides the first.
    var waitingCount: Int { queue.waitingCount }

    /// The whole tokens in the bucket now.
    var tokenCount: Int {
        bucket.withLock { bucket in
            fill(&bucket)
            return Int(bucket.tokenCount)
        }
    }

    /// Takes a token, waiting for it if need be.
    ///
    /// - Throws: `LoadError.cancelled`; then no token was taken.
    func take(_ priority: LoadPriority = .visible) async throws(LoadError) {
        try await queue.enter(priority)
        defer { queue.leave() }
        while let delay = takeOrDelay() {
            do {
                try await clock.sleep(delay)
            } catch {
                throw .cancelled
            }
        }
    }

    /// Takes a token, or says how long it is until there will be one.
    private func takeOrDelay() -> Duration? {
        bucket.withLock { bucket in
            fill(&bucket)
            if bucket.tokenCount >= 1 {
                bucket.tokenCount -= 1
                return nil
            }
            // One nanosecond more, so that rounding never leaves a part of a token to wait for.
            return .seconds((1 - bucket.tokenCount) / rate) + .nanoseconds(1)
        }
    }

    private func fill(_ bucket: inout Bucket) {
        let now = clock.elapsed()
        bucket.tokenCount = min(
            burst, bucket.tokenCount + (now - bucket.lastFill) / .seconds(1) * rate)
        bucket.lastFill = now
    }
}

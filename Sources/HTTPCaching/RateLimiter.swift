// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import Synchronization

/// A token bucket that limits the rate at which requests start, so that scrolling past a thousand
/// images does not open a thousand connections.
///
/// Requests without a token wait in a queue, by priority. Only the first waits for the clock; a
/// cancelled request takes no token.
final class RateLimiter: Sendable {
    private struct Bucket {
        var tokenCount: Double
        var lastFill: Duration
    }

    /// The number of tokens that are added each second.
    private let rate: Double
    /// The capacity of the bucket in tokens.
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

    /// The number of waiting requests, without the first.
    var waitingCount: Int { queue.waitingCount }

    /// The number of whole tokens in the bucket.
    var tokenCount: Int {
        bucket.withLock { bucket in
            fill(&bucket)
            return Int(bucket.tokenCount)
        }
    }

    /// Takes a token and waits for it if the bucket is empty.
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

    /// Takes a token, or returns the time until the next one is added.
    private func takeOrDelay() -> Duration? {
        bucket.withLock { bucket in
            fill(&bucket)
            if bucket.tokenCount >= 1 {
                bucket.tokenCount -= 1
                return nil
            }
            // One nanosecond more, so that rounding never leaves a fraction of a token missing.
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

// SPDX-License-Identifier: Apache-2.0

internal import CoreMetrics
internal import Synchronization

/// The locks of renditions that servers make for a store that all of them read.
///
/// A lock saves work and protects nothing: it ends by itself, another server waits for a bounded time,
/// and without Redis there are none.
///
/// Lock: held for a table lookup.
final class RenditionLocks: Sendable {
    /// The outcome of a request for a lock.
    enum Outcome: Hashable, Sendable {
        /// The caller makes the rendition.
        case make
        /// Another server has had the lock; the caller makes the rendition if the store does not have it.
        case lookUp
    }

    /// Takes the lock if it is free.
    ///
    /// Returns 0 if this server has it, 1 if another one has it, 2 if another
    /// one has released it because the rendition is in the store.
    private static let takeScript = """
        local value = redis.call('GET', KEYS[1])
        if value == 'written' then return 2 end
        if value and value ~= ARGV[1] then return 1 end
        redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
        return 0
        """
    /// Releases the lock of this server; with a lifetime, as one of a rendition that has been written.
    private static let releaseScript = """
        if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
        if ARGV[2] == '0' then return redis.call('DEL', KEYS[1]) end
        redis.call('SET', KEYS[1], 'written', 'PX', ARGV[2])
        return 1
        """

    /// The number of held locks above which those that have ended are removed.
    private static let maximumHeldCount = 1_024

    private let redis: RedisClient
    /// The ends of the locks of this server by name.
    private let held = Mutex<[String: ContinuousClock.Instant]>([:])
    private let clock = ContinuousClock()
    private let taken = Counter(label: "calotype.rendition.locks.taken")
    private let waits = Counter(label: "calotype.rendition.locks.waits")
    private let timeouts = Counter(label: "calotype.rendition.locks.timeouts")

    init(_ redis: RedisClient) { self.redis = redis }

    /// Takes the lock of a rendition, or waits until another server releases it, at most for the time in
    /// ``RedisLimits/lockWait``.
    func take(_ name: String) async -> Outcome {
        let end = clock.now + redis.limits.lockWait
        var hasWaited = false
        while true {
            switch await request(name) {
            case 0:
                hold(name)
                taken.increment()
                return hasWaited ? .lookUp : .make
            case 2: return .lookUp
            case 1:
                if !hasWaited { waits.increment() }
                hasWaited = true
                let next = clock.now + redis.limits.lockInterval
                if next > end {
                    timeouts.increment()
                    return .lookUp
                }
                do { try await Task.sleep(until: next, clock: clock) } catch { return .lookUp }
            default: return hasWaited ? .lookUp : .make
            }
        }
    }

    private func hold(_ name: String) {
        let now = clock.now
        held.withLock { held in
            // Those of requests that were cancelled while they waited.
            if held.count >= Self.maximumHeldCount { held = held.filter { now < $0.value } }
            held[name] = now + redis.limits.lockLifetime
        }
    }

    /// Returns whether this server has the lock, and leaves it to the caller to release it.
    func handOver(_ name: String) -> Bool {
        held.withLock { $0.removeValue(forKey: name) != nil }
    }

    /// Releases a lock that was handed over, without waiting.
    ///
    /// - Parameters:
    ///   - name: the name of the rendition.
    ///   - isWritten: whether the store has the rendition now.
    func release(_ name: String, isWritten: Bool) {
        let lifetime = isWritten ? redis.limits.writtenLifetime : .zero
        redis.post(
            .lock,
            [
                "EVAL", Self.releaseScript, "1", key(name), redis.token,
                "\(Int(lifetime / .milliseconds(1)))",
            ])
    }

    /// Requests the lock once; returns `nil` without an answer.
    private func request(_ name: String) async -> Int? {
        let lifetime = "\(Int(redis.limits.lockLifetime / .milliseconds(1)))"
        guard
            let reply = try? await redis.send(
                .lock, ["EVAL", Self.takeScript, "1", key(name), redis.token, lifetime],
                redis.limits.lockTimeout)
        else { return nil }
        guard case .integer(let number) = reply, 0...2 ~= number else {
            redis.failed(.lock, .invalidReply)
            return nil
        }
        return number
    }

    private func key(_ name: String) -> String { redis.name("lock", name) }
}

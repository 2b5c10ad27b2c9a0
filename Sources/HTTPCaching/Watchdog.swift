// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Cancels work in which nothing happens for too long, or that takes too long altogether.
final class Watchdog: Sendable {
    private struct State {
        var lastActivity: Duration
        var timeout: Duration
        var hasTimedOut = false
    }

    private let idleTimeout: Duration
    private let end: Duration
    private let clock: LoaderClock
    private let state: Mutex<State>

    /// - Parameters:
    ///   - responseTimeout: how long the first sign of life may take.
    ///   - idleTimeout: how long each further one may take.
    ///   - totalTimeout: how long the work may take, whatever happens meanwhile.
    ///   - clock: what it watches.
    init(
        responseTimeout: Duration, idleTimeout: Duration, totalTimeout: Duration,
        clock: LoaderClock
    ) {
        let now = clock.elapsed()
        self.idleTimeout = idleTimeout
        self.clock = clock
        end = now + totalTimeout
        state = Mutex(State(lastActivity: now, timeout: responseTimeout))
    }

    var hasTimedOut: Bool { state.withLock { $0.hasTimedOut } }

    /// Something has happened.
    func noteActivity() {
        let now = clock.elapsed()
        state.withLock { state in
            state.lastActivity = now
            state.timeout = idleTimeout
        }
    }

    /// Does `work`, whose task is cancelled when it takes too long.
    func watch<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
        await withTaskGroup(of: Value?.self) { group in
            group.addTask { await work() }
            group.addTask {
                await self.wait()
                return nil
            }
            var result: Value?
            for await value in group {
                // Whichever ends first ends the other.
                group.cancelAll()
                result = value ?? result
            }
            guard let result else { preconditionFailure("the work ended without a value") }
            return result
        }
    }

    /// Waits until one of the times is over, or the work has ended.
    private func wait() async {
        while let delay = timeLeft() {
            // The first sign of life, which nothing announces here, may shorten the time.
            do { try await clock.sleep(min(delay, idleTimeout)) } catch { return }
        }
    }

    private func timeLeft() -> Duration? {
        let now = clock.elapsed()
        return state.withLock { state in
            let left = min(state.lastActivity + state.timeout, end) - now
            guard left <= .zero else { return left }
            state.hasTimedOut = true
            return nil
        }
    }
}

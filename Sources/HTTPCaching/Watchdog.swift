// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Cancels work that is idle for too long or takes too long in total.
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

    /// Creates a watchdog; the time starts now.
    ///
    /// - Parameters:
    ///   - responseTimeout: the maximum time until the first activity.
    ///   - idleTimeout: the maximum time between further activities.
    ///   - totalTimeout: the maximum time for the work.
    ///   - clock: the clock.
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

    /// Records an activity.
    func noteActivity() {
        let now = clock.elapsed()
        state.withLock { state in
            state.lastActivity = now
            state.timeout = idleTimeout
        }
    }

    /// Runs `work` and cancels its task when it times out.
    func watch<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
        await withTaskGroup(of: Value?.self) { group in
            group.addTask { await work() }
            group.addTask {
                await self.wait()
                return nil
            }
            var result: Value?
            for await value in group {
                // The first child to end cancels the other.
                group.cancelAll()
                result = value ?? result
            }
            guard let result else { preconditionFailure("the work ended without a value") }
            return result
        }
    }

    /// Waits until a timeout expires or the work has ended.
    private func wait() async {
        while let delay = timeLeft() {
            // The first activity, which does not wake this task, may shorten the time.
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

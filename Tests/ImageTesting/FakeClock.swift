// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A clock that advances only when a test advances it.
public final class FakeClock: Clock, Sendable {
    public struct Instant: InstantProtocol {
        public var offset: Duration

        public func advanced(by duration: Duration) -> Instant {
            Instant(offset: offset + duration)
        }
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        public static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }

    private struct Sleeper {
        let deadline: Instant
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleepers: [Int: Sleeper] = [:]
        var lastNumber = 0
    }

    /// The date of the examples in the HTTP specification: Sunday, 6 November 1994, 08:49:37.
    public static let startDate = 784_111_777

    private let state = Mutex(State())

    public init() {}

    public var now: Instant { state.withLock { $0.now } }
    public var minimumResolution: Duration { .nanoseconds(1) }
    /// The current time in seconds since 1970.
    public var date: Int { Self.startDate + Int(now.offset.components.seconds) }
    /// The remaining durations of all sleeping tasks, in ascending order.
    public var sleeps: [Duration] {
        state.withLock { state in
            state.sleepers.values.map { state.now.duration(to: $0.deadline) }.sorted()
        }
    }

    /// Waits until a task sleeps for at most a second, which is shorter than every timeout.
    public func sleepsBriefly() async {
        await eventually { sleeps.first.map { $0 <= .seconds(1) } ?? false }
    }

    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let woken = state.sleepers.filter { $0.value.deadline <= state.now }
            for number in woken.keys { state.sleepers[number] = nil }
            return woken.values
        }
        for sleeper in woken { sleeper.continuation.resume(returning: true) }
    }

    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let isOver = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if deadline <= state.now { return true }
                    state.sleepers[number] = Sleeper(
                        deadline: deadline, continuation: continuation)
                    return false
                }
                if isOver { continuation.resume(returning: true) }
                if Task.isCancelled { wake(number) }
            }
        } onCancel: {
            wake(number)
        }
        if !isOver { throw CancellationError() }
    }

    private func wake(_ number: Int) {
        let sleeper = state.withLock { $0.sleepers.removeValue(forKey: number) }
        sleeper?.continuation.resume(returning: false)
    }
}

/// Polls until a condition holds; the time limit of the suite bounds the wait.
public func eventually(_ condition: () async throws -> Bool) async rethrows {
    while try await !condition() && !Task.isCancelled { await Task.yield() }
}

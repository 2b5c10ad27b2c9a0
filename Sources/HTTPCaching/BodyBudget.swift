// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import Synchronization

/// The memory budget for response bodies, from the first byte received until their use.
///
/// A body is charged as its bytes arrive. When the budget is exhausted, its transfer waits, and the
/// server is slowed down by backpressure. Half of the budget is reserved for the oldest transfer,
/// so that transfers that hold parts of bodies never deadlock; a body takes at most that half.
///
/// Its lock is held for short operations only, never while awaiting or resuming a continuation.
public final class BodyBudget: Sendable {
    private struct Waiter {
        let body: UInt64
        let byteCount: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var byteCount = 0
        var lastBody: UInt64 = 0
        /// The bodies that are still being received, the oldest first.
        var coming: [UInt64] = []
        /// The waiting transfers, at most one for each body; the oldest first.
        var waiters: [Waiter] = []
    }

    /// The maximum number of bytes of all bodies together.
    public let byteLimit: Int
    private let state = Mutex(State())

    /// Creates a budget for a number of bytes.
    public init(byteLimit: Int) { self.byteLimit = byteLimit }

    /// The maximum number of bytes of one body.
    public var bodyByteLimit: Int { byteLimit / 2 }

    /// The number of bytes that are charged now.
    public var byteCount: Int { state.withLock { $0.byteCount } }

    /// The number of transfers that wait for the budget.
    public var waitingCount: Int { state.withLock { $0.waiters.count } }

    fileprivate func begin() -> UInt64 {
        state.withLock { state in
            state.lastBody += 1
            state.coming.append(state.lastBody)
            return state.lastBody
        }
    }

    /// Waits until `byteCount` more bytes can be charged for a body.
    fileprivate func take(_ byteCount: Int, for body: UInt64) async throws(LoadError) {
        let isTaken = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    let place = state.waiters.firstIndex { $0.body > body }
                    state.waiters.insert(
                        Waiter(body: body, byteCount: byteCount, continuation: continuation),
                        at: place ?? state.waiters.endIndex)
                }
                // Cancelled before waiting: the handler has already run and found nothing.
                if Task.isCancelled { giveUp(body) }
                settle()
            }
        } onCancel: {
            giveUp(body)
        }
        guard isTaken else { throw .cancelled }
    }

    /// Ends the reception of a body.
    fileprivate func end(_ body: UInt64) {
        state.withLock { state in state.coming.removeAll { $0 == body } }
        settle()
    }

    fileprivate func giveBack(_ byteCount: Int) {
        state.withLock { $0.byteCount -= byteCount }
        settle()
    }

    private func giveUp(_ body: UInt64) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.body == body }.map { state.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(returning: false)
    }

    /// Resumes the transfers whose bytes fit the budget.
    private func settle() {
        let admitted = state.withLock { state in
            var admitted: [Waiter] = []
            for waiter in state.waiters {
                let limit = waiter.body == state.coming.first ? byteLimit : bodyByteLimit
                guard waiter.byteCount <= limit - state.byteCount else { break }
                state.byteCount += waiter.byteCount
                admitted.append(waiter)
            }
            state.waiters.removeFirst(admitted.count)
            return admitted
        }
        for waiter in admitted { waiter.continuation.resume(returning: true) }
    }
}

/// The share of one body in the budget; returned with the last reference.
package final class BodyRoom: Sendable {
    private struct State {
        var byteCount = 0
        var isComing = true
    }

    /// The smallest charge, so that parts of some kilobytes are not charged one by one.
    private static let stepByteCount = 256 << 10

    private let budget: BodyBudget
    private let number: UInt64
    private let state = Mutex(State())

    init(in budget: BodyBudget) {
        self.budget = budget
        number = budget.begin()
    }

    deinit {
        end()
        shrink(to: 0)
    }

    /// Waits until the first `byteCount` bytes of the body are charged; called from one task.
    ///
    /// - Throws: `LoadError.memoryBudgetExceeded(needed:allowed:)` if they exceed the limit of a
    ///   body, or `LoadError.cancelled`.
    func take(_ byteCount: Int) async throws(LoadError) {
        let missing = byteCount - state.withLock(\.byteCount)
        guard missing > 0 else { return }
        let allowed = budget.bodyByteLimit
        guard byteCount <= allowed else {
            throw .memoryBudgetExceeded(needed: byteCount, allowed: allowed)
        }
        let step = min(max(missing, Self.stepByteCount), allowed - (byteCount - missing))
        try await budget.take(step, for: number)
        state.withLock { $0.byteCount += step }
    }

    /// Returns what exceeds `byteCount` bytes to the budget.
    func shrink(to byteCount: Int) {
        let rest = state.withLock { state in
            defer { state.byteCount = min(state.byteCount, byteCount) }
            return state.byteCount - min(state.byteCount, byteCount)
        }
        if rest > 0 { budget.giveBack(rest) }
    }

    /// Ends the reception; no more bytes are charged.
    func end() {
        let wasComing = state.withLock { state in
            defer { state.isComing = false }
            return state.isComing
        }
        if wasComing { budget.end(number) }
    }
}

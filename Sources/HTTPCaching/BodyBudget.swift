// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import Synchronization

/// The account of the bodies of answers that are in memory, while they come and until they are used.
///
/// A body is charged as its bytes come. When the account is full, its transfer waits, and the server
/// that sends it is slowed down. Half of the account is for the oldest transfer alone, so transfers
/// that wait with parts of bodies never wait for each other; a body takes at most that half.
///
/// A lock: every operation is short, never awaits and resumes no continuation while it is held.
public final class BodyBudget: Sendable {
    private struct Waiter {
        let body: UInt64
        let byteCount: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var byteCount = 0
        var lastBody: UInt64 = 0
        /// Those that are still coming, the oldest first.
        var coming: [UInt64] = []
        /// At most one for each body; the oldest first.
        var waiters: [Waiter] = []
    }

    /// The bytes of all bodies together.
    public let byteLimit: Int
    private let state = Mutex(State())

    public init(byteLimit: Int) { self.byteLimit = byteLimit }

    /// The bytes of one body.
    public var bodyByteLimit: Int { byteLimit / 2 }

    /// The bytes that are charged now.
    public var byteCount: Int { state.withLock { $0.byteCount } }

    /// How many transfers wait for room.
    public var waitingCount: Int { state.withLock { $0.waiters.count } }

    fileprivate func begin() -> UInt64 {
        state.withLock { state in
            state.lastBody += 1
            state.coming.append(state.lastBody)
            return state.lastBody
        }
    }

    /// Waits until a body may take so many bytes more.
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

    /// Says that a body has come, or never will.
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

    /// Lets those go on for whom there is room.
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

/// What one body takes of the account; given back with the last reference.
package final class BodyRoom: Sendable {
    private struct State {
        var byteCount = 0
        var isComing = true
    }

    /// So that pieces of some kilobytes do not each ask for room.
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

    /// Waits until there is room for the body's first `byteCount` bytes; called from one task.
    ///
    /// - Throws: `LoadError.memoryBudgetExceeded(needed:allowed:)` if there never is, or
    ///   `LoadError.cancelled`.
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

    /// Gives back what is more than so many bytes.
    func shrink(to byteCount: Int) {
        let rest = state.withLock { state in
            defer { state.byteCount = min(state.byteCount, byteCount) }
            return state.byteCount - min(state.byteCount, byteCount)
        }
        if rest > 0 { budget.giveBack(rest) }
    }

    /// Says that no more is taken.
    func end() {
        let wasComing = state.withLock { state in
            defer { state.isComing = false }
            return state.isComing
        }
        if wasComing { budget.end(number) }
    }
}

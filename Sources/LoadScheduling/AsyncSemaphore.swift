// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Lets so many in at a time; the others wait, the most urgent first, without holding a thread.
///
/// A lock: every operation is short, never awaits and resumes nobody while it is held.
package final class AsyncSemaphore: Sendable {
    private struct Waiter {
        let number: UInt64
        let priority: LoadPriority
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var freeCount: Int
        /// The next to be let in stands first.
        var waiters: [Waiter] = []
        var lastNumber: UInt64 = 0
    }

    private let state: Mutex<State>

    package init(count: Int) { state = Mutex(State(freeCount: count)) }

    package var waitingCount: Int { state.withLock { $0.waiters.count } }

    /// Waits to be let in; ``leave()`` must follow.
    ///
    /// - Throws: ``LoadError/cancelled``; then there is nothing to leave.
    package func enter(_ priority: LoadPriority) async throws(LoadError) {
        guard !Task.isCancelled else { throw .cancelled }
        let number = state.withLock { state -> UInt64? in
            if state.freeCount > 0 {
                state.freeCount -= 1
                return nil
            }
            state.lastNumber += 1
            return state.lastNumber
        }
        guard let number else { return }
        let isIn = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                wait(Waiter(number: number, priority: priority, continuation: continuation))
                // Cancelled before waiting: the handler has already run and found nobody.
                if Task.isCancelled { giveUp(number) }
            }
        } onCancel: {
            giveUp(number)
        }
        guard isIn else { throw .cancelled }
    }

    package func leave() {
        let next = state.withLock { state -> Waiter? in
            if state.waiters.isEmpty {
                state.freeCount += 1
                return nil
            }
            return state.waiters.removeFirst()
        }
        next?.continuation.resume(returning: true)
    }

    private func wait(_ waiter: Waiter) {
        let isIn = state.withLock { state in
            // Somebody may have left since.
            if state.freeCount > 0 {
                state.freeCount -= 1
                return true
            }
            let place = state.waiters.firstIndex { $0.priority < waiter.priority }
            state.waiters.insert(waiter, at: place ?? state.waiters.endIndex)
            return false
        }
        if isIn { waiter.continuation.resume(returning: true) }
    }

    private func giveUp(_ number: UInt64) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.waiters.firstIndex(where: { $0.number == number }) else {
                return nil
            }
            return state.waiters.remove(at: index)
        }
        waiter?.continuation.resume(returning: false)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A counting semaphore for tasks; waiting tasks are resumed by priority and block no thread.
///
/// Its lock is held for short operations only, never while awaiting or resuming a continuation.
package final class AsyncSemaphore: Sendable {
    private struct Waiter {
        let number: UInt64
        let priority: LoadPriority
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var freeCount: Int
        /// The waiting tasks, the next to be resumed first.
        var waiters: [Waiter] = []
        var lastNumber: UInt64 = 0
    }

    private let state: Mutex<State>

    package init(count: Int) { state = Mutex(State(freeCount: count)) }

    package var waitingCount: Int { state.withLock { $0.waiters.count } }

    /// Waits for a slot; call ``leave()`` to release it.
    ///
    /// - Throws: ``LoadError/cancelled``; then no slot is held.
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
                // Cancelled before waiting: the handler has already run and found no waiter.
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
            // A slot may have been released since.
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

// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import Synchronization

/// Limits the number of concurrent jobs; waiting clients take turns (round robin).
///
/// A client with many requests therefore delays its own, and others only by the running jobs.
///
/// Lock: held for a table lookup.
final class FairQueue: Sendable {
    private struct Waiter {
        let ticket: UInt64
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var runningCount = 0
        var lastTicket: UInt64 = 0
        var waitingCount = 0
        /// The waiting jobs of each client, the oldest first.
        var waiting: [String: [Waiter]] = [:]
        /// The clients with waiting jobs, the next one first.
        var turns: [String] = []
        /// The jobs that were cancelled before they began to wait.
        var cancelled: Set<UInt64> = []
    }

    private let width: Int
    private let maximumWaitingCount: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - width: the maximum number of concurrent jobs.
    ///   - maximumWaitingCount: the maximum number of waiting jobs.
    init(width: Int, maximumWaitingCount: Int) {
        precondition(width > 0, "the width must be positive")
        self.width = width
        self.maximumWaitingCount = maximumWaitingCount
    }

    /// The number of waiting jobs.
    var waitingCount: Int { state.withLock { $0.waitingCount } }

    /// Runs `work` when it is the client's turn.
    ///
    /// - Throws: the error of `work`; ``ImageLoading/LoadError/queueFull``;
    ///   ``ImageLoading/LoadError/cancelled`` if the task is cancelled before `work` begins.
    func run<Result: Sendable>(
        _ client: String, _ work: () async throws -> Result
    ) async throws -> Result {
        try await enter(client)
        defer { leave() }
        return try await work()
    }

    private func enter(_ client: String) async throws(LoadError) {
        let ticket = try state.withLock { state throws(LoadError) -> UInt64? in
            if state.runningCount < width {
                state.runningCount += 1
                return nil
            }
            guard state.waitingCount < maximumWaitingCount else { throw .queueFull }
            state.waitingCount += 1
            state.lastTicket += 1
            return state.lastTicket
        }
        guard let ticket else { return }
        let hasRoom = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if state.cancelled.remove(ticket) != nil {
                        state.waitingCount -= 1
                        return true
                    }
                    if state.waiting[client] == nil { state.turns.append(client) }
                    state.waiting[client, default: []].append(
                        Waiter(ticket: ticket, continuation: continuation))
                    return false
                }
                if isCancelled { continuation.resume(returning: false) } else { beginNext() }
            }
        } onCancel: {
            cancel(client, ticket)
        }
        state.withLock { _ = $0.cancelled.remove(ticket) }
        guard hasRoom else { throw .cancelled }
    }

    private func leave() {
        state.withLock { $0.runningCount -= 1 }
        beginNext()
    }

    private func beginNext() {
        let next = state.withLock { state -> Waiter? in
            guard state.runningCount < width, !state.turns.isEmpty else { return nil }
            let client = state.turns.removeFirst()
            guard var waiters = state.waiting[client], !waiters.isEmpty else { return nil }
            let waiter = waiters.removeFirst()
            state.waiting[client] = waiters.isEmpty ? nil : waiters
            if !waiters.isEmpty { state.turns.append(client) }
            state.waitingCount -= 1
            state.runningCount += 1
            return waiter
        }
        next?.continuation.resume(returning: true)
    }

    private func cancel(_ client: String, _ ticket: UInt64) {
        let waiter = state.withLock { state -> Waiter? in
            guard var waiters = state.waiting[client],
                let index = waiters.firstIndex(where: { $0.ticket == ticket })
            else {
                // A running job is cancelled through its task.
                state.cancelled.insert(ticket)
                return nil
            }
            let waiter = waiters.remove(at: index)
            state.waiting[client] = waiters.isEmpty ? nil : waiters
            if waiters.isEmpty { state.turns.removeAll { $0 == client } }
            state.waitingCount -= 1
            return waiter
        }
        waiter?.continuation.resume(returning: false)
    }
}

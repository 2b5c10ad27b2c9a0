// SPDX-License-Identifier: Apache-2.0

internal import ImageLoading
internal import LoadScheduling
internal import Synchronization

/// Lets so much work run at a time; clients whose work waits take turns.
///
/// A client that asks for much therefore delays its own requests, and those of others by what runs.
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
        /// The work that waits, by client, the oldest first.
        var waiting: [String: [Waiter]] = [:]
        /// The clients whose work waits, the next one first.
        var turns: [String] = []
        /// Work that was cancelled before it began to wait.
        var cancelled: Set<UInt64> = []
    }

    private let width: Int
    private let maximumWaitingCount: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - width: how much work runs at the same time.
    ///   - maximumWaitingCount: how much may wait.
    init(width: Int, maximumWaitingCount: Int) {
        precondition(width > 0, "a queue needs room for one")
        self.width = width
        self.maximumWaitingCount = maximumWaitingCount
    }

    var waitingCount: Int { state.withLock { $0.waitingCount } }

    /// Runs `work` when it is the client's turn.
    ///
    /// - Throws: what it throws, ``ImageLoading/LoadError/queueFull``, or
    ///   ``ImageLoading/LoadError/cancelled`` for work that has not begun by then.
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
                // Work that runs already is cancelled by its task.
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

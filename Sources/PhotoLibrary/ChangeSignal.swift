// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Resumes the tasks that wait for a change.
///
/// Lock: held for table operations.
final class ChangeSignal: Sendable {
    private struct State {
        var waiting: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextNumber = 0
        var isFinished = false
    }

    private let state = Mutex(State())

    /// Returns a stream with an element after the changes from now on, until ``finish()``.
    func changes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number: Int? = state.withLock { state in
            guard !state.isFinished else { return nil }
            state.nextNumber += 1
            state.waiting[state.nextNumber] = continuation
            return state.nextNumber
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.waiting[number] = nil }
        }
        return stream
    }

    /// Adds an element to all streams.
    func notify() {
        let waiting = state.withLock { Array($0.waiting.values) }
        for continuation in waiting { continuation.yield() }
    }

    /// Ends all streams, also those that are made later.
    func finish() {
        let waiting = state.withLock { state in
            state.isFinished = true
            return Array(state.waiting.values)
        }
        // Not locked: their ends are reported at once.
        for continuation in waiting { continuation.finish() }
    }
}

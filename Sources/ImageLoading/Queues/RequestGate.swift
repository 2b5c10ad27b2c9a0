// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import Synchronization

/// Counts the requests in flight, so that closing can wait for them.
final class RequestGate: Sendable {
    private struct State {
        var isClosed = false
        var insideCount = 0
        var closers: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Admits a request; ``leave()`` must follow.
    ///
    /// - Throws: ``LoadError/cancelled`` once closed.
    func enter() throws(LoadError) {
        try state.withLock { state throws(LoadError) in
            guard !state.isClosed else { throw .cancelled }
            state.insideCount += 1
        }
    }

    func leave() {
        let closers = state.withLock { state in
            state.insideCount -= 1
            guard state.insideCount == 0 else { return [] as [CheckedContinuation<Void, Never>] }
            defer { state.closers = [] }
            return state.closers
        }
        for closer in closers { closer.resume() }
    }

    /// Rejects new requests and waits for those in flight to finish.
    func close() async {
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLock { state in
                state.isClosed = true
                if state.insideCount > 0 { state.closers.append(continuation) }
                return state.insideCount == 0
            }
            if isEmpty { continuation.resume() }
        }
    }
}

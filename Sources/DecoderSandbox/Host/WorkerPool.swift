// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import EncodedImages
internal import Synchronization

/// The workers for one kind of request, so that quick requests never wait for slow ones.
///
/// A thread of the pool starts them: the kernel kills a worker when the thread that started it ends, and
/// the threads of requests are short-lived.
final class WorkerPool: Sendable {
    private struct State {
        /// The idle workers, the most recently used last, and the errors of those that did not start.
        var idle: [Result<Worker, CodecError>] = []
        /// The number of workers that may be started in addition.
        var missingCount: Int
        /// The number of requests that wait for a worker.
        var waitingCount = 0
        var isClosed = false
        /// The limiter of each image with requests in flight, by its identity.
        var turnstiles: [Int: Turnstile] = [:]
    }

    /// Limits the number of concurrent requests for one image.
    private struct Turnstile {
        let semaphore = DispatchSemaphore(value: 0)
        var requestCount = 0
    }

    private let state: Mutex<State>
    /// Signalled once per idle worker.
    private let idle = DispatchSemaphore(value: 0)
    /// Signalled once per worker to start, and once by `close()`.
    private let wanted: DispatchSemaphore
    /// Signalled when the thread that starts workers has ended.
    private let ended = DispatchSemaphore(value: 0)
    private let count: Int

    /// - Parameters:
    ///   - count: the maximum number of workers.
    ///   - aheadCount: the number of workers that are started now; the others start when a request
    ///     finds no idle worker.
    ///   - start: starts a worker.
    init(
        count: Int, aheadCount: Int, start: @escaping @Sendable () throws(CodecError) -> Worker
    ) {
        self.count = count
        state = Mutex(State(missingCount: count - aheadCount))
        wanted = DispatchSemaphore(value: 0)
        for _ in 0..<aheadCount { wanted.signal() }
        startThread { [self] in
            while true {
                wanted.wait()
                if state.withLock(\.isClosed) {
                    ended.signal()
                    return
                }
                finishStart(Result { () throws(CodecError) in try start() })
            }
        }
    }

    /// Whether a request waits for a worker and no further worker can be started.
    var isContended: Bool {
        state.withLock { $0.waitingCount > $0.idle.count && $0.missingCount == 0 }
    }

    /// Waits until fewer than half of the workers process the same image; ``leave(_:)`` must follow.
    ///
    /// - Throws: ``CodecError/cancelled``, ``CodecError/sandboxUnavailable(reason:)``.
    func enter(_ identity: Int, _ cancellation: CancellationFlag?) throws(CodecError) {
        let semaphore = state.withLock { state in
            var turnstile = state.turnstiles[identity] ?? Turnstile()
            if turnstile.requestCount == 0 {
                for _ in 0..<max(1, count / 2) { turnstile.semaphore.signal() }
            }
            turnstile.requestCount += 1
            state.turnstiles[identity] = turnstile
            return turnstile.semaphore
        }
        do throws(CodecError) {
            try wait(semaphore, cancellation)
        } catch {
            forget(identity)
            throw error
        }
    }

    /// Admits the next request for an image.
    func leave(_ identity: Int) {
        state.withLock { _ = $0.turnstiles[identity]?.semaphore.signal() }
        forget(identity)
    }

    private func forget(_ identity: Int) {
        state.withLock { state in
            state.turnstiles[identity]?.requestCount -= 1
            if state.turnstiles[identity]?.requestCount == 0 { state.turnstiles[identity] = nil }
        }
    }

    private func wait(
        _ semaphore: DispatchSemaphore, _ cancellation: CancellationFlag?
    ) throws(CodecError) {
        while semaphore.wait(timeout: .now() + .milliseconds(20)) == .timedOut {
            if cancellation?.isCancelled == true { throw .cancelled }
            if state.withLock(\.isClosed) {
                throw .sandboxUnavailable(reason: "the sandbox has been closed")
            }
        }
    }

    private func finishStart(_ worker: Result<Worker, CodecError>) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.idle.append(worker) }
            return state.isClosed
        }
        if isClosed {
            _ = try? worker.get().end()
        } else {
            idle.signal()
        }
    }

    /// Waits for an idle worker.
    ///
    /// - Parameter cancellation: set by another thread when the request is cancelled.
    /// - Returns: a worker for exclusive use.
    /// - Throws: ``CodecError/sandboxUnavailable(reason:)``, ``CodecError/cancelled``.
    func acquire(_ cancellation: CancellationFlag?) throws(CodecError) -> Worker {
        let startsOne = state.withLock { state in
            state.waitingCount += 1
            // Idle workers may be taken by requests that already wait.
            guard state.idle.count < state.waitingCount, state.missingCount > 0 else {
                return false
            }
            state.missingCount -= 1
            return true
        }
        defer { state.withLock { $0.waitingCount -= 1 } }
        if startsOne { wanted.signal() }
        try wait(idle, cancellation)
        let next = state.withLock { $0.idle.popLast() }
        switch next {
        case .success(let worker):
            return worker
        case .failure(let error):
            // The next request tries again.
            replace()
            throw error
        case nil:
            throw .sandboxUnavailable(reason: "the sandbox has been closed")
        }
    }

    /// Returns a worker that can be used again.
    func release(_ worker: Worker) { finishStart(.success(worker)) }

    /// Starts a worker that replaces an acquired one.
    func replace() { wanted.signal() }

    /// Ends all idle workers, and acquired ones when they are released.
    func close() {
        let (idle, isFirst) = state.withLock { state in
            defer {
                state.idle = []
                state.isClosed = true
            }
            return (state.idle, !state.isClosed)
        }
        guard isFirst else { return }
        wanted.signal()
        // A worker that is being started would be left behind.
        ended.wait()
        for worker in idle { _ = try? worker.get().end() }
    }
}

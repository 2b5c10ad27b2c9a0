// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import EncodedImages
internal import Synchronization

/// Workers for one kind of work, so that quick work never waits behind slow.
///
/// They are started by a thread of the lane's own: a worker dies with the thread that started it, and
/// those that ask come and go.
final class WorkerLane: Sendable {
    private struct State {
        /// Workers that wait for work, and why some could not be started; the last used is last.
        var idle: [Result<Worker, CodecError>] = []
        /// How many more workers there may be.
        var missingCount: Int
        /// How many requests wait for a worker.
        var waitingCount = 0
        var isClosed = false
        /// The requests about each picture, by its identity.
        var turnstiles: [Int: Turnstile] = [:]
    }

    /// Lets a number of requests about one picture through at a time.
    private struct Turnstile {
        let semaphore = DispatchSemaphore(value: 0)
        var requestCount = 0
    }

    private let state: Mutex<State>
    /// Counts a signal for each that is idle.
    private let idle = DispatchSemaphore(value: 0)
    /// Counts a signal for each that is to be started, and one for the end.
    private let wanted: DispatchSemaphore
    /// Counts a signal when no worker is started any more.
    private let ended = DispatchSemaphore(value: 0)
    private let count: Int

    /// - Parameters:
    ///   - count: the maximum number of workers.
    ///   - aheadCount: how many are started now; the others when a request finds none idle.
    ///   - start: starts one.
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

    /// Whether a request waits for a worker that only the end of another request can give it.
    var isWaitedFor: Bool {
        state.withLock { $0.waitingCount > $0.idle.count && $0.missingCount == 0 }
    }

    /// Waits until fewer than half of the workers are busy with a picture; ``leave(_:)`` must follow.
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

    /// Lets the next request about a picture through.
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
            if state.withLock(\.isClosed) { throw .sandboxUnavailable(reason: "it was closed") }
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

    /// Waits for a worker.
    ///
    /// - Parameter cancellation: set by another thread when nobody waits any more.
    /// - Returns: a worker that nobody else uses.
    /// - Throws: ``CodecError/sandboxUnavailable(reason:)``, ``CodecError/cancelled``.
    func take(_ cancellation: CancellationFlag?) throws(CodecError) -> Worker {
        let startsOne = state.withLock { state in
            state.waitingCount += 1
            // Those that are idle may be meant for requests that wait already.
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
            // The next one who asks finds out whether it still is so.
            replace()
            throw error
        case nil:
            throw .sandboxUnavailable(reason: "it was closed")
        }
    }

    /// Takes a worker back that can go on.
    func giveBack(_ worker: Worker) { finishStart(.success(worker)) }

    /// Has one started in place of one that was taken.
    func replace() { wanted.signal() }

    /// Ends all workers that are idle, and those that are taken once they come back.
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
        // One that is being started would be left behind.
        ended.wait()
        for worker in idle { _ = try? worker.get().end() }
    }
}

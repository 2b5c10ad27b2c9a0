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
        /// How many workers are to be started.
        var wantedCount: Int
        var isClosed = false
        /// Whether the first workers are being started.
        var hasBegun = false
    }

    private let state: Mutex<State>
    /// Counts a signal for each that is idle.
    private let idle = DispatchSemaphore(value: 0)
    /// Counts a signal for each that is to be started, and one for the end.
    private let wanted: DispatchSemaphore
    /// Counts a signal when no worker is started any more.
    private let ended = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - count: how many workers there are.
    ///   - startsAhead: whether they are started now, and not when one is first asked for.
    ///   - start: starts one.
    init(
        count: Int, startsAhead: Bool = true,
        start: @escaping @Sendable () throws(CodecError) -> Worker
    ) {
        state = Mutex(State(wantedCount: count))
        wanted = DispatchSemaphore(value: 0)
        if startsAhead { begin() }
        startThread { [self] in
            while true {
                wanted.wait()
                guard beginStart() else {
                    ended.signal()
                    return
                }
                finishStart(Result { () throws(CodecError) in try start() })
            }
        }
    }

    /// Has the first workers started.
    private func begin() {
        let count = state.withLock { state in
            defer { state.hasBegun = true }
            return state.hasBegun ? 0 : state.wantedCount
        }
        for _ in 0..<count { wanted.signal() }
    }

    /// - Returns: whether there is one to be started, and not the end.
    private func beginStart() -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.wantedCount -= 1
            return true
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
        begin()
        while idle.wait(timeout: .now() + .milliseconds(20)) == .timedOut {
            if cancellation?.isCancelled == true { throw .cancelled }
            if state.withLock(\.isClosed) { throw .sandboxUnavailable(reason: "it was closed") }
        }
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
    func replace() {
        state.withLock { $0.wantedCount += 1 }
        wanted.signal()
    }

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

// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import EncodedImages
internal import Synchronization

/// The workers for one kind of request, so that quick requests never wait for slow ones.
///
/// A request needs a worker that has loaded certain libraries. If none is idle and no further worker may
/// be started, the idle worker that was used least recently is replaced.
///
/// A thread of the pool starts them: the kernel kills a worker when the thread that started it ends, and
/// the threads of requests are short-lived.
final class WorkerPool: Sendable {
    private struct State {
        /// The idle workers, the most recently used last.
        var idle: [Worker] = []
        /// The workers that are being started, the first of them now.
        var starting: [WorkerFormats] = []
        /// The number of workers that may be started in addition.
        var missingCount: Int
        /// The requests that wait for a worker, in the order of their arrival.
        var waiting: [Waiter] = []
        var isClosed = false
        /// The limiter of each image with requests in flight, by its identity.
        var turnstiles: [Int: Turnstile] = [:]

        /// The first request for which no worker is being started.
        var unserved: Waiter? {
            var starting = starting
            for waiter in waiting {
                guard let index = starting.firstIndex(of: waiter.formats) else { return waiter }
                starting.remove(at: index)
            }
            return nil
        }

        /// Returns whether a released worker makes room for one with other formats.
        ///
        /// Under load, requests for the same formats use a worker several times before it is replaced.
        func replaces(_ formats: WorkerFormats) -> Bool {
            guard let unserved, unserved.formats != formats else { return false }
            return unserved.start.duration(to: .now) > WorkerPool.patience
                || !waiting.contains { $0.formats == formats }
        }

        /// Removes and returns the first request for a worker with these formats.
        mutating func nextWaiter(for formats: WorkerFormats) -> Waiter? {
            waiting.firstIndex { $0.formats == formats }.map { waiting.remove(at: $0) }
        }
    }

    /// A request that waits for a worker.
    private final class Waiter: Sendable {
        let start = ContinuousClock.now
        let formats: WorkerFormats
        let semaphore = DispatchSemaphore(value: 0)
        private let result = Mutex<Result<Worker, CodecError>?>(nil)

        init(_ formats: WorkerFormats) { self.formats = formats }

        func receive(_ worker: Result<Worker, CodecError>) {
            result.withLock { $0 = worker }
            semaphore.signal()
        }

        var received: Result<Worker, CodecError>? { result.withLock { $0 } }
    }

    /// Limits the number of concurrent requests for one image.
    private struct Turnstile {
        let semaphore = DispatchSemaphore(value: 0)
        var requestCount = 0
    }

    /// The time for which later requests may use a worker first that would have to be replaced.
    fileprivate static let patience = Duration.milliseconds(100)

    private let state: Mutex<State>
    /// Signalled once per worker to start, and once by `close()`.
    private let wanted = DispatchSemaphore(value: 0)
    /// Signalled when the thread that starts workers has ended.
    private let ended = DispatchSemaphore(value: 0)
    private let count: Int
    private let startsAhead: Bool

    /// - Parameters:
    ///   - count: the maximum number of workers.
    ///   - ahead: the workers that are started now; the others start when a request finds no idle worker
    ///     with its formats. If there are none, a worker that has ended is replaced only when a request
    ///     needs another one.
    ///   - start: starts a worker.
    init(
        count: Int, ahead: [WorkerFormats],
        start: @escaping @Sendable (WorkerFormats) throws(CodecError) -> Worker
    ) {
        self.count = count
        startsAhead = !ahead.isEmpty
        var first = State(missingCount: count - ahead.count)
        first.starting = ahead
        state = Mutex(first)
        for _ in ahead { wanted.signal() }
        startThread { [self] in
            while true {
                wanted.wait()
                let next = state.withLock { $0.isClosed ? nil : $0.starting.first }
                guard let next else {
                    ended.signal()
                    return
                }
                finishStart(next, Result { () throws(CodecError) in try start(next) })
            }
        }
    }

    /// Whether a request waits for a worker and no further worker can be started.
    var isContended: Bool { state.withLock { $0.unserved != nil } }

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

    /// Waits for an idle worker.
    ///
    /// - Parameters:
    ///   - formats: the formats whose libraries it has loaded.
    ///   - cancellation: set by another thread when the request is cancelled.
    /// - Returns: a worker for exclusive use.
    /// - Throws: ``CodecError/sandboxUnavailable(reason:)``, ``CodecError/cancelled``.
    func acquire(
        _ formats: WorkerFormats, _ cancellation: CancellationFlag?
    ) throws(CodecError) -> Worker {
        enum Place { case idle(Worker), waiting(Waiter) }
        let place = state.withLock { state -> Place in
            if let index = state.idle.lastIndex(where: { $0.formats == formats }) {
                return .idle(state.idle.remove(at: index))
            }
            let waiter = Waiter(formats)
            state.waiting.append(waiter)
            return .waiting(waiter)
        }
        switch place {
        case .idle(let worker): return worker
        case .waiting(let waiter): return try receive(waiter, cancellation)
        }
    }

    /// Waits until the pool passes a worker to a request.
    private func receive(
        _ waiter: Waiter, _ cancellation: CancellationFlag?
    ) throws(CodecError) -> Worker {
        startMissing()
        do throws(CodecError) {
            try wait(waiter.semaphore, cancellation)
        } catch {
            state.withLock { $0.waiting.removeAll { $0 === waiter } }
            // A worker may have arrived in the meantime.
            if case .success(let worker) = waiter.received { release(worker) }
            throw error
        }
        guard let received = waiter.received else {
            throw .sandboxUnavailable(reason: "no worker has been received")
        }
        return try received.get()
    }

    /// Starts a worker for the first request for which none is being started, if there is room.
    private func startMissing() {
        let (starts, replaced) = state.withLock { state -> (Bool, Worker?) in
            guard !state.isClosed, let formats = state.unserved?.formats else {
                return (false, nil)
            }
            guard state.missingCount > 0 || !state.idle.isEmpty else { return (false, nil) }
            state.starting.append(formats)
            if state.missingCount > 0 {
                state.missingCount -= 1
                return (true, nil)
            }
            return (true, state.idle.removeFirst())
        }
        replaced?.end()
        if starts { wanted.signal() }
    }

    private func finishStart(_ formats: WorkerFormats, _ worker: Result<Worker, CodecError>) {
        if case .success(let worker) = worker { return takeBack(worker, isNew: true) }
        state.withLock { state in
            state.starting.removeFirst()
            state.missingCount += 1
            state.nextWaiter(for: formats)?.receive(worker)
        }
        // The next request tries again.
        startMissing()
    }

    /// Returns a worker that can be used again.
    func release(_ worker: Worker) { takeBack(worker, isNew: false) }

    /// Passes a worker to the next request, or keeps it until there is one.
    private func takeBack(_ worker: Worker, isNew: Bool) {
        let (isKept, isReplaced) = state.withLock { state in
            if isNew { state.starting.removeFirst() }
            if state.isClosed { return (false, false) }
            if state.replaces(worker.formats) { return (false, true) }
            if let waiter = state.nextWaiter(for: worker.formats) {
                waiter.receive(.success(worker))
            } else {
                state.idle.append(worker)
            }
            return (true, false)
        }
        guard !isKept else { return }
        worker.end()
        if isReplaced { replace(worker) }
    }

    /// Starts a worker instead of an acquired one that has ended.
    func replace(_ worker: Worker) {
        let starts = state.withLock { state in
            let formats = state.unserved?.formats ?? (startsAhead ? worker.formats : nil)
            if let formats {
                state.starting.append(formats)
            } else {
                state.missingCount += 1
            }
            return formats != nil
        }
        if starts { wanted.signal() }
    }

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
        for worker in idle { worker.end() }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
package import EncodedImages
internal import Synchronization

/// Runs work on its own threads by priority, so that work that blocks or computes for long never
/// occupies a thread of Swift's cooperative pool.
///
/// Its threads end when it is closed; who owns a queue closes it.
package final class WorkQueue: Sendable {
    /// Names a piece of work that waits or runs.
    package typealias Ticket = UInt64

    fileprivate struct Work {
        let ticket: Ticket
        fileprivate var rank: WorkRank
        let body: @Sendable () -> Void
    }

    private struct State {
        /// In reverse order: the next to run is the last element.
        var waiting: [Work] = []
        var lastTicket: Ticket = 0
        /// Places behind and in front of all of the same priority.
        var lastPlace: Int64 = 0
        var firstPlace: Int64 = 0
        var width: Int
        var isSuspended = false
        /// How much work of each priority runs.
        var busyCounts: [LoadPriority: Int] = [:]
        var threadCount = 0
        var isClosed = false
        var closers: [CheckedContinuation<Void, Never>] = []

        var busyCount: Int { busyCounts.values.reduce(0, +) }

        /// Returns whether work may begin beside what runs.
        func admits(_ priority: LoadPriority, spareWidth: Int) -> Bool {
            let count = busyCount
            if count < width { return true }
            let asUrgentCount = busyCounts.reduce(0) { $0 + ($1.key >= priority ? $1.value : 0) }
            return asUrgentCount < width && count < width + spareWidth
        }
    }

    private let spareWidth: Int
    private let state: Mutex<State>
    /// Signalled whenever there may be work for a waiting thread.
    private let wakeUps = DispatchSemaphore(value: 0)
    private let maximumWaitingCount: Int

    /// - Parameters:
    ///   - width: how much work runs at the same time.
    ///   - spareWidth: how much work runs in addition that is more urgent than some that runs. Slow work of
    ///     a low priority then does not delay it.
    ///   - maximumWaitingCount: how much may wait.
    package init(width: Int, spareWidth: Int = 0, maximumWaitingCount: Int) {
        precondition(width > 0, "a queue needs a thread")
        self.spareWidth = spareWidth
        self.maximumWaitingCount = maximumWaitingCount
        state = Mutex(State(width: width))
        addThreads()
    }

    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Whether no more work may wait.
    package var isFull: Bool { waitingCount >= maximumWaitingCount }

    /// The priorities of the work that waits, the next to run first.
    package var waitingPriorities: [LoadPriority] {
        state.withLock { $0.waiting.reversed().map(\.rank.priority) }
    }

    /// How much work has been taken in so far.
    package var submittedCount: Int { state.withLock { Int($0.lastTicket) } }

    /// How much work runs.
    package var busyCount: Int { state.withLock { $0.busyCount } }

    /// How much work runs at the same time; what runs already goes on when it is lowered.
    package var width: Int {
        get { state.withLock { $0.width } }
        set {
            precondition(newValue > 0, "the width of a queue is at least 1")
            state.withLock { $0.width = newValue }
            addThreads()
            wakeAll()
        }
    }

    /// Whether nothing new is begun.
    package var isSuspended: Bool {
        get { state.withLock { $0.isSuspended } }
        set {
            state.withLock { $0.isSuspended = newValue }
            wakeAll()
        }
    }

    /// Adds work.
    ///
    /// - Parameters:
    ///   - priority: its priority.
    ///   - continuing: whether it completes what other work has begun. It then precedes other work of
    ///     its priority, because it releases memory, and is accepted by a full queue.
    ///   - body: the work.
    /// - Returns: the ticket for ``move(_:to:)`` and ``remove(_:)``.
    /// - Throws: ``LoadError/queueFull``, or ``LoadError/cancelled`` once closed.
    @discardableResult
    package func submit(
        _ priority: LoadPriority, continuing: Bool = false, _ body: @escaping @Sendable () -> Void
    ) throws(LoadError) -> Ticket {
        let ticket = try state.withLock { state throws(LoadError) in
            guard !state.isClosed else { throw .cancelled }
            guard continuing || state.waiting.count < maximumWaitingCount else { throw .queueFull }
            state.lastTicket += 1
            state.lastPlace += 1
            let rank = WorkRank(
                priority: priority, isContinuing: continuing, place: state.lastPlace)
            let work = Work(ticket: state.lastTicket, rank: rank, body: body)
            state.waiting.insert(work, at: state.waiting.place(of: rank))
            return state.lastTicket
        }
        wakeUps.signal()
        return ticket
    }

    /// Changes the priority of work that still waits.
    ///
    /// It goes behind those that are more urgent already, or in front of those that are less so.
    package func move(_ ticket: Ticket, to priority: LoadPriority) {
        state.withLock { state in
            guard let index = state.waiting.firstIndex(where: { $0.ticket == ticket }),
                state.waiting[index].rank.priority != priority
            else { return }
            var work = state.waiting.remove(at: index)
            if priority > work.rank.priority {
                state.lastPlace += 1
                work.rank.place = state.lastPlace
            } else {
                state.firstPlace -= 1
                work.rank.place = state.firstPlace
            }
            work.rank.priority = priority
            state.waiting.insert(work, at: state.waiting.place(of: work.rank))
        }
        // It may be urgent enough for the spare width now.
        if spareWidth > 0 { wakeUps.signal() }
    }

    /// Removes work that still waits.
    ///
    /// - Returns: whether it was waiting.
    @discardableResult
    package func remove(_ ticket: Ticket) -> Bool {
        let removed = state.withLock { state in
            guard let index = state.waiting.firstIndex(where: { $0.ticket == ticket }) else {
                return nil as Work?
            }
            return state.waiting.remove(at: index)
        }
        return removed != nil
    }

    /// Runs `work` on a thread of the queue, at a priority that may change while it waits.
    ///
    /// - Parameters:
    ///   - urgency: the priority.
    ///   - continuing: as for ``submit(_:continuing:_:)``.
    ///   - work: gets a flag that is set when the task that waits is cancelled.
    /// - Returns: what the work answers.
    /// - Throws: what it throws, ``LoadError/queueFull``, or ``LoadError/cancelled``; work that has
    ///   not begun by then never does.
    package func run<Value: Sendable>(
        _ urgency: PriorityHandle, continuing: Bool = false,
        _ work: @escaping @Sendable (CancellationFlag) throws(LoadError) -> Value
    ) async throws(LoadError) -> Value {
        guard !Task.isCancelled else { throw .cancelled }
        let cancellation = CancellationFlag()
        let pending = PendingWork<Value>()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                pending.set(continuation)
                do throws(LoadError) {
                    let ticket = try submit(urgency.priority, continuing: continuing) {
                        let result = Result { () throws(LoadError) in
                            if cancellation.isCancelled { throw .cancelled }
                            return try work(cancellation)
                        }
                        pending.end(result)
                    }
                    pending.ticket = ticket
                    pending.following = urgency.follow { [weak self] in self?.move(ticket, to: $0) }
                } catch {
                    pending.end(.failure(error))
                }
                // Cancelled before it was submitted: the handler has already run.
                if cancellation.isCancelled { cancel(pending) }
            }
        } onCancel: {
            cancellation.cancel()
            cancel(pending)
        }
        if let following = pending.following { urgency.unfollow(following) }
        return try result.get()
    }

    /// Runs `work` on a thread of the queue.
    package func run<Value: Sendable>(
        _ priority: LoadPriority, continuing: Bool = false,
        _ work: @escaping @Sendable () throws(LoadError) -> Value
    ) async throws(LoadError) -> Value {
        try await run(PriorityHandle.fixed(priority), continuing: continuing) {
            _ throws(LoadError) in
            try work()
        }
    }

    private func cancel<Value: Sendable>(_ pending: PendingWork<Value>) {
        if let ticket = pending.ticket, remove(ticket) { pending.end(.failure(.cancelled)) }
    }

    /// Refuses new work and lets the threads end after what waits.
    package func stop() {
        state.withLock { state in
            state.isClosed = true
            state.isSuspended = false
        }
        wakeAll()
    }

    /// Refuses new work and waits until what has been taken is done and the threads have ended.
    package func close() async {
        stop()
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.threadCount > 0 { state.closers.append(continuation) }
                return state.threadCount == 0
            }
            if isOver { continuation.resume() }
        }
    }

    private func addThreads() {
        let count = state.withLock { state in
            guard !state.isClosed else { return 0 }
            let missing = max(0, state.width + spareWidth - state.threadCount)
            state.threadCount += missing
            return missing
        }
        for _ in 0..<count { startThread { self.runWork() } }
    }

    private func wakeAll() {
        let count = state.withLock { $0.threadCount }
        for _ in 0..<count { wakeUps.signal() }
    }

    private func runWork() {
        while true {
            while let work = take() {
                work.body()
                state.withLock { $0.busyCounts[work.rank.priority, default: 1] -= 1 }
            }
            if state.withLock({ $0.isClosed && $0.waiting.isEmpty }) { break }
            wakeUps.wait()
        }
        let closers = state.withLock { state in
            state.threadCount -= 1
            return state.threadCount == 0 ? state.closers : []
        }
        // Other threads may wait for a signal that this thread has consumed.
        wakeUps.signal()
        for closer in closers { closer.resume() }
    }

    private func take() -> Work? {
        state.withLock { state in
            guard !state.isSuspended, let next = state.waiting.last,
                state.admits(next.rank.priority, spareWidth: spareWidth)
            else { return nil }
            state.busyCounts[next.rank.priority, default: 0] += 1
            return state.waiting.removeLast()
        }
    }
}

/// Work that a task waits for, until it has ended or been removed.
private final class PendingWork<Value: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Result<Value, LoadError>, Never>?
        var ticket: WorkQueue.Ticket?
        var following: UInt64?
    }

    private let state = Mutex(State())

    var ticket: WorkQueue.Ticket? {
        get { state.withLock { $0.ticket } }
        set { state.withLock { $0.ticket = newValue } }
    }

    var following: UInt64? {
        get { state.withLock { $0.following } }
        set { state.withLock { $0.following = newValue } }
    }

    func set(_ continuation: CheckedContinuation<Result<Value, LoadError>, Never>) {
        state.withLock { $0.continuation = continuation }
    }

    func end(_ result: Result<Value, LoadError>) {
        state.withLock { $0.continuation.take() }?.resume(returning: result)
    }
}

/// The order of waiting work; the greatest runs first.
private struct WorkRank: Comparable {
    var priority: LoadPriority
    let isContinuing: Bool
    var place: Int64

    static func < (one: WorkRank, other: WorkRank) -> Bool {
        if one.priority != other.priority { return one.priority < other.priority }
        if one.isContinuing != other.isContinuing { return other.isContinuing }
        return one.place > other.place
    }
}

extension [WorkQueue.Work] {
    /// Returns the index at which work of `rank` is inserted; logarithmic.
    fileprivate func place(of rank: WorkRank) -> Int {
        var lower = startIndex
        var upper = endIndex
        while lower < upper {
            let middle = (lower + upper) / 2
            if self[middle].rank < rank { lower = middle + 1 } else { upper = middle }
        }
        return lower
    }
}

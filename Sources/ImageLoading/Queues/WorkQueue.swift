// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// Runs work on threads of its own, the most urgent first, so that work that blocks or computes for
/// long never takes a thread of Swift's cooperative pool.
///
/// Its threads end when it is closed; who owns a queue closes it.
final class WorkQueue: Sendable {
    /// Names a piece of work that waits or runs.
    typealias Ticket = UInt64

    fileprivate struct Work {
        fileprivate var rank: WorkRank
        let body: @Sendable () -> Void
    }

    private struct State {
        /// The next to run stands last.
        var waiting: [Work] = []
        var nextNumber: Ticket = 0
        var runningThreadCount: Int
        var isClosed = false
        var closers: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>
    /// Counts a signal for every piece of work submitted and, once closed, one for every thread.
    private let wakeUps = DispatchSemaphore(value: 0)
    private let threadCount: Int
    private let maximumWaitingCount: Int

    init(threadCount: Int, maximumWaitingCount: Int) {
        precondition(threadCount > 0, "a queue needs a thread")
        self.threadCount = threadCount
        self.maximumWaitingCount = maximumWaitingCount
        state = Mutex(State(runningThreadCount: threadCount))
        for _ in 0..<threadCount { startThread { self.runWork() } }
    }

    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Adds work.
    ///
    /// - Parameters:
    ///   - priority: how urgent it is.
    ///   - continuing: it ends what other work has begun. It goes before the rest of its priority,
    ///     because it lets go of memory, and is never refused for want of room.
    ///   - body: the work.
    /// - Returns: what names the work to ``move(_:to:)`` and ``remove(_:)``.
    /// - Throws: ``LoadError/queueFull``, or ``LoadError/cancelled`` once closed.
    @discardableResult
    func submit(
        _ priority: LoadPriority, continuing: Bool = false, _ body: @escaping @Sendable () -> Void
    ) throws(LoadError) -> Ticket {
        let ticket = try state.withLock { state throws(LoadError) in
            guard !state.isClosed else { throw .cancelled }
            guard continuing || state.waiting.count < maximumWaitingCount else { throw .queueFull }
            state.nextNumber += 1
            let rank = WorkRank(
                priority: priority, isContinuing: continuing, number: state.nextNumber)
            state.waiting.insert(Work(rank: rank, body: body), at: state.waiting.place(of: rank))
            return state.nextNumber
        }
        wakeUps.signal()
        return ticket
    }

    /// Changes how urgent work is that still waits; it keeps the age that it has.
    func move(_ ticket: Ticket, to priority: LoadPriority) {
        state.withLock { state in
            guard let index = state.waiting.firstIndex(where: { $0.rank.number == ticket }),
                state.waiting[index].rank.priority != priority
            else { return }
            var work = state.waiting.remove(at: index)
            work.rank.priority = priority
            state.waiting.insert(work, at: state.waiting.place(of: work.rank))
        }
    }

    /// Takes work out that still waits.
    func remove(_ ticket: Ticket) {
        state.withLock { $0.waiting.removeAll { $0.rank.number == ticket } }
    }

    /// Runs `work` on a thread of the queue.
    func run<Value: Sendable>(
        _ priority: LoadPriority, continuing: Bool = false,
        _ work: @escaping @Sendable () throws(LoadError) -> Value
    ) async throws(LoadError) -> Value {
        guard !Task.isCancelled else { throw .cancelled }
        let result: Result<Value, LoadError> = await withCheckedContinuation { continuation in
            do throws(LoadError) {
                try submit(priority, continuing: continuing) {
                    continuation.resume(returning: Result(catching: work))
                }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }

    /// Refuses new work and lets the threads end after what waits.
    func stop() {
        let wasClosed = state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed
        }
        guard !wasClosed else { return }
        for _ in 0..<threadCount { wakeUps.signal() }
    }

    /// Refuses new work and waits until what has been taken is done and the threads have ended.
    func close() async {
        stop()
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.runningThreadCount > 0 { state.closers.append(continuation) }
                return state.runningThreadCount == 0
            }
            if isOver { continuation.resume() }
        }
    }

    private func runWork() {
        while true {
            wakeUps.wait()
            // There may be none although a signal came: work can be removed.
            let (work, isOver) = state.withLock { state in
                (state.waiting.popLast(), state.isClosed && state.waiting.isEmpty)
            }
            work?.body()
            if isOver { break }
        }
        let closers = state.withLock { state in
            state.runningThreadCount -= 1
            return state.runningThreadCount == 0 ? state.closers : []
        }
        for closer in closers { closer.resume() }
    }
}

/// What decides which work goes first; the greater does.
private struct WorkRank: Comparable {
    var priority: LoadPriority
    let isContinuing: Bool
    let number: UInt64

    static func < (one: WorkRank, other: WorkRank) -> Bool {
        if one.priority != other.priority { return one.priority < other.priority }
        if one.isContinuing != other.isContinuing { return other.isContinuing }
        return one.number > other.number
    }
}

extension [WorkQueue.Work] {
    /// Where work of `rank` belongs, found by halving.
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

// SPDX-License-Identifier: Apache-2.0

public import LoadScheduling
internal import Synchronization

/// A budget of bytes for everything that holds pixels: decodes in flight, cached images and the frames
/// of animations.
///
/// Memory is reserved before it is allocated. When the budget is full, the attached caches evict images,
/// in the order in which they were attached. Reservations that still do not fit wait, by priority and
/// then by age. A later reservation of no higher priority never overtakes, so that large reservations
/// are not starved by small ones.
///
/// Memory that only a consumer holds, such as an image on screen that the cache has evicted, is not in
/// the budget.
///
/// A lock: every operation is short, never awaits, and neither resumes a task nor calls a cache while
/// it is held.
public final class MemoryBudget: Sendable {
    /// Identifies a waiting reservation, so that its priority can be changed.
    public struct Ticket: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    /// Evicts images of at least the given number of bytes, if there are any.
    ///
    /// - Returns: the reservations of the evicted images.
    typealias Reclaim = @Sendable (_ byteCount: Int) -> [MemoryReservation]

    fileprivate typealias Answer = Result<Void, LoadError>

    fileprivate struct Waiter {
        let ticket: Ticket
        var priority: LoadPriority
        let byteCount: Int
        let continuation: CheckedContinuation<Answer, Never>

        /// Returns whether this one is before `other` in the queue.
        func goesBefore(_ other: Waiter) -> Bool {
            priority == other.priority
                ? ticket.number < other.ticket.number : priority > other.priority
        }
    }

    fileprivate struct State {
        var byteLimit: Int
        var byteCount = 0
        /// The next one to be admitted is first.
        var waiters: [Waiter] = []
        var lastNumber: UInt64 = 0
        /// Those of the caches, in the order in which they are called.
        var reclaims: [Reclaim] = []
        /// Whether a thread is calling the caches; it examines the queue again afterwards.
        var isReclaiming = false
    }

    private let state: Mutex<State>

    /// - Parameter byteLimit: the maximum number of reserved bytes.
    public init(byteLimit: Int) { state = Mutex(State(byteLimit: byteLimit)) }

    /// The maximum number of reserved bytes.
    ///
    /// Lowering it revokes no reservation; the attached caches evict images.
    public var byteLimit: Int {
        get { state.withLock { $0.byteLimit } }
        set {
            let refused = state.withLock { state in
                state.byteLimit = newValue
                return state.removeHopeless()
            }
            for waiter in refused {
                waiter.continuation.resume(
                    returning: .failure(
                        .memoryBudgetExceeded(needed: waiter.byteCount, allowed: newValue)))
            }
            settle()
        }
    }

    /// The bytes that are reserved now.
    public var byteCount: Int { state.withLock { $0.byteCount } }

    /// The number of reservations that wait.
    public var waitingCount: Int { state.withLock { $0.waiters.count } }

    /// Returns a ticket for a call of ``reserve(_:priority:as:)``.
    public func makeTicket() -> Ticket {
        state.withLock { state in
            state.lastNumber += 1
            return Ticket(number: state.lastNumber)
        }
    }

    /// Reserves bytes before they are allocated; waits until they fit.
    ///
    /// - Parameters:
    ///   - byteCount: the number of bytes.
    ///   - priority: the priority while it waits.
    ///   - ticket: identifies it while it waits, a new one for each call; older ones are first.
    /// - Returns: the reservation, which ends with its last reference.
    /// - Throws: `LoadError/memoryBudgetExceeded(needed:allowed:)` if it never fits, or
    ///   `LoadError/cancelled`.
    public func reserve(
        _ byteCount: Int, priority: LoadPriority = .visible, as ticket: Ticket? = nil
    ) async throws(LoadError) -> MemoryReservation {
        precondition(byteCount >= 0, "byteCount is negative")
        let ticket = ticket ?? makeTicket()
        let answer: Answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                join(
                    Waiter(
                        ticket: ticket, priority: priority, byteCount: byteCount,
                        continuation: continuation))
                // Cancelled before joining: the handler has already run and found no reservation.
                if Task.isCancelled { leave(ticket) }
            }
        } onCancel: {
            leave(ticket)
        }
        // Here and not by the thread that admits it: ThreadSanitizer does not see that the result of a
        // continuation that is resumed before its task waits is handed over.
        try answer.get()
        return MemoryReservation(byteCount, in: self)
    }

    /// Reserves bytes at a priority that may change while it waits.
    ///
    /// - Throws: as ``reserve(_:priority:as:)``.
    func reserve(
        _ byteCount: Int, _ urgency: PriorityHandle
    ) async throws(LoadError) -> MemoryReservation {
        let ticket = makeTicket()
        let following = urgency.follow { [weak self] in self?.move(ticket, to: $0) }
        defer { urgency.unfollow(following) }
        return try await reserve(byteCount, priority: urgency.priority, as: ticket)
    }

    /// Reserves bytes without waiting.
    ///
    /// - Returns: `nil` if they do not fit, even after the caches have evicted images, or if other
    ///   reservations wait.
    public func tryReserve(_ byteCount: Int) -> MemoryReservation? {
        precondition(byteCount >= 0, "byteCount is negative")
        while true {
            let (isTaken, missing, reclaims) = state.withLock { state in
                guard state.waiters.isEmpty, byteCount <= state.byteLimit else {
                    return (false, 0, [Reclaim]())
                }
                let isTaken = state.take(byteCount)
                return (isTaken, state.byteCount + byteCount - state.byteLimit, state.reclaims)
            }
            if isTaken { return MemoryReservation(byteCount, in: self) }
            let reclaimed = Self.reclaim(missing, from: reclaims)
            guard reclaimed > 0 else { return nil }
            giveBack(reclaimed)
        }
    }

    /// Changes the priority of a waiting reservation; it keeps its age.
    public func move(_ ticket: Ticket, to priority: LoadPriority) {
        state.withLock { state in
            guard let index = state.waiters.firstIndex(where: { $0.ticket == ticket }) else {
                return
            }
            var waiter = state.waiters.remove(at: index)
            waiter.priority = priority
            state.insert(waiter)
        }
        settle()
    }

    /// Attaches a cache that can evict images, after those that were attached before.
    func attach(_ reclaim: @escaping Reclaim) { state.withLock { $0.reclaims.append(reclaim) } }

    /// Returns bytes to the budget, and admits reservations that fit now.
    func giveBack(_ byteCount: Int) {
        state.withLock { $0.byteCount -= byteCount }
        settle()
    }

    /// Admits reservations that fit, and calls the caches for the first one that does not.
    ///
    /// Also called when reserved bytes become reclaimable.
    func settle() {
        while true {
            let (admitted, first, missing, reclaims) = state.withLock { state in
                let admitted = state.admit()
                // Without a waiting reservation, the bytes above a lowered limit.
                let first = state.waiters.first
                let missing = state.byteCount + (first?.byteCount ?? 0) - state.byteLimit
                guard !state.isReclaiming, missing > 0, !state.reclaims.isEmpty else {
                    return (admitted, nil as Ticket?, 0, [Reclaim]())
                }
                state.isReclaiming = true
                return (admitted, first?.ticket, missing, state.reclaims)
            }
            answer(admitted)
            guard !reclaims.isEmpty else { return }
            let byteCount = Self.reclaim(missing, from: reclaims)
            let isOver = state.withLock { state in
                state.isReclaiming = false
                state.byteCount -= byteCount
                // For a reservation that arrived meanwhile the caches have not been called.
                return byteCount == 0 && state.waiters.first?.ticket == first
            }
            if isOver { return }
        }
    }

    private func join(_ waiter: Waiter) {
        let allowed = state.withLock { state in
            if waiter.byteCount <= state.byteLimit { state.insert(waiter) }
            return state.byteLimit
        }
        guard waiter.byteCount <= allowed else {
            waiter.continuation.resume(
                returning: .failure(
                    .memoryBudgetExceeded(needed: waiter.byteCount, allowed: allowed)))
            return
        }
        settle()
    }

    private func leave(_ ticket: Ticket) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.ticket == ticket }.map { state.waiters.remove(at: $0) }
        }
        guard let waiter else { return }
        waiter.continuation.resume(returning: .failure(.cancelled))
        settle()
    }

    private func answer(_ admitted: [Waiter]) {
        for waiter in admitted { waiter.continuation.resume(returning: .success(())) }
    }

    /// Lets caches evict images until there are enough bytes.
    ///
    /// - Returns: the bytes of their reservations, which are not yet subtracted from the budget.
    private static func reclaim(_ byteCount: Int, from reclaims: [Reclaim]) -> Int {
        var sum = 0
        for reclaim in reclaims where sum < byteCount {
            sum += reclaim(byteCount - sum).reduce(0) { $0 + $1.end() }
        }
        return sum
    }
}

extension MemoryBudget.State {
    mutating func take(_ byteCount: Int) -> Bool {
        guard byteCount <= byteLimit - self.byteCount else { return false }
        self.byteCount += byteCount
        return true
    }

    mutating func insert(_ waiter: MemoryBudget.Waiter) {
        let index = waiters.firstIndex { waiter.goesBefore($0) } ?? waiters.endIndex
        waiters.insert(waiter, at: index)
    }

    mutating func admit() -> [MemoryBudget.Waiter] {
        var admitted: [MemoryBudget.Waiter] = []
        while let first = waiters.first, take(first.byteCount) {
            admitted.append(waiters.removeFirst())
        }
        return admitted
    }

    /// Those that no longer fit into the limit.
    mutating func removeHopeless() -> [MemoryBudget.Waiter] {
        let hopeless = waiters.filter { $0.byteCount > byteLimit }
        waiters.removeAll { $0.byteCount > byteLimit }
        return hopeless
    }
}

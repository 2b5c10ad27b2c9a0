// SPDX-License-Identifier: Apache-2.0

public import LoadScheduling
internal import Synchronization

/// One account of bytes for all that holds pixels: decodes in flight, cached images and the frames
/// of animations.
///
/// Whoever is about to allocate reserves first. When the account is full, the caches that are
/// attached give up what is worth least, the first of them before the next; whoever still finds no room waits, the most urgent first, then the
/// oldest. Nobody who asks later and is no more urgent gets in first, so a large reservation
/// is not starved by small ones.
///
/// What only a consumer holds any more, such as a picture on screen that the cache let go of, is not
/// in the account: only its consumer can give it back.
///
/// A lock: every operation is short, never awaits, and neither resumes anybody nor asks a cache
/// while it is held.
public final class MemoryBudget: Sendable {
    /// Names a reservation that waits, so that it can be made more urgent.
    public struct Ticket: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    /// Gives up at least so many bytes if it can.
    ///
    /// - Returns: the reservations of what it gave up.
    typealias Reclaim = @Sendable (_ byteCount: Int) -> [MemoryReservation]

    fileprivate typealias Answer = Result<MemoryReservation, LoadError>

    fileprivate struct Waiter {
        let ticket: Ticket
        var priority: LoadPriority
        let byteCount: Int
        let continuation: CheckedContinuation<Answer, Never>

        /// Whether this one stands before `other` in the queue.
        func goesBefore(_ other: Waiter) -> Bool {
            priority == other.priority
                ? ticket.number < other.ticket.number : priority > other.priority
        }
    }

    fileprivate struct State {
        var byteLimit: Int
        var byteCount = 0
        /// The next to be let in stands first.
        var waiters: [Waiter] = []
        var lastNumber: UInt64 = 0
        /// Those of the caches, in the order in which they are asked.
        var reclaims: [Reclaim] = []
        /// Somebody asks the caches and looks at the queue again afterwards.
        var isReclaiming = false
    }

    private let state: Mutex<State>

    public init(byteLimit: Int) { state = Mutex(State(byteLimit: byteLimit)) }

    /// Lowering it takes back nothing that is reserved, but the caches are asked.
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

    /// How many wait for room.
    public var waitingCount: Int { state.withLock { $0.waiters.count } }

    /// A name for a reservation that is about to be asked for.
    public func makeTicket() -> Ticket {
        state.withLock { state in
            state.lastNumber += 1
            return Ticket(number: state.lastNumber)
        }
    }

    /// Waits for room; call it before memory is taken.
    ///
    /// - Parameters:
    ///   - byteCount: the bytes that will be taken.
    ///   - priority: how urgent it is.
    ///   - ticket: its name while it waits, a new one for each call; older ones go first.
    /// - Returns: the reservation, which ends with its last reference.
    /// - Throws: ``LoadError/memoryBudgetExceeded(needed:allowed:)`` if it never fits, or
    ///   ``LoadError/cancelled``.
    public func reserve(
        _ byteCount: Int, priority: LoadPriority = .visible, as ticket: Ticket? = nil
    ) async throws(LoadError) -> MemoryReservation {
        precondition(byteCount >= 0, "bytes are counted from 0")
        let ticket = ticket ?? makeTicket()
        let answer: Answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                join(
                    Waiter(
                        ticket: ticket, priority: priority, byteCount: byteCount,
                        continuation: continuation))
                // Cancelled before joining: the handler has already run and found nobody.
                if Task.isCancelled { leave(ticket) }
            }
        } onCancel: {
            leave(ticket)
        }
        return try answer.get()
    }

    /// Waits for room, as urgently as `urgency` says at each moment.
    ///
    /// - Throws: as ``reserve(_:priority:as:)``.
    func reserve(
        _ byteCount: Int, _ urgency: LoadUrgency
    ) async throws(LoadError) -> MemoryReservation {
        let ticket = makeTicket()
        let following = urgency.follow { [weak self] in self?.move(ticket, to: $0) }
        defer { urgency.unfollow(following) }
        return try await reserve(byteCount, priority: urgency.priority, as: ticket)
    }

    /// Reserves without waiting.
    ///
    /// - Returns: `nil` if there is no room, also after the caches gave up what they could, or if others
    ///   wait for it.
    public func tryReserve(_ byteCount: Int) -> MemoryReservation? {
        precondition(byteCount >= 0, "bytes are counted from 0")
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

    /// Makes a reservation that waits more or less urgent; it keeps its age.
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

    /// Adds a cache that can give up images, to be asked after those that were added before.
    func attach(_ reclaim: @escaping Reclaim) { state.withLock { $0.reclaims.append(reclaim) } }

    /// Takes bytes back, and lets in who has room now.
    func giveBack(_ byteCount: Int) {
        state.withLock { $0.byteCount -= byteCount }
        settle()
    }

    /// Lets in those for whom there is room, asking the caches for what the first of the rest needs.
    ///
    /// Whoever makes reserved bytes reclaimable calls it, too.
    func settle() {
        while true {
            let (admitted, first, missing, reclaims) = state.withLock { state in
                let admitted = state.admit()
                // Without anybody who waits this is what a lowered limit asks for.
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
                // Who came meanwhile has asked nobody.
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
        for waiter in admitted {
            waiter.continuation.resume(
                returning: .success(MemoryReservation(waiter.byteCount, in: self)))
        }
    }

    /// Has caches give up images until there are enough.
    ///
    /// - Returns: the bytes of their reservations, of which the budget is not told yet.
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

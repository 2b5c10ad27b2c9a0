// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import Synchronization

/// A load in flight and its consumers.
final class InFlightLoad<Key: Sendable, Value: Sendable, Update: LoadUpdate>: Sendable {
    typealias Consumer = LoadConsumer<Update>
    typealias Answer = Result<Value, LoadError>

    private struct Seat {
        let member: LoadMember
        let consumer: Consumer
        var priority: LoadPriority
        /// Identifies the observation of its priority, if that may change.
        var following: UInt64?

        /// - Parameter error: `nil` if the result is that of the load.
        func end(_ error: LoadError?) {
            if let following { consumer.urgency.unfollow(following) }
            member.end(error)
        }
    }

    private struct State {
        /// In the order of arrival; `nil` for consumers that have left.
        var seats: [Seat?] = []
        var memberCount = 0
        var newest: Update?
        var task: Task<Void, Never>?
        var isOver = false
        /// Whether the load has had more than one consumer at a time.
        var isShared = false
        /// Whether the load continues without consumers.
        var isKept = false
        /// What consumers that have left allow to be stored on disk.
        var leftWish: StorePermission = []
        /// The number of members of each priority, so that a change takes constant time.
        var counts = [Int](repeating: 0, count: LoadPriority.allCases.count)
        var priority: LoadPriority
        var version: UInt64 = 0

        var answer: Answer?

        var consumers: some Sequence<Consumer> { seats.lazy.compactMap { $0?.consumer } }

        mutating func add(_ seat: Seat) -> Int {
            seats.append(seat)
            memberCount += 1
            return seats.count - 1
        }

        /// Returns whether the member has not left.
        func has(_ member: LoadMember, at place: Int) -> Bool {
            place < seats.count && seats[place]?.member === member
        }

        mutating func remove(at place: Int) -> Seat? {
            let seat = seats[place]
            seats[place] = nil
            memberCount -= 1
            // Otherwise the array of a load that hangs would grow while consumers come and go.
            while let last = seats.last, last == nil { seats.removeLast() }
            return seat
        }

        /// Notes a change of the priority of a member; `nil` stands for no member.
        ///
        /// - Returns: the highest priority of the members, and a number that increases with each
        ///   change; `nil` if the highest priority has not changed.
        mutating func count(
            _ old: LoadPriority?, _ new: LoadPriority?
        ) -> (LoadPriority, UInt64)? {
            if let old { counts[old.rawValue] -= 1 }
            if let new { counts[new.rawValue] += 1 }
            let highest = counts.lastIndex { $0 > 0 }.flatMap(LoadPriority.init) ?? .background
            guard highest != priority else { return nil }
            priority = highest
            version += 1
            return (highest, version)
        }
    }

    let key: Key
    /// The priority of the load.
    let urgency: PriorityHandle
    /// The steps of the load.
    let story = LoadMetrics()
    /// A lock: receivers are called while it is held, so that no update follows the end.
    ///
    /// They take locks of loads that wait for this one, never those of loads that this one waits for.
    private let state: Mutex<State>

    /// A load without consumers.
    ///
    /// - Parameters:
    ///   - key: identifies the value.
    ///   - wish: what may be stored on disk; `nil` if the load ends with its last consumer.
    init(_ key: Key, keeping wish: StorePermission?) {
        self.key = key
        urgency = PriorityHandle(.background)
        state = Mutex(
            State(isKept: wish != nil, leftWish: wish ?? [], priority: .background))
    }

    var consumerCount: Int { state.withLock { $0.memberCount } }

    var hasBeenShared: Bool { state.withLock { $0.isShared } }

    /// The result for all consumers, once the load is over.
    var answer: Answer? { state.withLock { $0.answer } }

    var isWanted: Bool { state.withLock { $0.consumers.contains(where: \.keepsValue) } }

    /// What the consumers, or a load that continues without them, allow to be stored on disk.
    var storePermission: StorePermission {
        state.withLock { state in
            state.consumers.reduce(state.leftWish) { $0.union($1.storePermission()) }
        }
    }

    func begin(_ start: () -> Task<Void, Never>) {
        state.withLock { $0.task = start() }
    }

    /// Adds a consumer, and sends it the newest update.
    ///
    /// - Returns: its place; `nil` if the load is over.
    func add(_ member: LoadMember, _ consumer: Consumer) -> Int? {
        let seat = Seat(member: member, consumer: consumer, priority: consumer.urgency.priority)
        let (place, change) = state.withLock { state -> (Int?, (LoadPriority, UInt64)?) in
            guard !state.isOver else { return (nil, nil) }
            state.isShared = state.memberCount > 0 || state.isKept
            if let newest = state.newest { consumer.receive?(newest) }
            return (state.add(seat), state.count(nil, seat.priority))
        }
        if let change { urgency.set(change.0, version: change.1) }
        return place
    }

    /// Observes the priority of a member.
    func follow(_ urgency: PriorityHandle, of member: LoadMember, at place: Int) {
        guard !urgency.isFixed else { return }
        let following = urgency.follow { [weak self] in
            self?.set($0, member, place)
        }
        let isGone = state.withLock { state in
            guard state.has(member, at: place) else { return true }
            state.seats[place]?.following = following
            return false
        }
        if isGone { urgency.unfollow(following) }
    }

    private func set(_ priority: LoadPriority, _ member: LoadMember, _ place: Int) {
        let change = state.withLock { state -> (LoadPriority, UInt64)? in
            guard state.has(member, at: place), let old = state.seats[place]?.priority,
                old != priority
            else { return nil }
            state.seats[place]?.priority = priority
            return state.count(old, priority)
        }
        if let change { urgency.set(change.0, version: change.1) }
    }

    /// Removes a member and cancels it; the last one ends the load.
    ///
    /// - Parameters:
    ///   - member: the member that leaves.
    ///   - place: the result of ``add(_:_:)``.
    ///   - forget: called before the load is ended.
    func leave(_ member: LoadMember, at place: Int, _ forget: () -> Void) {
        let (seat, task, change) = state.withLock {
            state -> (Seat?, Task<Void, Never>?, (LoadPriority, UInt64)?) in
            guard state.has(member, at: place), let seat = state.remove(at: place) else {
                return (nil, nil, nil)
            }
            if seat.consumer.outlivesConsumers {
                state.isKept = true
                state.leftWish.formUnion(seat.consumer.storePermission())
            }
            guard state.memberCount == 0 && !state.isKept else {
                return (seat, nil, state.count(seat.priority, nil))
            }
            state.isOver = true
            return (seat, state.task, nil)
        }
        if let change { urgency.set(change.0, version: change.1) }
        if let task {
            forget()
            task.cancel()
        }
        seat?.end(.cancelled)
    }

    /// Sends an update to all consumers.
    func report(_ update: Update) {
        state.withLock { state in
            guard !state.isOver else { return }
            if state.newest == nil { state.newest = update } else { state.newest?.merge(update) }
            for consumer in state.consumers { consumer.receive?(update) }
        }
    }

    /// Fails the consumer that has waited longest, if all of them agree that the load is retried.
    ///
    /// - Returns: whether the load is retried.
    func handOver(_ error: LoadError) -> Bool {
        let handed = state.withLock { state -> (Seat, (LoadPriority, UInt64)?)? in
            guard !state.isOver, state.memberCount > 1,
                state.consumers.allSatisfy({ $0.failurePolicy == .handOver }),
                let first = state.seats.firstIndex(where: { $0 != nil }),
                let leader = state.remove(at: first)
            else { return nil }
            state.newest = nil
            return (leader, state.count(leader.priority, nil))
        }
        guard let (leader, change) = handed else { return false }
        if let change { urgency.set(change.0, version: change.1) }
        leader.end(error)
        return true
    }

    /// Ends the load with a result for all consumers.
    func finish(_ answer: Answer) {
        let seats = state.withLock { state in
            state.isOver = true
            state.answer = answer
            defer {
                state.seats = []
                state.memberCount = 0
            }
            return state.seats
        }
        for seat in seats { seat?.end(nil) }
    }
}

/// A consumer's place in a load, on which it waits.
final class LoadMember: Sendable {
    private enum State {
        case joined
        case waiting(CheckedContinuation<Void, Never>)
        case ended(LoadError?)
    }

    /// A lock: the load may end before the consumer waits.
    private let state = Mutex(State.joined)

    /// The error of this consumer; `nil` if its result is that of the load.
    var error: LoadError? {
        state.withLock { state in
            if case .ended(let error) = state { error } else { nil }
        }
    }

    /// Waits until the load is over; called once.
    func wait() async {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if case .ended = state { return true }
                state = .waiting(continuation)
                return false
            }
            if hasEnded { continuation.resume() }
        }
    }

    /// Resumes the consumer; called once.
    func end(_ error: LoadError?) {
        let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
            defer { state = .ended(error) }
            if case .waiting(let continuation) = state { return continuation }
            return nil
        }
        continuation?.resume()
    }
}

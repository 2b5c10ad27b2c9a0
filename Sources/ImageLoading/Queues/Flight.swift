// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A load under way and those who wait for it.
final class Flight<Value: Sendable, Update: LoadUpdate>: Sendable {
    typealias Answer = Result<Value, LoadError>

    struct Member: Sendable {
        let continuation: CheckedContinuation<Answer, Never>
        var priority: LoadPriority
        let keepsValue: Bool
        let storeWish: @Sendable () -> StoreWish
        let failurePolicy: SharedFailurePolicy
        let outlivesConsumers: Bool
        let receive: (@Sendable (Update) -> Void)?
        /// How its urgency is followed, once that is known.
        var following: (urgency: LoadUrgency, number: UInt64)?
    }

    private struct State {
        var members: [UInt64: Member]
        var newest: Update?
        var task: Task<Void, Never>?
        var isOver = false
        /// Whether more than one have waited.
        var isShared = false
        /// Whether somebody who left wanted the load to go on.
        var isKept = false
        /// What they let be kept on disk.
        var leftWish: StoreWish = []
        /// How many members have each priority: with thousands of them nobody goes through all.
        var counts = [Int](repeating: 0, count: LoadPriority.allCases.count)
        var priority: LoadPriority
        var version: UInt64 = 0

        /// Notes that a member's priority was one and is another; `nil` stands for no member.
        ///
        /// - Returns: the priority that the members make now, and a number that grows with each
        ///   change; `nil` if it is what it was.
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

    /// The urgency of the load.
    let urgency: LoadUrgency
    /// What has been done for it.
    let story = LoadStory()
    /// A lock: receivers are told while it is held, so that nothing comes after the end.
    ///
    /// They take
    /// locks of loads that wait for this one, never those of loads that this one waits for.
    private let state: Mutex<State>

    init(_ first: Member, _ number: UInt64) {
        urgency = LoadUrgency(first.priority)
        var state = State(members: [number: first], priority: first.priority)
        _ = state.count(nil, first.priority)
        self.state = Mutex(state)
    }

    /// A load that nobody waits for yet.
    ///
    /// - Parameter wish: what of it may be kept on disk.
    init(keeping wish: StoreWish) {
        urgency = LoadUrgency(.background)
        state = Mutex(State(members: [:], isKept: true, leftWish: wish, priority: .background))
    }

    var consumerCount: Int { state.withLock { $0.members.count } }

    var hasBeenShared: Bool { state.withLock { $0.isShared } }

    var isWanted: Bool { state.withLock { $0.members.values.contains(where: \.keepsValue) } }

    /// What those who wait, and the load that is kept going without them, let be kept on disk.
    var storeWish: StoreWish {
        state.withLock { state in
            state.members.values.reduce(state.leftWish) { $0.union($1.storeWish()) }
        }
    }

    func begin(_ start: () -> Task<Void, Never>) {
        state.withLock { $0.task = start() }
    }

    /// Adds one who waits, and tells it the newest of what there is.
    ///
    /// - Returns: `false` if the load is over.
    func add(_ member: Member, _ number: UInt64) -> Bool {
        let (isOver, change) = state.withLock { state -> (Bool, (LoadPriority, UInt64)?) in
            guard !state.isOver else { return (true, nil) }
            state.members[number] = member
            state.isShared = true
            if let newest = state.newest { member.receive?(newest) }
            return (false, state.count(nil, member.priority))
        }
        if let change { urgency.set(change.0, version: change.1) }
        return !isOver
    }

    /// Lets the load's urgency follow that of a member.
    func follow(_ urgency: LoadUrgency, _ number: UInt64) {
        let following = urgency.follow { [weak self] in self?.set($0, number) }
        let isGone = state.withLock { state in
            state.members[number]?.following = (urgency, following)
            return state.members[number] == nil
        }
        if isGone { urgency.unfollow(following) }
    }

    private func set(_ priority: LoadPriority, _ number: UInt64) {
        let change = state.withLock { state -> (LoadPriority, UInt64)? in
            guard let member = state.members[number], member.priority != priority else {
                return nil
            }
            state.members[number]?.priority = priority
            return state.count(member.priority, priority)
        }
        if let change { urgency.set(change.0, version: change.1) }
    }

    /// Takes a member out and answers it; the last one ends the load.
    ///
    /// - Parameters:
    ///   - number: of the member.
    ///   - forget: called before the load is ended.
    func leave(_ number: UInt64, _ forget: () -> Void) {
        let (member, task, change) = state.withLock { state in
            let member = state.members.removeValue(forKey: number)
            guard let member else {
                return (nil as Member?, nil as Task<Void, Never>?, nil as (LoadPriority, UInt64)?)
            }
            if member.outlivesConsumers {
                state.isKept = true
                state.leftWish.formUnion(member.storeWish())
            }
            guard state.members.isEmpty && !state.isKept else {
                return (member, nil, state.count(member.priority, nil))
            }
            state.isOver = true
            return (member, state.task, nil)
        }
        if let change { urgency.set(change.0, version: change.1) }
        if let task {
            forget()
            task.cancel()
        }
        member?.end(.failure(.cancelled))
    }

    /// Tells everybody what happens.
    func report(_ update: Update) {
        state.withLock { state in
            guard !state.isOver else { return }
            if state.newest == nil { state.newest = update } else { state.newest?.merge(update) }
            for member in state.members.values { member.receive?(update) }
        }
    }

    /// Answers the one who waited longest with an error if the others want to try again.
    ///
    /// - Returns: whether they do.
    func handOver(_ error: LoadError) -> Bool {
        let handed = state.withLock { state -> (Member, (LoadPriority, UInt64)?)? in
            guard !state.isOver, state.members.count > 1,
                state.members.values.allSatisfy({ $0.failurePolicy == .handOver }),
                let first = state.members.keys.min(),
                let leader = state.members.removeValue(forKey: first)
            else { return nil }
            state.newest = nil
            return (leader, state.count(leader.priority, nil))
        }
        guard let (leader, change) = handed else { return false }
        if let change { urgency.set(change.0, version: change.1) }
        leader.end(.failure(error))
        return true
    }

    /// Answers everybody.
    func finish(_ answer: Answer) {
        let members = state.withLock { state in
            state.isOver = true
            defer { state.members = [:] }
            return state.members.sorted { $0.key < $1.key }.map(\.value)
        }
        for member in members { member.end(answer) }
    }
}

extension Flight.Member {
    fileprivate func end(_ answer: Flight.Answer) {
        if let following { following.urgency.unfollow(following.number) }
        continuation.resume(returning: answer)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import Synchronization

/// What a load tells while it is under way; the newest of it is told to those who join late.
protocol LoadUpdate: Sendable {
    /// Takes in what came later.
    mutating func merge(_ newer: Self)
}

/// What becomes of those who wait when the load that they share fails.
public enum SharedFailurePolicy: Sendable {
    /// All of them get the error.
    case failAll
    /// The one who waited longest gets it, and the load is begun again for the others.
    case handOver
}

/// Loads under way by key, so that all who ask for the same share one.
///
/// A load is as urgent as the most urgent of its consumers, ends with the last of them, and tells
/// all of them what happens meanwhile. Its steps are taken in a task of its own, which only waits:
/// what blocks or computes runs on a ``WorkQueue``.
final class SharedLoads<Key: Hashable & Sendable, Value: Sendable, Update: LoadUpdate>: Sendable {
    typealias Work = @Sendable (LoadContext<Update>) async throws(LoadError) -> Value
    typealias Consumer = LoadConsumer<Update>
    typealias Flight = ImageLoading.Flight<Key, Value, Update>

    /// A lock: held while a flight is looked up or replaced, never while anybody is told anything.
    private let flights = Mutex<[Key: Flight]>([:])

    /// How many wait for the load of `key`.
    func consumerCount(_ key: Key) -> Int {
        flights.withLock { $0[key] }?.consumerCount ?? 0
    }

    /// How many loads are under way.
    var count: Int { flights.withLock { $0.count } }

    /// Joins the load of `key` or begins it.
    ///
    /// - Parameters:
    ///   - key: what is asked for.
    ///   - consumer: who asks.
    ///   - work: takes the steps; cancelled when nobody waits any more.
    /// - Returns: the value, the same for all who joined.
    /// - Throws: what the work threw, or ``LoadError/cancelled``.
    func value(
        for key: Key, _ consumer: Consumer, _ work: @escaping Work
    ) async throws(LoadError) -> Value {
        let load = join(key, consumer) { work }
        await load.wait()
        return try load.get()
    }

    /// Joins the load of `key` or begins it, without waiting for anything.
    ///
    /// - Parameters:
    ///   - key: what is asked for.
    ///   - consumer: who asks.
    ///   - makeWork: makes what takes the steps, if the load is to begin.
    /// - Returns: what must be waited for.
    func join(
        _ key: Key, _ consumer: Consumer, _ makeWork: () -> Work
    ) -> JoinedLoad<Key, Value, Update> {
        let member = FlightMember()
        let (flight, place) = flights.withLock { flights in
            if let flight = flights[key], let place = flight.add(member, consumer) {
                return (flight, place)
            }
            let flight = Flight(key, keeping: nil)
            flights[key] = flight
            let place = flight.add(member, consumer) ?? 0
            flight.begin { self.run(flight, makeWork()) }
            return (flight, place)
        }
        flight.follow(consumer.urgency, of: member, at: place)
        return JoinedLoad(
            loads: self, flight: flight, member: member, place: place, story: consumer.story)
    }

    /// Begins the load of `key` unless it is under way; it goes on though nobody waits for it.
    ///
    /// - Parameters:
    ///   - key: what is asked for.
    ///   - wish: what of it may be kept on disk.
    ///   - work: takes the steps.
    func begin(_ key: Key, keeping wish: StoreWish, _ work: @escaping Work) {
        flights.withLock { flights in
            guard flights[key] == nil else { return }
            let flight = Flight(key, keeping: wish)
            flights[key] = flight
            flight.begin { self.run(flight, work) }
        }
    }

    private func run(_ flight: Flight, _ work: @escaping Work) -> Task<Void, Never> {
        Task {
            let context = LoadContext<Update>(
                urgency: flight.urgency, story: flight.story, report: { flight.report($0) },
                isWanted: { flight.isWanted }, storeWish: { flight.storeWish })
            while true {
                let answer: Flight.Answer
                do throws(LoadError) {
                    answer = .success(try await work(context))
                } catch {
                    answer = .failure(error)
                }
                if case .failure(let error) = answer, flight.handOver(error) { continue }
                // Whoever asks from here on finds the value where it is kept, or begins anew.
                forget(flight)
                flight.finish(answer)
                return
            }
        }
    }

    fileprivate func forget(_ flight: Flight) {
        flights.withLock { flights in
            if flights[flight.key] === flight { flights[flight.key] = nil }
        }
    }
}

/// A load that somebody takes part in from the moment it was joined.
struct JoinedLoad<Key: Hashable & Sendable, Value: Sendable, Update: LoadUpdate>: Sendable {
    fileprivate let loads: SharedLoads<Key, Value, Update>
    fileprivate let flight: Flight<Key, Value, Update>
    fileprivate let member: FlightMember
    fileprivate let place: Int
    fileprivate let story: LoadStory?

    /// Waits for the end; whoever does not is counted among those who wait nevertheless.
    ///
    /// What it came to is told by another: thousands may wait, each with frames of its own, and
    /// values and errors are what is large on them.
    func wait() async {
        // The handler runs at once for a task that has been cancelled already.
        await withTaskCancellationHandler {
            await member.wait()
        } onCancel: {
            // Whoever asks now begins anew instead of joining a load that gives up.
            flight.leave(member, at: place) { loads.forget(flight) }
        }
    }

    /// What it came to, once it is over.
    ///
    /// - Returns: the value, the same for all who joined.
    /// - Throws: what the work threw, or ``LoadError/cancelled``.
    func get() throws(LoadError) -> Value {
        if let story {
            if flight.hasBeenShared {
                story.add(LoadStep(.shared, "one load with other requests"))
            }
            story.add(flight.story)
        }
        if let error = member.error { throw error }
        guard let answer = flight.answer else { throw .cancelled }
        return try answer.get()
    }
}

/// How a consumer takes part in a load.
struct LoadConsumer<Update: LoadUpdate>: Sendable {
    var urgency: LoadUrgency
    /// Whether the value is wanted for itself and worth keeping, not only as a step on the way.
    var keepsValue = true
    /// What of it may be kept on disk, asked when there is something to keep.
    var storeWish: @Sendable () -> StoreWish = { [] }
    /// Whether the load goes on at the lowest priority when the last consumer leaves.
    var outlivesConsumers = false
    var failurePolicy = SharedFailurePolicy.failAll
    /// Told what was done, once it is.
    var story: LoadStory?
    /// Told what happens, in order; it must not block nor ask the load for anything.
    var receive: (@Sendable (Update) -> Void)?
}

/// What the steps of a load know of it.
struct LoadContext<Update: LoadUpdate>: Sendable {
    let urgency: LoadUrgency
    let story: LoadStory
    /// Tells all consumers what happens.
    let report: @Sendable (Update) -> Void
    /// Whether somebody wants the value for itself.
    let isWanted: @Sendable () -> Bool
    /// What may be kept on disk because somebody allows it.
    let storeWish: @Sendable () -> StoreWish
}

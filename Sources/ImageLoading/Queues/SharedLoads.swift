// SPDX-License-Identifier: Apache-2.0

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
    typealias Answer = Result<Value, LoadError>
    typealias Work = @Sendable (LoadContext<Update>) async throws(LoadError) -> Value

    /// How a consumer takes part.
    struct Consumer: Sendable {
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

    /// A lock: held while a flight is looked up or replaced, never while anybody is told anything.
    private let flights = Mutex<[Key: Flight<Value, Update>]>([:])
    private let lastNumber = Atomic<UInt64>(0)

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
        let number = lastNumber.add(1, ordering: .relaxed).newValue
        let joined = Mutex<Flight<Value, Update>?>(nil)
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let flight = join(key, number, consumer, continuation, work)
                joined.withLock { $0 = flight }
                // Cancelled before joining: the handler has already run and found nothing.
                if Task.isCancelled { leave(key, flight, number) }
            }
        } onCancel: {
            if let flight = joined.withLock({ $0 }) { leave(key, flight, number) }
        }
        if let story = consumer.story, let flight = joined.withLock({ $0 }) {
            if flight.hasBeenShared {
                story.add(LoadStep(.shared, "one load with other requests"))
            }
            story.add(flight.story)
        }
        return try answer.get()
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
            let flight = Flight<Value, Update>(keeping: wish)
            flights[key] = flight
            flight.begin { self.run(key, flight, work) }
        }
    }

    private func join(
        _ key: Key, _ number: UInt64, _ consumer: Consumer,
        _ continuation: CheckedContinuation<Answer, Never>, _ work: @escaping Work
    ) -> Flight<Value, Update> {
        let member = Flight<Value, Update>.Member(
            continuation: continuation, priority: consumer.urgency.priority,
            keepsValue: consumer.keepsValue, storeWish: consumer.storeWish,
            failurePolicy: consumer.failurePolicy,
            outlivesConsumers: consumer.outlivesConsumers, receive: consumer.receive)
        let flight = flights.withLock { flights in
            if let flight = flights[key], flight.add(member, number) { return flight }
            let flight = Flight<Value, Update>(member, number)
            flights[key] = flight
            flight.begin { self.run(key, flight, work) }
            return flight
        }
        flight.follow(consumer.urgency, number)
        return flight
    }

    private func run(
        _ key: Key, _ flight: Flight<Value, Update>, _ work: @escaping Work
    ) -> Task<Void, Never> {
        Task {
            let context = LoadContext<Update>(
                urgency: flight.urgency, story: flight.story, report: { flight.report($0) },
                isWanted: { flight.isWanted }, storeWish: { flight.storeWish })
            while true {
                let answer: Answer
                do throws(LoadError) {
                    answer = .success(try await work(context))
                } catch {
                    answer = .failure(error)
                }
                if case .failure(let error) = answer, flight.handOver(error) { continue }
                // Whoever asks from here on finds the value where it is kept, or begins anew.
                forget(key, flight)
                flight.finish(answer)
                return
            }
        }
    }

    private func leave(_ key: Key, _ flight: Flight<Value, Update>, _ number: UInt64) {
        // Whoever asks now begins anew instead of joining a load that gives up.
        flight.leave(number) { self.forget(key, flight) }
    }

    private func forget(_ key: Key, _ flight: Flight<Value, Update>) {
        flights.withLock { flights in
            if flights[key] === flight { flights[key] = nil }
        }
    }
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

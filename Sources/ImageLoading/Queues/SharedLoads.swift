// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import Synchronization

/// A progress update of a load; consumers that join late receive the newest one.
protocol LoadUpdate: Sendable {
    /// Merges a later update into this one.
    mutating func merge(_ newer: Self)
}

/// What happens to the consumers of a shared load that fails.
public enum SharedFailurePolicy: Sendable {
    /// All of them receive the error.
    case failAll
    /// The consumer that has waited longest receives it, and the load is retried for the others.
    case handOver
}

/// Loads in flight by key; equal requests share one.
///
/// A load runs at the highest priority of its consumers, ends with the last of them, and sends its
/// updates to all of them. Its steps run in a task of their own, which only waits: work that blocks
/// or computes runs on a ``WorkQueue``.
final class SharedLoads<Key: Hashable & Sendable, Value: Sendable, Update: LoadUpdate>: Sendable {
    typealias Work = @Sendable (LoadContext<Update>) async throws(LoadError) -> Value
    typealias Consumer = LoadConsumer<Update>
    typealias InFlightLoad = ImageLoading.InFlightLoad<Key, Value, Update>

    /// A lock: held while a flight is looked up or replaced, never while receivers are called.
    private let flights = Mutex<[Key: InFlightLoad]>([:])

    /// Returns the number of consumers of the load of `key`.
    func consumerCount(_ key: Key) -> Int {
        flights.withLock { $0[key] }?.consumerCount ?? 0
    }

    /// The number of loads in flight.
    var count: Int { flights.withLock { $0.count } }

    /// Joins the load of `key` or begins it, and waits for its value.
    ///
    /// - Parameters:
    ///   - key: identifies the value.
    ///   - consumer: the consumer's part in the load.
    ///   - work: the steps; cancelled when the last consumer leaves.
    /// - Returns: the value, the same for all consumers.
    /// - Throws: the error of `work`, or ``LoadError/cancelled``.
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
    ///   - key: identifies the value.
    ///   - consumer: the consumer's part in the load.
    ///   - makeWork: returns the steps; called if the load begins.
    /// - Returns: the joined load, which the consumer must wait for.
    func join(
        _ key: Key, _ consumer: Consumer, _ makeWork: () -> Work
    ) -> LoadMembership<Key, Value, Update> {
        let member = LoadMember()
        let (flight, place) = flights.withLock { flights in
            if let flight = flights[key], let place = flight.add(member, consumer) {
                return (flight, place)
            }
            let flight = InFlightLoad(key, keeping: nil)
            flights[key] = flight
            let place = flight.add(member, consumer) ?? 0
            flight.begin { self.run(flight, makeWork()) }
            return (flight, place)
        }
        flight.follow(consumer.urgency, of: member, at: place)
        return LoadMembership(
            loads: self, flight: flight, member: member, place: place, story: consumer.story)
    }

    /// Begins the load of `key` unless it is in flight; it continues without consumers.
    ///
    /// - Parameters:
    ///   - key: identifies the value.
    ///   - wish: what may be stored on disk.
    ///   - work: the steps.
    func begin(_ key: Key, keeping wish: StorePermission, _ work: @escaping Work) {
        flights.withLock { flights in
            guard flights[key] == nil else { return }
            let flight = InFlightLoad(key, keeping: wish)
            flights[key] = flight
            flight.begin { self.run(flight, work) }
        }
    }

    private func run(_ flight: InFlightLoad, _ work: @escaping Work) -> Task<Void, Never> {
        Task {
            let context = LoadContext<Update>(
                urgency: flight.urgency, story: flight.story, report: { flight.report($0) },
                isWanted: { flight.isWanted }, storePermission: { flight.storePermission })
            while true {
                let answer: InFlightLoad.Answer
                do throws(LoadError) {
                    answer = .success(try await work(context))
                } catch {
                    answer = .failure(error)
                }
                if case .failure(let error) = answer, flight.handOver(error) { continue }
                // A later request finds the value where it is stored, or begins a new load.
                forget(flight)
                flight.finish(answer)
                return
            }
        }
    }

    fileprivate func forget(_ flight: InFlightLoad) {
        flights.withLock { flights in
            if flights[flight.key] === flight { flights[flight.key] = nil }
        }
    }
}

/// A load that a consumer has joined.
struct LoadMembership<Key: Hashable & Sendable, Value: Sendable, Update: LoadUpdate>: Sendable {
    fileprivate let loads: SharedLoads<Key, Value, Update>
    fileprivate let flight: InFlightLoad<Key, Value, Update>
    fileprivate let member: LoadMember
    fileprivate let place: Int
    fileprivate let story: LoadMetrics?

    /// Waits for the end; a consumer that does not call it is counted nevertheless.
    ///
    /// ``get()`` returns the result: thousands of tasks may wait, and values and errors would make
    /// their frames large.
    func wait() async {
        // The handler runs at once for a task that has been cancelled already.
        await withTaskCancellationHandler {
            await member.wait()
        } onCancel: {
            // A later request begins a new load instead of joining one that is cancelled.
            flight.leave(member, at: place) { loads.forget(flight) }
        }
    }

    /// Returns the result, once the load is over.
    ///
    /// - Returns: the value, the same for all consumers.
    /// - Throws: the error of the work, or ``LoadError/cancelled``.
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

/// A consumer's part in a load.
struct LoadConsumer<Update: LoadUpdate>: Sendable {
    var urgency: PriorityHandle
    /// Whether the value is requested for itself, not only as a step of another load.
    var keepsValue = true
    /// Returns what may be stored on disk; called when there is something to store.
    var storePermission: @Sendable () -> StorePermission = { [] }
    /// Whether the load goes on at the lowest priority when the last consumer leaves.
    var outlivesConsumers = false
    var failurePolicy = SharedFailurePolicy.failAll
    /// Receives the steps once the load is over.
    var story: LoadMetrics?
    /// Receives the updates in order; it must not block or use the load.
    var receive: (@Sendable (Update) -> Void)?
}

/// The parts of a load that its steps use.
struct LoadContext<Update: LoadUpdate>: Sendable {
    let urgency: PriorityHandle
    let story: LoadMetrics
    /// Sends an update to all consumers.
    let report: @Sendable (Update) -> Void
    /// Returns whether a consumer requests the value for itself.
    let isWanted: @Sendable () -> Bool
    /// Returns what the consumers allow to be stored on disk.
    let storePermission: @Sendable () -> StorePermission
}

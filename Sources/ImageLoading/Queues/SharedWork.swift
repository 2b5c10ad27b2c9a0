// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Synchronization

/// Work in flight by key, so that all who ask for the same share one piece of it.
///
/// The work is as urgent as the most urgent of its consumers. A consumer whose task is cancelled
/// leaves alone; the work ends with the last one.
///
/// A lock: every operation is short, never awaits and resumes nobody while it is held. The queue's
/// own lock is taken inside of it, never the other way round.
final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private typealias Answer = Result<Value, LoadError>

    private struct Consumer {
        let priority: LoadPriority
        let continuation: CheckedContinuation<Answer, Never>
    }

    private struct Flight {
        let number: UInt64
        let ticket: WorkQueue.Ticket
        let cancellation: CancellationFlag
        var consumers: [UInt64: Consumer]

        var priority: LoadPriority { consumers.values.map(\.priority).max() ?? .background }
    }

    private struct State {
        var flights: [Key: Flight] = [:]
        var lastNumber: UInt64 = 0

        mutating func nextNumber() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }
    }

    private let queue: WorkQueue
    private let continuing: Bool
    private let state = Mutex(State())

    /// - Parameters:
    ///   - queue: where the work runs.
    ///   - continuing: whether it ends what other work has begun.
    init(on queue: WorkQueue, continuing: Bool = false) {
        self.queue = queue
        self.continuing = continuing
    }

    /// How many wait for the work of `key`.
    func consumerCount(_ key: Key) -> Int {
        state.withLock { $0.flights[key]?.consumers.count ?? 0 }
    }

    /// Joins the work of `key` or begins it.
    ///
    /// - Parameters:
    ///   - key: what is asked for.
    ///   - priority: how urgent it is to this consumer.
    ///   - work: runs on a thread of the queue; it looks at the flag now and then and gives up when
    ///     that is set.
    /// - Returns: what the work made, the same for all who joined it.
    /// - Throws: what the work threw, ``LoadError/queueFull``, or ``LoadError/cancelled``.
    func value(
        for key: Key, _ priority: LoadPriority,
        _ work: @escaping @Sendable (CancellationFlag) throws(LoadError) -> Value
    ) async throws(LoadError) -> Value {
        let number = state.withLock { $0.nextNumber() }
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let consumer = Consumer(priority: priority, continuation: continuation)
                do throws(LoadError) {
                    try join(key, as: number, consumer, work)
                } catch {
                    continuation.resume(returning: .failure(error))
                }
                // Cancelled before joining: the handler has already run and found nobody.
                if Task.isCancelled { leave(key, number) }
            }
        } onCancel: {
            leave(key, number)
        }
        return try answer.get()
    }

    private func join(
        _ key: Key, as number: UInt64, _ consumer: Consumer,
        _ work: @escaping @Sendable (CancellationFlag) throws(LoadError) -> Value
    ) throws(LoadError) {
        try state.withLock { state throws(LoadError) in
            if state.flights[key] != nil {
                state.flights[key]?.consumers[number] = consumer
                if let flight = state.flights[key] {
                    queue.move(flight.ticket, to: flight.priority)
                }
                return
            }
            let flightNumber = state.nextNumber()
            let cancellation = CancellationFlag()
            let ticket = try queue.submit(consumer.priority, continuing: continuing) {
                let answer = Answer { () throws(LoadError) in try work(cancellation) }
                self.finish(key, flightNumber, answer)
            }
            state.flights[key] = Flight(
                number: flightNumber, ticket: ticket, cancellation: cancellation,
                consumers: [number: consumer])
        }
    }

    private func leave(_ key: Key, _ number: UInt64) {
        let consumer = state.withLock { state -> Consumer? in
            guard let consumer = state.flights[key]?.consumers.removeValue(forKey: number),
                let flight = state.flights[key]
            else { return nil }
            if flight.consumers.isEmpty {
                // Whoever asks now begins anew instead of joining work that gives up.
                state.flights[key] = nil
                flight.cancellation.cancel()
                queue.remove(flight.ticket)
            } else {
                queue.move(flight.ticket, to: flight.priority)
            }
            return consumer
        }
        consumer?.continuation.resume(returning: .failure(.cancelled))
    }

    private func finish(_ key: Key, _ flightNumber: UInt64, _ answer: Answer) {
        let consumers = state.withLock { state -> [Consumer] in
            guard state.flights[key]?.number == flightNumber else { return [] }
            return state.flights.removeValue(forKey: key).map { Array($0.consumers.values) } ?? []
        }
        for consumer in consumers { consumer.continuation.resume(returning: answer) }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Tasks in flight by key, so that all who ask for the same share one; it ends with the last of
/// them.
///
/// A lock: every operation is short, never awaits and resumes nobody while it is held.
final class SharedTask<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    typealias Answer = Result<Value, LoadError>

    private struct Flight {
        let number: UInt64
        let task: Task<Void, Never>
        var consumers: [UInt64: CheckedContinuation<Answer, Never>]
    }

    private struct State {
        var flights: [Key: Flight] = [:]
        var lastNumber: UInt64 = 0

        mutating func nextNumber() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }
    }

    private let state = Mutex(State())

    func consumerCount(_ key: Key) -> Int {
        state.withLock { $0.flights[key]?.consumers.count ?? 0 }
    }

    /// Joins the work of `key` or begins it.
    func value(
        for key: Key, _ work: @escaping @Sendable () async -> Answer
    ) async throws(LoadError) -> Value {
        let number = state.withLock { $0.nextNumber() }
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                join(key, as: number, continuation, work)
                // Cancelled before joining: the handler has already run and found nobody.
                if Task.isCancelled { leave(key, number) }
            }
        } onCancel: {
            leave(key, number)
        }
        return try answer.get()
    }

    private func join(
        _ key: Key, as number: UInt64, _ consumer: CheckedContinuation<Answer, Never>,
        _ work: @escaping @Sendable () async -> Answer
    ) {
        state.withLock { state in
            guard state.flights[key] == nil else {
                state.flights[key]?.consumers[number] = consumer
                return
            }
            let flightNumber = state.nextNumber()
            // It cannot finish before it is in the table: finishing takes this lock.
            let task = Task { finish(key, flightNumber, await work()) }
            state.flights[key] = Flight(
                number: flightNumber, task: task, consumers: [number: consumer])
        }
    }

    private func leave(_ key: Key, _ number: UInt64) {
        let (consumer, task) = state.withLock { state in
            let consumer = state.flights[key]?.consumers.removeValue(forKey: number)
            guard consumer != nil, let flight = state.flights[key], flight.consumers.isEmpty else {
                return (consumer, nil as Task<Void, Never>?)
            }
            // Whoever asks now begins anew instead of joining work that gives up.
            state.flights[key] = nil
            return (consumer, flight.task)
        }
        task?.cancel()
        consumer?.resume(returning: .failure(.cancelled))
    }

    private func finish(_ key: Key, _ flightNumber: UInt64, _ answer: Answer) {
        let consumers = state.withLock { state in
            guard state.flights[key]?.number == flightNumber else {
                return [] as [CheckedContinuation<Answer, Never>]
            }
            return state.flights.removeValue(forKey: key).map { Array($0.consumers.values) } ?? []
        }
        for consumer in consumers { consumer.resume(returning: answer) }
    }
}

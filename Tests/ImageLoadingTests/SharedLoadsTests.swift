// SPDX-License-Identifier: Apache-2.0

import LoadScheduling
import Testing

@testable import ImageLoading

@Suite("A shared load") struct SharedLoadsTests {
    private typealias Loads = SharedLoads<String, Int, NoProgress>

    private let loads = Loads()
    private let gate = AsyncStream<Void>.makeStream()

    private func join(_ urgency: PriorityHandle) -> LoadMembership<String, Int, NoProgress> {
        let opened = gate.stream
        return loads.join("picture", Loads.Consumer(urgency: urgency)) {
            { context throws(LoadError) in
                for await _ in opened {}
                guard !Task.isCancelled else { throw .cancelled }
                return context.urgency.priority.rawValue
            }
        }
    }

    @Test("delivers to consumers that replaced others") func places() async throws {
        let first = join(.fixed(.prefetch))
        let urgency = PriorityHandle(.background)
        let second = join(urgency)
        let left = Task { await second.wait() }
        left.cancel()
        await left.value
        #expect(throws: LoadError.cancelled) { try second.get() }
        #expect(loads.consumerCount("picture") == 1)
        let third = join(.fixed(.background))
        // A consumer that has left has no influence, although another one has its index now.
        urgency.priority = .visible
        gate.continuation.finish()
        await first.wait()
        await third.wait()
        #expect(try first.get() == LoadPriority.prefetch.rawValue)
        #expect(try third.get() == LoadPriority.prefetch.rawValue)
        #expect(loads.count == 0)
    }

    @Test("delivers to a consumer that waits after its end") func late() async throws {
        let first = join(.fixed(.visible))
        let second = join(.fixed(.visible))
        gate.continuation.finish()
        await first.wait()
        // The answer of the second has been there since that of the first was, or comes soon after.
        await second.wait()
        #expect(try first.get() == second.get())
    }

    @Test("ends with its last consumer, although others have left before")
    func end() async {
        let joined = (0..<3).map { _ in join(PriorityHandle(.visible)) }
        for load in joined {
            #expect(loads.count == 1)
            let left = Task { await load.wait() }
            left.cancel()
            await left.value
            #expect(throws: LoadError.cancelled) { try load.get() }
        }
        #expect(loads.count == 0)
        gate.continuation.finish()
    }
}

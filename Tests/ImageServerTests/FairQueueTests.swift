// SPDX-License-Identifier: Apache-2.0

import LoadScheduling
import Synchronization
import Testing

@testable import ImageServer

/// The names of jobs in the order in which they ran.
private final class Order: Sendable {
    let names = Mutex<[String]>([])
}

@Suite("A fair queue", .timeLimit(.minutes(10))) struct FairQueueTests {
    /// Waits until the queue has a number of waiting jobs.
    private func settle(_ queue: FairQueue, _ count: Int) async {
        while queue.waitingCount < count { await Task.yield() }
    }

    @Test("serves clients in turn, and each client's jobs in order") func turns() async throws {
        let queue = FairQueue(width: 1, maximumWaitingCount: 10)
        let order = Order()
        let (blocked, block) = AsyncStream<Void>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            let (begun, begin) = AsyncStream<Void>.makeStream()
            group.addTask {
                try await queue.run("a") {
                    begin.finish()
                    for await _ in blocked {}
                }
            }
            for await _ in begun {}
            for (count, name) in ["a1", "a2", "a3", "b1", "c1"].enumerated() {
                group.addTask {
                    try await queue.run(String(name.prefix(1))) {
                        order.names.withLock { $0.append(name) }
                    }
                }
                await settle(queue, count + 1)
            }
            block.finish()
            try await group.waitForAll()
        }
        #expect(order.names.withLock { $0 } == ["a1", "b1", "c1", "a2", "a3"])
        #expect(queue.waitingCount == 0)
    }

    @Test("rejects jobs beyond its capacity, and removes cancelled ones") func full() async throws {
        let queue = FairQueue(width: 1, maximumWaitingCount: 1)
        let (blocked, block) = AsyncStream<Void>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            let (begun, begin) = AsyncStream<Void>.makeStream()
            group.addTask {
                try await queue.run("a") {
                    begin.finish()
                    for await _ in blocked {}
                }
            }
            for await _ in begun {}
            let waiting = Task { try await queue.run("b") {} }
            await settle(queue, 1)
            await #expect(throws: LoadError.queueFull) { try await queue.run("c") {} }
            waiting.cancel()
            await #expect(throws: LoadError.cancelled) { try await waiting.value }
            #expect(queue.waitingCount == 0)
            // The queue has capacity again.
            group.addTask { try await queue.run("c") {} }
            await settle(queue, 1)
            block.finish()
            try await group.waitForAll()
        }
        try await queue.run("d") {}
    }

    @Test("continues after a job that fails") func failure() async throws {
        let queue = FairQueue(width: 1, maximumWaitingCount: 1)
        await #expect(throws: ServerError.notFound) {
            try await queue.run("a") { throw ServerError.notFound }
        }
        try await queue.run("a") {}
    }
}

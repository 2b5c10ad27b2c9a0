// SPDX-License-Identifier: Apache-2.0

import LoadScheduling
import ImageTesting
import LoadingTesting
import Synchronization
import Testing

@Suite("A queue of work", .timeLimit(.minutes(5))) struct WorkQueueTests {
    private let queue = WorkQueue(width: 1, maximumWaitingCount: 100)
    private let done = Done()

    private final class Done: Sendable {
        private let names = Mutex<[String]>([])
        var all: [String] { names.withLock { $0 } }
        func append(_ name: String) { names.withLock { $0.append(name) } }
    }

    private func add(_ name: String, _ priority: LoadPriority) throws -> WorkQueue.Ticket {
        try queue.submit(priority) { [done] in done.append(name) }
    }

    @Test(
        "S12: goes by priority, then by age; what is raised goes last of its new peers and what is lowered first"
    )
    func order() async throws {
        queue.isSuspended = true
        var tickets: [String: WorkQueue.Ticket] = [:]
        for (name, priority) in [
            ("low 1", LoadPriority.background), ("high 1", .visible), ("low 2", .background),
            ("high 2", .visible), ("middle", .prefetch), ("low 3", .background),
        ] {
            tickets[name] = try add(name, priority)
        }
        queue.move(try #require(tickets["low 1"]), to: .visible)
        queue.move(try #require(tickets["high 2"]), to: .background)
        queue.isSuspended = false
        await queue.close()
        #expect(done.all == ["high 1", "low 1", "middle", "high 2", "low 2", "low 3"])
    }

    @Test("S12: begins more at once when it is widened, and lets what runs end when narrowed")
    func width() async throws {
        let gates = (0..<4).map { _ in Gate() }
        for (index, gate) in gates.enumerated() {
            try queue.submit(.visible) { [done] in
                done.append("began \(index)")
                gate.wait()
            }
        }
        await eventually { done.all.count == 1 }
        queue.width = 3
        await eventually { done.all.count == 3 }
        queue.width = 1
        for gate in gates.prefix(2) { gate.open() }
        // One still runs, so the last one waits.
        await eventually { queue.busyCount == 1 }
        #expect(done.all.count == 3)
        gates[2].open()
        await eventually { done.all.count == 4 }
        gates[3].open()
        await queue.close()
        #expect(Set(done.all) == ["began 0", "began 1", "began 2", "began 3"])
    }

    @Test("begins urgent work although its width is taken by less urgent work")
    func spareWidth() async throws {
        let queue = WorkQueue(width: 2, spareWidth: 1, maximumWaitingCount: 100)
        let gate = Gate()
        func add(_ name: String, _ priority: LoadPriority) throws {
            try queue.submit(priority) { [done] in
                done.append(name)
                gate.wait()
            }
        }
        for number in 0..<3 { try add("low \(number)", .prefetch) }
        await eventually { done.all.count == 2 }
        try add("high", .visible)
        await eventually { done.all.contains("high") }
        // The spare width is taken.
        try add("second high", .visible)
        #expect(queue.busyCount == 3)
        #expect(queue.waitingCount == 2)
        gate.open()
        await eventually { done.all.contains("second high") }
        for _ in 0..<4 { gate.open() }
        await queue.close()
        #expect(Set(done.all) == ["low 0", "low 1", "low 2", "high", "second high"])
    }

    @Test("begins work that has become more urgent than what runs") func raised() async throws {
        let queue = WorkQueue(width: 1, spareWidth: 1, maximumWaitingCount: 100)
        let gate = Gate()
        try queue.submit(.prefetch) { gate.wait() }
        await eventually { queue.busyCount == 1 }
        let ticket = try queue.submit(.prefetch) { [done] in done.append("raised") }
        #expect(queue.waitingCount == 1)
        queue.move(ticket, to: .visible)
        await eventually { done.all == ["raised"] }
        gate.open()
        await queue.close()
    }

    @Test("does not use the spare width for work of one priority")
    func equalPriorities() async throws {
        let queue = WorkQueue(width: 1, spareWidth: 1, maximumWaitingCount: 100)
        let gate = Gate()
        for name in ["one", "two"] {
            try queue.submit(.visible) { [done] in
                done.append(name)
                gate.wait()
            }
        }
        await eventually { done.all.count == 1 }
        try queue.submit(.prefetch) { [done] in done.append("low") }
        #expect(queue.busyCount == 1)
        #expect(queue.waitingCount == 2)
        for _ in 0..<2 { gate.open() }
        await queue.close()
        #expect(done.all == ["one", "two", "low"])
    }

    @Test("S12: has room again when work throws")
    func throwing() async throws {
        await #expect(throws: LoadError.queueFull) {
            try await queue.run(.visible) { () throws(LoadError) in throw .queueFull }
        }
        #expect(try await queue.run(.visible) { () throws(LoadError) in 7 } == 7)
        await queue.close()
    }

    @Test("rejects work beyond its limit")
    func full() async throws {
        let small = WorkQueue(width: 1, maximumWaitingCount: 1)
        small.isSuspended = true
        try small.submit(.visible) {}
        #expect(throws: LoadError.queueFull) { try small.submit(.visible) {} }
        small.isSuspended = false
        await small.close()
        #expect(throws: LoadError.cancelled) { try small.submit(.visible) {} }
    }
}

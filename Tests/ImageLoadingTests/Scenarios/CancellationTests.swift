// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageTesting
import LoadingTesting
import LoadScheduling
import Testing

@testable import ImageLoading

@Suite("A cancelled load", .timeLimit(.minutes(5))) struct CancellationTests {
    @Test("S8: ends with its last consumer, and not before")
    func lastConsumer() async throws {
        let harness = PipelineHarness()
        let request = harness.request()
        let tasks = [harness.ask(request), harness.ask(request)]
        await harness.waiting(request, 2)
        await harness.loader.started(1)
        tasks[0].cancel()
        await #expect(throws: LoadError.cancelled) { try await tasks[0].value }
        #expect(harness.loader.cancelCount == 0)
        await harness.waiting(request, 1)
        tasks[1].cancel()
        await #expect(throws: LoadError.cancelled) { try await tasks[1].value }
        await eventually { harness.loader.cancelCount == 1 }
        #expect(harness.pipeline.memory.byteCount == 0)
        #expect(harness.pipeline.images.loadCount == 0)
        await eventually { harness.pipeline.originals.loadCount == 0 }
    }

    @Test("S8: continues at the lowest priority when it outlives its consumers")
    func outliving() async throws {
        let harness = PipelineHarness()
        var request = harness.request()
        request.outlivesConsumers = true
        let task = harness.ask(request)
        await harness.loader.started(1)
        task.cancel()
        await #expect(throws: LoadError.cancelled) { try await task.value }
        await harness.deliver()
        await eventually { harness.codec.decodes == [0] }
        #expect(harness.loader.cancelCount == 0)
    }

    @Test("S9: does not decode after it was cancelled between load and decode")
    func beforeDecode() async throws {
        let harness = PipelineHarness()
        harness.pipeline.queues.decodes.isSuspended = true
        let task = harness.ask(harness.request())
        await harness.deliver()
        await eventually { harness.pipeline.queues.decodes.waitingCount == 1 }
        task.cancel()
        await #expect(throws: LoadError.cancelled) { try await task.value }
        await eventually { harness.pipeline.queues.decodes.waitingCount == 0 }
        harness.pipeline.queues.decodes.isSuspended = false
        await harness.pipeline.close()
        #expect(harness.codec.decodes == [])
        #expect(harness.pipeline.memory.byteCount == 0)
        #expect(harness.loader.startCount == 1)
    }

    @Test("S9: does not process or store after it was cancelled after the decode")
    func afterDecode() async throws {
        let harness = PipelineHarness()
        let processor = CountingProcessor(1)
        harness.pipeline.queues.processes.isSuspended = true
        let task = harness.ask(harness.request([processor]))
        await harness.deliver()
        await eventually { harness.pipeline.queues.processes.waitingCount == 1 }
        task.cancel()
        await #expect(throws: LoadError.cancelled) { try await task.value }
        await eventually { harness.pipeline.queues.processes.waitingCount == 0 }
        harness.pipeline.queues.processes.isSuspended = false
        await harness.pipeline.close()
        #expect(harness.codec.decodes == [0])
        #expect(processor.applicationCount == 0)
        #expect(harness.pipeline.memory.byteCount == 0)
    }

    @Test("S9: does not read a file without a consumer")
    func beforeRead() async throws {
        let folder = try TestFolder()
        let codec = FakeCodec()
        let pipeline = ImagePipeline(codec)
        pipeline.queues.loads.isSuspended = true
        let path = try folder.write("a.fake", grey: 7)
        let task = Task { try await pipeline.grey(path) }
        await eventually { pipeline.queues.loads.waitingCount == 1 }
        task.cancel()
        await #expect(throws: LoadError.cancelled) { try await task.value }
        await eventually { pipeline.queues.loads.waitingCount == 0 }
        pipeline.queues.loads.isSuspended = false
        await pipeline.close()
        #expect(codec.decodes == [])
    }

    @Test("S10: begins again for a request that arrives before it has ended")
    func slowCancel() async throws {
        let harness = PipelineHarness(isGated: true)
        let first = harness.ask(harness.request())
        await harness.deliver()
        #expect(await harness.codec.nextEvent() == .began(0))
        // The decode stands at its gate and does not know yet that it is given up.
        first.cancel()
        await #expect(throws: LoadError.cancelled) { try await first.value }
        let second = harness.ask(harness.request())
        await harness.deliver(start: 2)
        await eventually { harness.pipeline.queues.decodes.waitingCount == 1 }
        harness.codec.openGate(1)
        #expect(await harness.codec.nextEvent() == .cancelled(0))
        // The end of the first load has not taken the second one out of the table.
        #expect(harness.pipeline.images.loadCount == 1)
        let third = harness.ask(harness.request())
        await harness.waiting(harness.request(), 2)
        harness.codec.openGate(1)
        #expect(try await second.value == 0)
        #expect(try await third.value == 0)
        #expect(harness.loader.startCount == 2)
        #expect(harness.codec.decodes == [0, 0])
    }

    @Test("S11: runs at the highest priority of its consumers")
    func priority() async throws {
        let harness = PipelineHarness()
        let decodes = harness.pipeline.queues.decodes
        decodes.isSuspended = true
        let request = harness.request(priority: .background)
        let low = harness.ask(request)
        await harness.deliver()
        // The work of a preview may wait for a moment before that of the image.
        await eventually { decodes.waitingPriorities == [.background] }
        let high = PriorityHandle(.visible)
        let urgent = harness.ask(request, urgency: high)
        await eventually { decodes.waitingPriorities == [.visible] }
        let middle = PriorityHandle(.prefetch)
        let between = harness.ask(request, urgency: middle)
        await harness.waiting(request, 3)
        // One that is not the most urgent changes nothing.
        middle.priority = .background
        #expect(decodes.waitingPriorities == [.visible])
        middle.priority = .prefetch
        high.priority = .background
        #expect(decodes.waitingPriorities == [.prefetch])
        high.priority = .visible
        urgent.cancel()
        await #expect(throws: LoadError.cancelled) { try await urgent.value }
        #expect(decodes.waitingPriorities == [.prefetch])
        between.cancel()
        await #expect(throws: LoadError.cancelled) { try await between.value }
        #expect(decodes.waitingPriorities == [.background])
        decodes.isSuspended = false
        #expect(try await low.value == 0)
    }

    @Test("S11: never keeps an older priority, however fast it changes")
    func rapidChanges() async throws {
        let harness = PipelineHarness()
        harness.pipeline.queues.decodes.isSuspended = true
        let urgency = PriorityHandle(.background)
        let task = harness.ask(harness.request(), urgency: urgency)
        await harness.deliver()
        // Memory is reserved once no preview is made any more; then the decode waits, and follows.
        await eventually { harness.pipeline.budget.byteCount > 0 }
        urgency.priority = .visible
        await eventually { harness.pipeline.queues.decodes.waitingPriorities == [.visible] }
        for _ in 0..<100 {
            await withTaskGroup { group in
                for priority in LoadPriority.allCases {
                    group.addTask { urgency.priority = priority }
                }
            }
            #expect(harness.pipeline.queues.decodes.waitingPriorities == [urgency.priority])
        }
        harness.pipeline.queues.decodes.isSuspended = false
        #expect(try await task.value == 0)
    }
}

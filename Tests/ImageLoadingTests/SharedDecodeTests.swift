// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageTesting
import LoadingTesting
import LoadScheduling
import Pixels
import Testing

@testable import ImageLoading

@Suite("Requests in flight", .timeLimit(.minutes(5))) struct SharedDecodeTests {
    private let codec = FakeCodec(isGated: true)
    private let folder: TestFolder
    private let pipeline: ImagePipeline

    init() throws {
        folder = try TestFolder()
        pipeline = ImagePipeline(codec)
    }

    private func consumerCount(_ path: String) throws -> Int {
        let key = ImageKey(original: .file(try FileIdentity(path: path)), options: DecodeOptions())
        return pipeline.images.consumerCount(ImageLoadKey(image: key))
    }

    /// Requests an image and returns once its decode is waited for by so many.
    private func request(
        _ path: String, _ priority: LoadPriority = .visible, consumers: Int = 1
    ) async throws -> Task<UInt8, any Error> {
        let task = Task { [pipeline] in try await pipeline.grey(path, priority) }
        await eventually { (try? consumerCount(path)) == consumers }
        return task
    }

    @Test("that are equal share one decode") func coalescing() async throws {
        let path = try folder.write("a.fake", grey: 7)
        let tasks = (0..<100).map { _ in
            Task { [pipeline] in try await pipeline.grey(path) }
        }
        await eventually { (try? consumerCount(path)) == 100 }
        codec.openGate(1)
        for task in tasks { #expect(try await task.value == 7) }
        #expect(codec.decodes == [7])
    }

    @Test("end with their last consumer") func lastConsumer() async throws {
        let path = try folder.write("a.fake", grey: 7)
        let tasks = [try await request(path), try await request(path, consumers: 2)]
        #expect(await codec.nextEvent() == .began(7))
        for task in tasks {
            task.cancel()
            // Answered at once, although the decode still stands at the gate.
            await #expect(throws: LoadError.cancelled) { try await task.value }
        }
        codec.openGate(1)
        #expect(await codec.nextEvent() == .cancelled(7))
    }

    @Test("continue for the others when one leaves") func otherConsumers() async throws {
        let path = try folder.write("a.fake", grey: 7)
        let leaving = try await request(path)
        let staying = try await request(path, consumers: 2)
        leaving.cancel()
        await #expect(throws: LoadError.cancelled) { try await leaving.value }
        codec.openGate(1)
        #expect(try await staying.value == 7)
        #expect(codec.decodes == [7])
    }

    @Test("begin again when joined after cancellation") func joinedTooLate() async throws {
        let path = try folder.write("a.fake", grey: 7)
        let first = try await request(path)
        #expect(await codec.nextEvent() == .began(7))
        first.cancel()
        await #expect(throws: LoadError.cancelled) { try await first.value }
        let second = try await request(path)
        codec.openGate(2)
        #expect(try await second.value == 7)
        #expect(codec.decodes == [7, 7])
    }

    @Test("are removed from the queue without consumers") func cancelledWhileWaiting() async throws
    {
        let running = try await request(try folder.write("a.fake", grey: 1))
        #expect(await codec.nextEvent() == .began(1))
        let waiting = try await request(try folder.write("b.fake", grey: 2))
        await eventually { pipeline.queues.decodes.waitingCount == 1 }
        waiting.cancel()
        await #expect(throws: LoadError.cancelled) { try await waiting.value }
        await eventually { pipeline.queues.decodes.waitingCount == 0 }
        codec.openGate(2)
        #expect(try await running.value == 1)
        await pipeline.close()
        #expect(codec.decodes == [1])
    }

    @Test("run by priority, then by age") func order() async throws {
        var tasks = [try await request(try folder.write("first.fake", grey: 0))]
        #expect(await codec.nextEvent() == .began(0))
        let priorities: [LoadPriority] = [
            .background, .prefetch, .visible, .background, .visible, .prefetch,
        ]
        for (index, priority) in priorities.enumerated() {
            let path = try folder.write("\(index).fake", grey: UInt8(index + 1))
            tasks.append(try await request(path, priority))
            await eventually { pipeline.queues.decodes.waitingCount == index + 1 }
        }
        codec.openGate(7)
        for task in tasks { _ = try await task.value }
        #expect(codec.decodes == [0, 3, 5, 2, 6, 1, 4])
    }

    @Test("take the priority of a new consumer, until it leaves")
    func raised() async throws {
        var tasks = [try await request(try folder.write("first.fake", grey: 0))]
        #expect(await codec.nextEvent() == .began(0))
        var paths: [String] = []
        for grey in UInt8(1)...4 {
            paths.append(try folder.write("\(grey).fake", grey: grey))
            tasks.append(try await request(paths[Int(grey) - 1], .background))
            await eventually { pipeline.queues.decodes.waitingCount == Int(grey) }
        }
        tasks.append(try await request(paths[2], .visible, consumers: 2))
        let leaving = try await request(paths[3], .visible, consumers: 2)
        leaving.cancel()
        await #expect(throws: LoadError.cancelled) { try await leaving.value }
        codec.openGate(5)
        for task in tasks { _ = try await task.value }
        // What is less urgent than it was goes before those that never were more.
        #expect(codec.decodes == [0, 3, 4, 1, 2])
    }

    @Test("end before the pipeline is closed, which then rejects new ones") func closing()
        async throws
    {
        let store = try folder.store()
        let pipeline = ImagePipeline(codec, store: store)
        let path = try folder.write("a.fake", grey: 7)
        let working = Task { try await pipeline.rendition(path, side: 2).bytes }
        #expect(await codec.nextEvent() == .began(7))
        let closing = Task { await pipeline.close() }
        var isRefused = false
        while !isRefused && !Task.isCancelled {
            // Until closing has begun, it is a request like others, which is given up here.
            let later = Task { try await pipeline.facts(for: "\(path)/missing") }
            let answer = await later.result
            isRefused = answer.failure == .cancelled
        }
        codec.openGate(1)
        #expect(try await working.value == FakeCodec.file(PixelSize(width: 2, height: 2), grey: 7))
        await closing.value
        await #expect(throws: LoadError.cancelled) { try await pipeline.image(path) }
        // What was in flight has reached the store before it was closed.
        #expect(try folder.store().byteCount == 13)
        #expect(store.byteCount == 0)
    }
}

extension Result {
    fileprivate var failure: LoadError? {
        if case .failure(let error) = self { error as? LoadError } else { nil }
    }
}

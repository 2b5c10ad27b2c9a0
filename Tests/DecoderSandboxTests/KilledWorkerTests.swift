// SPDX-License-Identifier: Apache-2.0

import Dispatch
import EncodedImages
import Foundation
import ImageLoading
import ImageTesting
import LoadScheduling
import Logging
import Pixels
import Synchronization
import Testing

@testable import DecoderSandbox

@Suite struct KilledWorkerTests {
    @Test func `images are correct while workers are killed`() throws {
        try withTemporaryFolder { try Self.decodeWhileWorkersAreKilled(in: $0) }
    }

    private static func decodeWhileWorkersAreKilled(in folder: URL) throws {
        // A unique program name distinguishes its workers from those of other tests.
        let program = folder.appending(path: "killed").path
        let original = try #require(builtProgram("TestHelper"))
        try FileManager.default.createSymbolicLink(
            atPath: program, withDestinationPath: original.path)
        let sandbox = try Sandboxes.make {
            $0.workerCount = 3
            $0.workerPath = program
        }
        defer { sandbox.close() }
        _ = try sandbox.layers()
        let children = Sandboxes.workers("killed")
        #expect(!children.isEmpty)
        let wrongCount = Atomic(0)
        let doneCount = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 9) { thread in
            if thread == 8 {
                // Kills one worker after the other while the other threads decode.
                while doneCount.load(ordering: .relaxed) < 8 {
                    guard let worker = Sandboxes.workers("killed").randomElement() else { continue }
                    kill(worker, SIGKILL)
                    sched_yield()
                }
                return
            }
            for _ in 0..<50 {
                switch Sandboxes.image("behave", sandbox) {
                case .success(let image):
                    if image.packedBytes != [UInt8](repeating: 7, count: 64) {
                        wrongCount.add(1, ordering: .relaxed)
                    }
                // Both the first and the second worker were killed.
                case .failure(.decoderStopped(.killed)): break
                // The new worker was killed before it sent its greeting.
                case .failure(.sandboxUnavailable): break
                case .failure: wrongCount.add(1, ordering: .relaxed)
                }
            }
            doneCount.add(1, ordering: .relaxed)
        }
        #expect(wrongCount.load(ordering: .relaxed) == 0)
        // No worker is killed from here on.
        var answers: [Bool] = []
        for _ in 0..<12 { answers.append((try? Sandboxes.image("behave", sandbox).get()) != nil) }
        #expect(answers.suffix(3) == [true, true, true])
    }

    @Test func `a closed sandbox rejects decodes`() throws {
        let sandbox = try Sandboxes.make()
        _ = try Sandboxes.image("behave", sandbox).get()
        sandbox.close()
        guard case .sandboxUnavailable = Sandboxes.error("behave", sandbox) else {
            Issue.record("a closed sandbox decodes")
            return
        }
    }

    @Test func `other images are loaded while one blocks its worker`() async throws {
        let program = try NamedProgram()
        // Long enough that only cancellation ends the decode, even on a busy machine.
        let sandbox = try Sandboxes.make {
            $0.deadlineSeconds = 3600
            $0.workerPath = program.path
        }
        defer { sandbox.close() }
        let pipeline = pipeline(sandbox)
        let blocked = Task { try await pipeline.image(for: Self.request("loop")) }
        for number in 0..<20 {
            _ = try await pipeline.image(for: Self.request("behave \(number)"))
        }
        let workers = Sandboxes.workers(program.name)
        blocked.cancel()
        await #expect(throws: LoadError.cancelled) { try await blocked.value }
        await pipeline.close()
        // The worker that was busy until then was killed.
        #expect(Set(workers).subtracting(Sandboxes.workers(program.name)).count == 1)
    }

    @Test func `a slow image lowers the priority of its worker, and of no later image`()
        async throws
    {
        let program = try NamedProgram()
        let sandbox = try oneWorker(program)
        defer { sandbox.close() }
        let pipeline = pipeline(sandbox)
        let slow = await slowRequest("wait", pipeline, program)
        slow.cancel()
        _ = try await pipeline.image(for: Self.request("behave"))
        #expect(Set(niceness(program)) == [Self.ownNiceness])
        await pipeline.close()
    }

    @Test func `a worker that continues after a cancellation leaves the processors to others`()
        async throws
    {
        let program = try NamedProgram()
        let sandbox = try oneWorker(program) { $0.cancellationSeconds = 3600 }
        defer { sandbox.close() }
        let pipeline = pipeline(sandbox)
        let endless = await slowRequest("loop", pipeline, program)
        endless.cancel()
        var idle: Int32?
        while idle == nil {
            await Task.yield()
            idle = Sandboxes.workers(program.name).first { sched_getscheduler($0) == Self.idle }
        }
        kill(try #require(idle), SIGKILL)
        await #expect(throws: LoadError.cancelled) { try await endless.value }
        _ = try await pipeline.image(for: Self.request("behave"))
        let workers = Sandboxes.workers(program.name)
        #expect(!workers.isEmpty && workers.allSatisfy { sched_getscheduler($0) == SCHED_OTHER })
        await pipeline.close()
    }

    /// Returns a sandbox with one worker, whose priority is lowered after 50 ms of a request.
    private func oneWorker(
        _ program: NamedProgram, _ change: (inout DecoderSandbox.Configuration) -> Void = { _ in }
    ) throws -> DecoderSandbox {
        try Sandboxes.make {
            $0.workerCount = 1
            $0.deadlineSeconds = 3600
            $0.quickSeconds = 0.05
            $0.workerPath = program.path
            change(&$0)
        }
    }

    /// Begins a request, and waits until the priority of its worker is lowered.
    private func slowRequest(
        _ word: String, _ pipeline: ImagePipeline, _ program: NamedProgram
    ) async -> Task<LoadedImage, any Error> {
        let slow = Task { try await pipeline.image(for: Self.request(word)) }
        let lowered = min(19, Self.ownNiceness + 10)
        while !niceness(program).contains(lowered) { await Task.yield() }
        return slow
    }

    /// The program of workers under a name of its own, by which a test finds them.
    private final class NamedProgram {
        let name = "b\(UInt32.random(in: .min ... .max))"
        var path: String { FileManager.default.temporaryDirectory.appending(path: name).path }

        init() throws {
            try FileManager.default.createSymbolicLink(
                atPath: path, withDestinationPath: #require(builtProgram("TestHelper")).path)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    /// The niceness of the calling thread, which may differ from that of the first thread.
    private static var ownNiceness: Int { Int(getpriority(Int32(PRIO_PROCESS.rawValue), 0)) }

    /// `SCHED_IDLE`, which Swift does not import.
    private static let idle: Int32 = 5

    /// Returns the niceness of each worker.
    private func niceness(_ program: NamedProgram) -> [Int] {
        Sandboxes.workers(program.name).compactMap(Sandboxes.niceness)
    }

    private func pipeline(_ sandbox: DecoderSandbox) -> ImagePipeline {
        ImagePipeline(
            codecs: Sandboxes.codecs(sandbox), configuration: ImagePipeline.Configuration(),
            logger: Logger(label: "sandbox") { _ in SwiftLogNoOpLogHandler() })
    }

    private static func request(_ word: String) -> ImageRequest {
        ImageRequest(.bytes(Sandboxes.hostile(word), name: word))
    }
}

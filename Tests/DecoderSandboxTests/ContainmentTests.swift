// SPDX-License-Identifier: Apache-2.0

import DecoderSandbox
import EncodedImages
import Foundation
import ImageTesting
import Pixels
import Synchronization
import Testing

/// An attacker who controls a codec is contained in the worker, and each attack has its own error.
@Suite struct ContainmentTests {
    @Test(arguments: [
        ("crash", SIGSEGV), ("trap", SIGILL), ("abort", SIGABRT), ("overflow", SIGSEGV),
    ])
    func `a crash affects only its own image`(word: String, signal: Int32) throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        #expect(
            Sandboxes.error(word, sandbox) == .decoderStopped(.crash(signal: signal)))
        try expectOthersAreServed(by: sandbox)
    }

    @Test(arguments: [
        "open", "connect", "spawn", "run", "kill", "look", "code", "share", "ask",
        "write 4", "write 5",
    ])
    func `forbidden system calls terminate the worker`(word: String) throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        #expect(Sandboxes.error(word, sandbox) == .decoderStopped(.forbidden))
        try expectOthersAreServed(by: sandbox)
    }

    @Test(arguments: ["map 3", "map 4"])
    func `memory past the end of a result or a file cannot be written`(word: String) throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        let expected: [CodecError] = [
            .decoderStopped(.crash(signal: SIGBUS)),
            .decoderStopped(.nonsense(reason: "it exited with code 9")),
        ]
        let error = try #require(Sandboxes.error(word, sandbox, Sandboxes.large))
        #expect(expected.contains(error))
        try expectOthersAreServed(by: sandbox)
    }

    @Test func `a result that the worker could still modify is rejected`() throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        #expect(
            Sandboxes.error("keep", sandbox, Sandboxes.large)
                == .decoderStopped(.nonsense(reason: "the worker has not unmapped its result")))
        try expectOthersAreServed(by: sandbox)
    }

    @Test(arguments: [DecodeOptions(), Sandboxes.large])
    func `a result is unchanged after its worker writes the next`(options: DecodeOptions) throws {
        let sandbox = try Sandboxes.make { $0.workerCount = 1 }
        defer { sandbox.close() }
        let first = try Sandboxes.image("behave", sandbox, options).get()
        let bytes = first.packedBytes
        let second = try Sandboxes.image("fill 9", sandbox, options).get()
        #expect(bytes.allSatisfy { $0 == 7 } && first.packedBytes == bytes)
        #expect(second.packedBytes == [UInt8](repeating: 9, count: bytes.count))
    }

    @Test func `unbounded allocation stops at the memory limit`() throws {
        let sandbox = try Sandboxes.make { $0.memoryByteCount = 512 << 20 }
        defer { sandbox.close() }
        #expect(Sandboxes.error("allocate", sandbox) == .decoderStopped(.memory))
        try expectOthersAreServed(by: sandbox)
    }

    @Test func `an endless decode stops at the deadline`() throws {
        let sandbox = try Sandboxes.make { $0.deadlineSeconds = 0.5 }
        defer { sandbox.close() }
        #expect(
            Sandboxes.error("loop", sandbox)
                == .decoderStopped(.deadline(seconds: 0.5)))
        try expectOthersAreServed(by: sandbox)
    }

    @Test(arguments: ["loop", "wait"])
    func `a cancelled decode is stopped`(word: String) throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        let cancellation = CancellationFlag()
        cancellation.cancel()
        #expect(
            Sandboxes.error(word, sandbox, cancellation: cancellation) == .cancelled)
        try expectOthersAreServed(by: sandbox)
    }

    @Test func `a file that stopped a worker is quarantined`() throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        _ = Sandboxes.image("crash", sandbox)
        #expect(Sandboxes.error("crash", sandbox) == .decoderStopped(.known))
        // Another file of the same length.
        #expect(try Sandboxes.image("begin", sandbox).get().size == PixelSize(width: 8, height: 8))
    }

    @Test func `a file is decoded again after its quarantine`() throws {
        let sandbox = try Sandboxes.make { $0.quarantineSeconds = 0 }
        defer { sandbox.close() }
        let crash = CodecError.decoderStopped(.crash(signal: SIGSEGV))
        #expect(Sandboxes.error("crash", sandbox) == crash)
        #expect(Sandboxes.error("crash", sandbox) == crash)
    }

    @Test func `a thread may set its own name`() throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        #expect(try Sandboxes.image("name", sandbox).get().size.width == 8)
    }

    @Test func `a worker is not root outside its user namespace`() throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        let layers = try sandbox.layers()
        guard getuid() == 0, layers.contains(.users) else { return }
        let workers = try FileManager.default.contentsOfDirectory(atPath: "/proc")
            .compactMap { try? String(contentsOfFile: "/proc/\($0)/status", encoding: .utf8) }
            .filter { $0.contains("PPid:\t\(getpid())\n") && $0.contains("Name:\tTestHelper") }
        let locked = workers.filter { $0.contains("Seccomp:\t2") }
        #expect(!locked.isEmpty)
        for worker in locked {
            #expect(worker.contains("Uid:\t65534\t65534\t65534\t65534"))
            #expect(worker.contains("CapEff:\t0000000000000000"))
        }
    }

    @Test func `stopped workers are reported with their reason`() throws {
        let reasons = Mutex<[DecoderSandbox.StopReason]>([])
        let sandbox = try Sandboxes.make {
            $0.deadlineSeconds = 0.5
            $0.onStop = { reason in reasons.withLock { $0.append(reason) } }
        }
        defer { sandbox.close() }
        for word in ["crash", "open", "loop", "behave"] { _ = Sandboxes.image(word, sandbox) }
        #expect(reasons.withLock { $0 } == [.crash, .forbidden, .deadline])
    }

    @Test func `files similar to one that exceeded the deadline get a shorter deadline`() throws {
        let sandbox = try Sandboxes.make {
            $0.deadlineSeconds = 0.8
            $0.leastDeadlineSeconds = 0.3
        }
        defer { sandbox.close() }
        // Equal length and first bytes, different content.
        for (number, seconds) in [(1, 0.8), (2, 0.4), (3, 0.3)] {
            #expect(
                Sandboxes.error("loop aaaaaaaa \(number)", sandbox)
                    == .decoderStopped(.deadline(seconds: seconds)))
        }
        // Other files keep the full deadline.
        #expect(try Sandboxes.image("behave", sandbox).get().size.width == 8)
    }

    @Test func `a worker has every sandbox layer that this system supports`() throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        let layers = try sandbox.layers()
        #expect(layers.isSuperset(of: SandboxLayer.essential.union([.parent])))
    }

    @Test func `a missing worker program is an error`() throws {
        let sandbox = try Sandboxes.make { $0.workerPath = "/nonexistent/worker" }
        defer { sandbox.close() }
        #expect(
            Sandboxes.error("behave", sandbox)
                == .sandboxUnavailable(reason: "/nonexistent/worker: No such file or directory"))
    }

    @Test func `a program that is not a worker is rejected`() throws {
        let sandbox = try Sandboxes.make { $0.workerPath = "/bin/true" }
        defer { sandbox.close() }
        #expect(
            Sandboxes.error("behave", sandbox)
                == .sandboxUnavailable(
                    reason: "/bin/true is not a worker program, or did not start within 20 s"))
    }

    @Test(arguments: ["hello of another layout", "hello of the first version"])
    func `a worker of another version is distinguished from a broken one`(name: String) throws {
        try withTemporaryFolder { folder in
            let program = folder.appending(path: name).path
            let worker = try #require(builtProgram("TestHelper"))
            try FileManager.default.createSymbolicLink(
                atPath: program, withDestinationPath: worker.path)
            let sandbox = try Sandboxes.make { $0.workerPath = program }
            defer { sandbox.close() }
            #expect(
                Sandboxes.error("behave", sandbox)
                    == .sandboxUnavailable(
                        reason: "\(program) is of another version than this program"))
        }
    }

    /// Checks that other images are decoded correctly by as many workers as before.
    private func expectOthersAreServed(by sandbox: DecoderSandbox) throws {
        for _ in 0..<3 {
            let image = try Sandboxes.image("behave", sandbox).get()
            #expect(image.packedBytes == [UInt8](repeating: 7, count: 64))
        }
    }
}

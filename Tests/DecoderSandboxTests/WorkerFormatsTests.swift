// SPDX-License-Identifier: Apache-2.0

@testable import DecoderSandbox
import Dispatch
import Drawing
import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Synchronization
import Testing

/// Workers that load the libraries of some formats, and replace each other.
@Suite struct WorkerFormatsTests {
    @Test func `idle workers are replaced by those with the libraries of a file`() throws {
        try withTemporaryFolder { folder in
            let sandbox = try Self.sandbox("formats-ahead", in: folder) { $0.workerCount = 1 }
            defer { sandbox.close() }
            var all: Set<Int32> = []
            for name in ["a", "b", "a", "a", "c", "b"] {
                try Self.expectImage(name, sandbox)
                let workers = Sandboxes.workers("formats-ahead")
                // One that decodes, two for headers.
                #expect(workers.count <= 3)
                all.formUnion(workers)
            }
            #expect(all.count >= 6)
        }
    }

    @Test func `on demand, files of four formats in turn keep their workers`() throws {
        try withTemporaryFolder { folder in
            let sandbox = try Self.sandbox("formats-demand", in: folder) {
                $0.workerCount = 1
                $0.startsOnDemand = true
            }
            defer { sandbox.close() }
            #expect(Sandboxes.workers("formats-demand").isEmpty)
            for name in ["a", "b", "c", "d"] { try Self.expectImage(name, sandbox) }
            let workers = Set(Sandboxes.workers("formats-demand"))
            #expect(workers.count == 4)
            for name in ["c", "a", "d", "b", "a"] { try Self.expectImage(name, sandbox) }
            #expect(Set(Sandboxes.workers("formats-demand")) == workers)
            // The worker that was used least recently.
            try Self.expectImage("e", sandbox)
            let changed = Set(Sandboxes.workers("formats-demand"))
            #expect(changed.count == 4)
            #expect(changed.intersection(workers).count == 3)
        }
    }

    @Test func `requests for several formats at the same time all succeed`() throws {
        try withTemporaryFolder { folder in
            let sandbox = try Self.sandbox("formats-mixed", in: folder) { $0.workerCount = 2 }
            defer { sandbox.close() }
            let wrong = Atomic(0)
            DispatchQueue.concurrentPerform(iterations: 6) { thread in
                for number in 0..<12 {
                    let name = ["a", "b", "c"][(thread + number * number) % 3]
                    let isHostile = (thread + number) % 7 == 0
                    let result = Sandboxes.image(
                        isHostile ? "crash \(name)" : "behave \(name)", sandbox)
                    switch result {
                    case .success(let image) where !isHostile:
                        if image.packedBytes == [UInt8](repeating: 7, count: 64) { continue }
                    case .failure(.decoderStopped) where isHostile: continue
                    default: break
                    }
                    wrong.add(1, ordering: .relaxed)
                }
            }
            #expect(wrong.load(ordering: .relaxed) == 0)
        }
    }

    @Test func `every request receives the error of a worker that does not start`() throws {
        let all = WorkerFormats(nil)
        let pool = WorkerPool(count: 2, ahead: [all]) { _ throws(CodecError) in
            throw .sandboxUnavailable(reason: "test")
        }
        defer { pool.close() }
        let count = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for _ in 0..<10 {
                do throws(CodecError) {
                    _ = try pool.acquire(thread == 0 ? WorkerFormats(["a"]) : all, nil)
                } catch {
                    guard case .sandboxUnavailable("test") = error else { return }
                    count.add(1, ordering: .relaxed)
                }
            }
        }
        #expect(count.load(ordering: .relaxed) == 40)
    }

    @Test func `a cancelled request does not occupy the worker that it waited for`() throws {
        let sandbox = try Sandboxes.make { $0.workerCount = 1 }
        defer { sandbox.close() }
        let formats = sandbox.formats(for: .convertColors)
        let worker = try sandbox.decodes.acquire(formats, nil)
        let cancelled = CancellationFlag()
        cancelled.cancel()
        #expect(throws: CodecError.cancelled) {
            _ = try sandbox.decodes.acquire(formats, cancelled)
        }
        #expect(throws: CodecError.cancelled) {
            _ = try sandbox.decodes.acquire(WorkerFormats([]), cancelled)
        }
        sandbox.decodes.release(worker)
        #expect(try sandbox.decodes.acquire(formats, nil) === worker)
        sandbox.decodes.release(worker)
    }

    @Test func `formats that take long to prepare have workers of their own`() {
        #expect(sharedSandboxFormats.isDisjoint(with: ["avif", "card", "heic", "jxl", "svg"]))
        #expect(sharedSandboxFormats(toDecode: EncodedBytes([0xFF, 0xD8])) == sharedSandboxFormats)
        #expect(sharedSandboxFormats(toDecode: EncodedBytes([])) == sharedSandboxFormats)
        #expect(sharedSandboxFormats(toEncode: "webp") == sharedSandboxFormats)
        if builtInCodecs.codec(named: "card") != nil {
            let card = CardDocument(
                template: #"{"size": [4, 4], "layers": []}"#, values: [:], scale: 1, images: [])
            #expect(sharedSandboxFormats(toDecode: EncodedBytes(card.bytes)) == ["card"])
        }
        if builtInCodecs.codec(named: "heic") != nil, builtInCodecs.codec(named: "avif") != nil {
            // Both codecs recognize a file with the brands of both.
            let start = [0, 0, 0, 24] + Array("ftypmif1\0\0\0\0mif1avif".utf8)
            #expect(sharedSandboxFormats(toDecode: EncodedBytes(start)) == ["avif"])
            let end = Array(start.dropLast(4)) + Array("heic".utf8)
            #expect(sharedSandboxFormats(toDecode: EncodedBytes(end)) == ["heic"])
        }
        if builtInCodecs.codec(named: "jxl") != nil {
            #expect(sharedSandboxFormats(toDecode: EncodedBytes([0xFF, 0x0A])) == ["jxl"])
            #expect(sharedSandboxFormats(toEncode: "jxl") == ["jxl"])
        }
    }

    @Test(arguments: [nil, [], ["a"], ["a", "b"]] as [Set<String>?])
    func `the command line of a worker names its formats`(names: Set<String>?) {
        let formats = WorkerFormats(names)
        let arguments = ["worker"] + (formats.argument.map { [$0] } ?? [])
        #expect(WorkerFormats(arguments: arguments) == formats)
    }

    // In the sandbox, the last word of a file is the name of its format. The name of the program is unique: it
    // distinguishes its workers from those of other tests.
    private static func sandbox(
        _ name: String, in folder: URL, _ change: (inout DecoderSandbox.Configuration) -> Void
    ) throws -> DecoderSandbox {
        let program = folder.appending(path: name).path
        try FileManager.default.createSymbolicLink(
            atPath: program, withDestinationPath: #require(builtProgram("TestHelper")).path)
        return try Sandboxes.make {
            $0.workerPath = program
            $0.formats = { work in
                guard case .decode(let file) = work else { return [] }
                let line = String(decoding: file.copy(of: 0..<file.count), as: UTF8.self)
                return [String(line.split(separator: " ").last ?? "")]
            }
            change(&$0)
        }
    }

    private static func expectImage(_ name: String, _ sandbox: DecoderSandbox) throws {
        let image = try Sandboxes.image("behave \(name)", sandbox).get()
        #expect(image.packedBytes == [UInt8](repeating: 7, count: 64))
    }
}

// SPDX-License-Identifier: Apache-2.0

import DecoderSandbox
import Dispatch
import EncodedImages
import Foundation
import ImageTesting
import Synchronization
import Testing

@Suite struct WorkerPriorityTests {
    @Test func `a worker that computes for long has a low priority until it has answered`() throws {
        let name = "n\(UInt32.random(in: .min ... .max))"
        let program = FileManager.default.temporaryDirectory.appending(path: name).path
        try FileManager.default.createSymbolicLink(
            atPath: program, withDestinationPath: #require(builtProgram("TestHelper")).path)
        defer { try? FileManager.default.removeItem(atPath: program) }
        let sandbox = try Sandboxes.make {
            $0.deadlineSeconds = 3600
            $0.lowersPriority = true
            $0.workerCount = 1
            $0.workerPath = program
        }
        defer { sandbox.close() }
        _ = try Sandboxes.image("behave", sandbox).get()
        let usual = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
        #expect(Set(Self.niceValues(name)) == [usual])

        let cancellation = CancellationFlag()
        let hasEnded = Atomic(false)
        let group = DispatchGroup()
        DispatchQueue.global().async(group: group) {
            _ = Sandboxes.image("wait", sandbox, cancellation: cancellation)
            hasEnded.store(true, ordering: .releasing)
        }
        var lowered: [Int32] = []
        while lowered.isEmpty, !hasEnded.load(ordering: .acquiring) {
            lowered = Self.niceValues(name).filter { $0 > usual }
            sched_yield()
        }
        #expect(lowered == [usual + 5])
        cancellation.cancel()
        group.wait()

        // The same worker, or another one if the system does not permit raising a priority.
        _ = try Sandboxes.image("behave", sandbox).get()
        #expect(Set(Self.niceValues(name)) == [usual])
    }

    private static func niceValues(_ name: String) -> [Int32] {
        Sandboxes.workers(name).map {
            getpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t($0))
        }
    }
}

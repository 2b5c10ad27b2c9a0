// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import ImageLoading
import Testing

@testable import ImageServer

@Suite("Readiness", .timeLimit(.minutes(10))) struct ReadinessTests {
    @Test("is reported at once while all threads decode, with 503 for a full queue")
    func readiness() async throws {
        let gallery = try TestGallery(changingPipeline: { configuration in
            configuration.decodeThreadCount = 1
            configuration.maximumQueuedDecodeCount = 1
        })
        for name in ["1", "2"] { try gallery.file("\(name).gate", Array("GATE".utf8)) }
        #expect(try await gallery.get("/readyz").status == 200)

        async let first = gallery.get("/2x2/1.gate")
        #expect(await gallery.gate.nextEvent() == .began)
        async let second = gallery.get("/2x2/2.gate")
        // Other queues are full for a moment before the one that stays full.
        var answer = try await gallery.get("/readyz")
        while answer.status != 503 {
            await Task.yield()
            answer = try await gallery.get("/readyz")
        }
        #expect(answer.headers[.retryAfter] == "1")
        #expect(try await gallery.get("/healthz").status == 200)

        gallery.gate.open()
        gallery.gate.open()
        #expect(try await first.status == 200)
        #expect(try await second.status == 200)
        #expect(try await gallery.get("/readyz").status == 200)
    }

    @Test("is 503 after the pipeline has been closed") func closed() async throws {
        let gallery = try TestGallery()
        await gallery.pipeline.close()
        #expect(try await gallery.get("/readyz").status == 503)
        #expect(try await gallery.get("/healthz").status == 200)
    }
}

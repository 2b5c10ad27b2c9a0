// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Logging
import Testing

@testable import ImageServer

@Suite("The request deadline", .timeLimit(.minutes(10))) struct DeadlineTests {
    @Test("ends one request, but not others that share the load")
    func deadline() async throws {
        let gallery = try TestGallery()
        try gallery.file("long.gate", Array("GATELONG".utf8))
        let patient = Task { try await gallery.get("/6000x6000/long.gate") }
        #expect(await gallery.gate.nextEvent() == .began)

        var configuration = gallery.configuration
        configuration.requestTimeout = .milliseconds(1)
        let hasty = ImageServer(
            configuration: configuration, pipeline: gallery.pipeline,
            logger: .init(label: "test"))
        let answer = try await gallery.get("/6000x6000/long.gate", from: hasty)
        #expect(answer.status == 503)
        #expect(answer.headers[.retryAfter] == "1")
        #expect(answer.text == #"{"error":"timeout while producing the image; retry later"}"#)

        patient.cancel()
        #expect(await gallery.gate.nextEvent() == .cancelled)
        #expect(try await patient.value.status == 503)
    }

    @Test("cancels work that exceeds it") func cancellation() async throws {
        let (ends, sink) = AsyncStream<Void>.makeStream()
        await #expect(throws: ServerError.deadlineExceeded) {
            try await withDeadline(.milliseconds(1)) {
                // Ends only by cancellation.
                for await _ in AsyncStream<Void>.makeStream().stream {}
                sink.finish()
            }
        }
        for await _ in ends {}
    }

    @Test("passes results and errors of work that completes in time") func inTime() async throws {
        #expect(try await withDeadline(.seconds(1_000)) { 7 } == 7)
        await #expect(throws: ServerError.notFound) {
            try await withDeadline(.seconds(1_000)) { throw ServerError.notFound }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import ImageLoading
import Logging
import Testing

@testable import ImageServer

@Suite("The time that a picture may take", .timeLimit(.minutes(10))) struct DeadlineTests {
    @Test("ends for one client, and not for others who wait for the same picture")
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
        #expect(answer.text == #"{"error":"the picture takes too long; try again later"}"#)

        patient.cancel()
        #expect(await gallery.gate.nextEvent() == .cancelled)
        #expect(try await patient.value.status == 503)
    }

    @Test("what takes too long is cancelled") func cancellation() async throws {
        let (ends, sink) = AsyncStream<Void>.makeStream()
        await #expect(throws: ServerError.tookTooLong) {
            try await withDeadline(.milliseconds(1)) {
                // Ends when it is cancelled, and at no other time.
                for await _ in AsyncStream<Void>.makeStream().stream {}
                sink.finish()
            }
        }
        for await _ in ends {}
    }

    @Test("what is done in time is answered, and its errors are its own") func inTime() async throws
    {
        #expect(try await withDeadline(.seconds(1_000)) { 7 } == 7)
        await #expect(throws: ServerError.notFound) {
            try await withDeadline(.seconds(1_000)) { throw ServerError.notFound }
        }
    }
}

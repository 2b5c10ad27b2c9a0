// SPDX-License-Identifier: Apache-2.0

import HTTPTesting
import ImageLoading
import ImageTesting
import Pixels
import Testing

@testable import ImageServer

@Suite("An image with stale-while-revalidate", .timeLimit(.minutes(10)))
struct StaleOriginTests {
    /// The first image, then, when the test sends it, one of another shape.
    private static let newer = ScriptedServer.Answer(image: LiveOrigin.image(40, 20), control)
    private static let control = ["Cache-Control: max-age=1, stale-while-revalidate=60"]

    private static func with(
        memoryByteLimit: Int, _ body: (LiveOrigin) async throws -> Void
    ) async throws {
        let first = ScriptedServer.Answer(image: LiveOrigin.image(), control)
        try await LiveOrigin.with(
            changingPipeline: { $0.memoryCacheByteLimit = memoryByteLimit },
            { _, index in index == 0 ? first : nil }, body)
    }

    /// Images stay in memory, or the old response is read from the disk.
    private static let memoryByteLimits = [1 << 20, 0]

    @Test(
        "is returned stale at once, and fresh to the next request", arguments: memoryByteLimits)
    func stale(memoryByteLimit: Int) async throws {
        try await Self.with(memoryByteLimit: memoryByteLimit) { origin in
            let first = try await origin.get()
            #expect(first.status == 200, "\(first.text.prefix(300))")
            #expect(try first.pixelSize() == PixelSize(width: 20, height: 15))
            #expect(try await origin.get().body == first.body)
            #expect(origin.server.requests.count == 1, "it is fresh for a second")

            origin.clock.advance(by: .seconds(2))
            // The origin does not respond, so that no request that waits for it gets here.
            for _ in 0..<3 { #expect(try await origin.get().body == first.body) }
            await eventually { origin.server.requests.count == 2 }

            origin.server.send(Self.newer.bytes)
            try await eventually { try await origin.get().body != first.body }
            #expect(try await origin.get().pixelSize() == PixelSize(width: 20, height: 10))
            #expect(origin.server.requests.count == 2)
        }
    }

    @Test("is not returned after that time, unless it is in memory") func tooOld() async throws {
        try await Self.with(memoryByteLimit: 0) { origin in
            let first = try await origin.get()
            #expect(first.status == 200)
            origin.clock.advance(by: .seconds(62))
            let task = Task { try await origin.get() }
            await eventually { origin.server.requests.count == 2 }
            origin.server.send(Self.newer.bytes)
            #expect(try await task.value.pixelSize() == PixelSize(width: 20, height: 10))
        }
    }
}

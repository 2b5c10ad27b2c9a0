// SPDX-License-Identifier: Apache-2.0

import HTTPCaching
import HTTPTesting
import HTTPTypes
import ImageTesting
import Pixels
import Synchronization
import Testing

@testable import ImageServer

/// Rows 11 and 12 of the attacks that a server must survive: bodies that have another length, do not
/// end, or are not images.
@Suite("A hostile origin", .timeLimit(.minutes(10))) struct HostileOriginTests {
    /// A duration that never passes in a test.
    private static let never = Duration.seconds(1 << 40)

    /// Sends `answer` for the first request, and a valid image for later ones.
    private static func first(
        _ answer: ScriptedServer.Answer?
    ) -> @Sendable (String, Int) -> ScriptedServer.Answer? {
        let good = ScriptedServer.Answer(image: LiveOrigin.image())
        return { _, index in index == 0 ? answer : good }
    }

    /// Checks that an error reveals no internals, and that other requests are unaffected.
    private static func check(
        _ answer: Answer, _ status: Int, _ origin: LiveOrigin
    ) async throws {
        #expect(answer.status == status, "\(answer.text.prefix(300))")
        #expect(answer.headers[.cacheControl] == "no-store")
        #expect(answer.headers[.xContentTypeOptions] == "nosniff")
        #expect(answer.body.count < 300)
        #expect(!answer.text.contains("127.0.0.1"))
        #expect(try await origin.gallery.get("/healthz").status == 200)
        let again = try await origin.get()
        #expect(again.status == 200, "\(again.text.prefix(300))")
        #expect(try again.pixelSize() == PixelSize(width: 20, height: 15))
        #expect(origin.server.requests.count == 2)
    }

    @Test(
        "that sends no image is requested again, without affecting other requests",
        arguments: HostileAnswer.bodies + HostileAnswer.heads)
    func answers(hostile: HostileAnswer) async throws {
        try await LiveOrigin.with(Self.first(hostile.answer)) { origin in
            let before = try await origin.gallery.get("/20x20/good.png")
            let answer = try await origin.get()
            // The connection of an origin that continues to send is closed.
            if hostile.answer.end == .stays { await eventually { origin.server.openCount == 0 } }
            try await Self.check(answer, hostile.status, origin)
            let after = try await origin.gallery.get("/20x20/good.png")
            #expect(before.status == 200)
            #expect(after.body == before.body)
        }
    }

    @Test("that sends another length than announced causes an error")
    func shortLength() async throws {
        let image = LiveOrigin.image()
        let answer = ScriptedServer.Answer(
            ["Content-Type: image/png", "Content-Length: \(image.count / 2)"], image, .closes)
        try await LiveOrigin.with(Self.first(answer)) { origin in
            // The response is complete by HTTP's rules; it counts as a truncated file.
            let cut = try await origin.get()
            #expect([200, 422].contains(cut.status), "\(cut.text.prefix(300))")
            await eventually { (try? await origin.get())?.body != cut.body }
            let whole = try await origin.get()
            #expect(try whole.pixelSize() == PixelSize(width: 20, height: 15))
        }
    }

    /// A slow origin, and the limit that ends the request.
    enum Slowness: CaseIterable {
        case silent, stopsMidway, trickles
    }

    @Test(
        "that is slow is abandoned at its deadline, and its connection closed",
        arguments: Slowness.allCases)
    func slow(slowness: Slowness) async throws {
        let image = LiveOrigin.image()
        let start = ScriptedServer.Answer(
            ["Content-Type: image/png"], Array(image.prefix(image.count / 2)))
        try await LiveOrigin.with(
            changingLoader: {
                $0.responseTimeout = slowness == .silent ? .seconds(30) : Self.never
                $0.idleTimeout = slowness == .stopsMidway ? .seconds(30) : Self.never
                $0.totalTimeout = slowness == .trickles ? .seconds(1_000) : Self.never
            }, Self.first(slowness == .silent ? nil : start)
        ) { origin in
            let before = try await origin.gallery.get("/20x20/good.png")
            let isOver = Mutex(false)
            let task = Task {
                defer { isOver.withLock { $0 = true } }
                return try await origin.get()
            }
            await eventually { origin.server.requests.count == 1 }
            let meanwhile = try await origin.gallery.get("/20x20/good.png")
            #expect(meanwhile.body == before.body)
            await eventually {
                if slowness == .trickles { origin.server.send([0]) }
                origin.clock.advance(by: .seconds(1))
                return isOver.withLock { $0 }
            }
            let answer = try await task.value
            await eventually { origin.server.openCount == 0 }
            try await Self.check(answer, 504, origin)
        }
    }

    @Test("that is slow is abandoned when the client hangs up") func givenUp() async throws {
        let start = ScriptedServer.Answer(["Content-Type: image/png"], LiveOrigin.image())
        try await LiveOrigin.with({ _, _ in start }) { origin in
            let task = Task { try await origin.get() }
            await eventually { origin.server.requests.count == 1 }
            task.cancel()
            let answer = try await task.value
            #expect(answer.status == 503)
            await eventually { origin.server.openCount == 0 }
        }
    }
}

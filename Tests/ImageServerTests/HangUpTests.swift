// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdCore
import NIOEmbedded
import Testing

@testable import ImageServer

@Suite("Work on a request", .timeLimit(.minutes(10))) struct HangUpTests {
    /// Ends when its task is cancelled.
    @Sendable private static func work() async -> Response {
        let (cancellation, sink) = AsyncStream<Never>.makeStream()
        for await _ in cancellation {}
        withExtendedLifetime(sink) {}
        return Response(status: .ok)
    }

    @Test("is cancelled with the task that awaits it") func outerTask() async throws {
        let channel = NIOAsyncTestingChannel()
        let task = Task { await withCancellationOnHangUp(of: channel, Self.work) }
        task.cancel()
        #expect(await task.value.status == .ok)
        _ = try await channel.finish()
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOPosix

/// Does work that is given up when it takes too long.
///
/// - Parameters:
///   - timeout: how long it may take.
///   - work: is cancelled at that moment; what it shares with others goes on for them.
/// - Returns: what the work answers.
/// - Throws: what it throws, or ``ServerError/tookTooLong``.
func withDeadline<Result: Sendable>(
    _ timeout: Duration, _ work: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    // A cancelled `Task.sleep` would keep its memory until the time it was to end.
    let timer = MultiThreadedEventLoopGroup.singleton.any()
        .scheduleTask(in: TimeAmount(timeout)) {}
    return try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask { try await work() }
        group.addTask {
            try await timer.futureResult.get()
            return nil
        }
        defer {
            timer.cancel()
            group.cancelAll()
        }
        guard let result = try await group.next() ?? nil else { throw ServerError.tookTooLong }
        return result
    }
}

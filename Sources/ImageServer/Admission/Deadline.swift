// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOPosix

/// Runs `work` with a timeout.
///
/// - Parameters:
///   - timeout: the time after which `work` is cancelled; loads shared with other requests continue.
///   - work: the work.
/// - Returns: the result of `work`.
/// - Throws: the error of `work`, or ``ServerError/deadlineExceeded``.
func withDeadline<Result: Sendable>(
    _ timeout: Duration, _ work: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    // A cancelled `Task.sleep` keeps its memory until its original end.
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
        guard let result = try await group.next() ?? nil else { throw ServerError.deadlineExceeded }
        return result
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling

/// The worker threads that read tiles and create pyramids, for any number of images.
///
/// The creator must call ``close()``.
public final class TileQueue: Sendable {
    /// Reads and decodes tiles.
    let reading: WorkQueue
    /// Creates pyramids; each occupies a thread until it is complete.
    let making: WorkQueue

    /// Starts the threads.
    ///
    /// - Parameters:
    ///   - threadCount: the number of tiles that are decoded concurrently.
    ///   - pyramidThreadCount: the number of pyramids that are created concurrently; each takes
    ///     memory in proportion to the width of its image.
    ///   - maximumWaitingCount: the maximum number of waiting requests; more are rejected.
    public init(
        threadCount: Int = 2, pyramidThreadCount: Int = 1, maximumWaitingCount: Int = 10_000
    ) {
        reading = WorkQueue(width: threadCount, maximumWaitingCount: maximumWaitingCount)
        making = WorkQueue(
            width: pyramidThreadCount, maximumWaitingCount: maximumWaitingCount)
    }

    deinit {
        reading.stop()
        making.stop()
    }

    /// Rejects new work and waits until accepted work is complete and the threads have ended.
    public func close() async {
        await making.close()
        await reading.close()
    }
}

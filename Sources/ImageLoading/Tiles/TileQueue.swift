// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling

/// The threads on which tiles are read and pyramids are made, for any number of pictures.
///
/// Whoever makes one closes it.
public final class TileQueue: Sendable {
    /// Reads and decodes tiles.
    let reading: WorkQueue
    /// Makes pyramids, each of which holds a thread for as long as it takes.
    let making: WorkQueue

    /// - Parameters:
    ///   - threadCount: how many tiles are decoded at once.
    ///   - pyramidThreadCount: how many pyramids are made at once; each takes memory in proportion
    ///     to the width of its picture.
    ///   - maximumWaitingCount: how many requests may wait; more are refused.
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

    /// Refuses new work and waits until what has been taken is done and the threads have ended.
    public func close() async {
        await making.close()
        await reading.close()
    }
}

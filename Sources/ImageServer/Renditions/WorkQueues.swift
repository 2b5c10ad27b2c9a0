// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The queues in which clients take turns.
struct WorkQueues: Sendable {
    /// Renditions and sprite sheets that take a second or more.
    let slow: FairQueue
    /// All other renditions.
    let usual: FairQueue
    /// Reading folders.
    let folders: FairQueue

    init() {
        // Half of the cores, so that slow work leaves the other half to the rest.
        let half = max(1, System.coreCount / 2)
        slow = FairQueue(width: half, maximumWaitingCount: 256)
        usual = FairQueue(width: max(32, System.coreCount * 8), maximumWaitingCount: 4_096)
        folders = FairQueue(width: half, maximumWaitingCount: 256)
    }
}

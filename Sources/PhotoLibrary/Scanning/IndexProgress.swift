// SPDX-License-Identifier: Apache-2.0

/// How far the files of a library have been read.
enum IndexProgress: Sendable {
    /// Folders are being listed, so that the number of files is unknown.
    case scanning
    case reading(unreadCount: Int, secondsLeft: Double?)
    case complete
}

/// Estimates the time until all files are read.
struct IndexPace {
    /// The number of files from which a pace follows.
    private static let minimumCount = 256

    private let clock = ContinuousClock()
    private var start: ContinuousClock.Instant
    private var readCount = 0
    private var unreadCount = 0

    init() { start = clock.now }

    /// Begins a measurement.
    mutating func restart(unreadCount: Int) {
        start = clock.now
        readCount = 0
        self.unreadCount = unreadCount
    }

    /// Counts files that have been read.
    mutating func add(_ count: Int) {
        readCount += count
        unreadCount = max(0, unreadCount - count)
    }

    var progress: IndexProgress {
        guard unreadCount > 0 else { return .complete }
        let elapsed = start.duration(to: clock.now)
        let secondsLeft: Double? =
            readCount < Self.minimumCount
            ? nil : elapsed / .seconds(1) * Double(unreadCount) / Double(readCount)
        return .reading(unreadCount: unreadCount, secondsLeft: secondsLeft)
    }
}

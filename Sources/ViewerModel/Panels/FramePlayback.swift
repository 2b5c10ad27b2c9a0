// SPDX-License-Identifier: Apache-2.0

/// The times at which the frames of an animation are shown.
package struct FramePlayback: Sendable {
    /// The position of the frame that is shown.
    package private(set) var index = 0
    private var due: ContinuousClock.Instant?

    /// The durations below the first value are those of files that specify no time; browsers show such
    /// frames as long as the second value.
    private static let leastDuration = Duration.milliseconds(11)
    private static let usualDuration = Duration.milliseconds(100)

    /// Creates a playback before its first frame.
    package init() {}

    /// Notes that a frame is shown.
    ///
    /// - Returns: the time at which the next one is due. It does not depend on how late the frame is,
    ///   unless the frame is later than its whole duration.
    package mutating func show(
        _ index: Int, duration: Duration, at now: ContinuousClock.Instant
    ) -> ContinuousClock.Instant {
        self.index = index
        let duration = duration < Self.leastDuration ? Self.usualDuration : duration
        let start = due.map { now - $0 < duration ? $0 : now } ?? now
        let next = start + duration
        due = next
        return next
    }

    /// Notes that the animation is paused: the time until it continues does not count.
    package mutating func pause() { due = nil }

    /// Returns the position of the frame before the one that is shown; the last one before the first.
    package func previous(of count: Int) -> Int { index > 0 ? index - 1 : max(0, count - 1) }
}

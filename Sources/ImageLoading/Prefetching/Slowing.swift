// SPDX-License-Identifier: Apache-2.0

/// How fast content slows down, from what is said of its velocity from time to time.
struct Slowing {
    /// What lies between two looks is at least so long, so that no jerk of a finger counts.
    private static let shortestSpan = Duration.milliseconds(30)

    /// In pixels a second for each second; 0 if the content does not slow down.
    ///
    /// Content that turns has slowed down to nothing on the way.
    private(set) var deceleration = 0.0
    private var last: (time: Duration, velocity: Double)?

    mutating func note(_ velocity: Double, at time: Duration) {
        guard let last else {
            self.last = (time, velocity)
            return
        }
        let span = time - last.time
        guard span >= Self.shortestSpan else { return }
        let isTurning = velocity * last.velocity < 0
        let loss = abs(last.velocity) + (isTurning ? abs(velocity) : -abs(velocity))
        deceleration = max(0, loss / (span / .seconds(1)))
        self.last = (time, velocity)
    }
}

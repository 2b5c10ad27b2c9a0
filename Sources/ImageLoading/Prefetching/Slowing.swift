// SPDX-License-Identifier: Apache-2.0

/// Estimates the deceleration of content from samples of its velocity.
struct Slowing {
    /// The minimum time between two samples, so that jitter of a finger is ignored.
    private static let shortestSpan = Duration.milliseconds(30)

    /// The deceleration in pixels per second squared; 0 if the content does not slow down.
    ///
    /// A reversal of the direction counts as slowing down to rest.
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

// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The clock by which frames are drawn; a test has one of its own, which waits for nothing.
struct FrameClock {
    /// Since some moment.
    let now: () -> Duration
    /// Holds the thread until then.
    let wait: (Duration) -> Void

    static func system() -> FrameClock {
        let start = ContinuousClock.now
        return FrameClock(
            now: { start.duration(to: .now) },
            wait: { end in
                let left = end - start.duration(to: .now)
                if left > .zero { Thread.sleep(forTimeInterval: left / .seconds(1)) }
            })
    }
}

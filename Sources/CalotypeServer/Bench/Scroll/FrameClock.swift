// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The clock of a benchmark; tests replace it with one that does not wait.
struct FrameClock {
    /// The time since an arbitrary start.
    let now: () -> Duration
    /// Blocks the thread until a time.
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

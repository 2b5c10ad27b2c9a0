// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The clock for timeouts and the clock for dates; tests replace both.
package struct LoaderClock: Sendable {
    /// Returns the monotonic time since the creation of the clock.
    let elapsed: @Sendable () -> Duration
    let sleep: @Sendable (Duration) async throws -> Void
    /// Returns the seconds since 1970.
    package let date: @Sendable () -> Int

    init(_ clock: any Clock<Duration>, date: @escaping @Sendable () -> Int) {
        elapsed = Self.stopwatch(clock)
        sleep = { duration in try await clock.sleep(for: duration) }
        self.date = date
    }

    private static func stopwatch<C: Clock>(
        _ clock: C
    ) -> @Sendable () -> Duration where C.Duration == Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}

/// Returns the seconds since 1970 by the system clock.
func systemDate() -> Int { time(nil) }

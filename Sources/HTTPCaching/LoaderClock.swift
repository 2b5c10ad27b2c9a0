// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A clock to wait by and one that tells the date, so that a test can set both.
package struct LoaderClock: Sendable {
    /// The time since some moment, which never goes back.
    let elapsed: @Sendable () -> Duration
    let sleep: @Sendable (Duration) async throws -> Void
    /// Seconds since 1970.
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

/// Seconds since 1970 by the clock of the system.
func systemDate() -> Int { time(nil) }

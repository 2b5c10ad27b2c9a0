// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The CPU time of the current thread, which other processes do not affect.
enum ThreadClock {
    /// Measures the CPU time of `work` in milliseconds.
    static func milliseconds<Failure: Error>(_ work: () throws(Failure) -> Void) throws(Failure)
        -> Double
    {
        let start = now()
        try work()
        return now() - start
    }

    private static func now() -> Double {
        var time = timespec()
        let status = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        precondition(status == 0, "clock_gettime failed")
        return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
    }
}

// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Holds back the signals that would end the process, so that no file stays half written.
///
/// Whoever works through many files asks ``signal`` between two of them. It must be made on the main
/// thread before another one starts: each thread inherits this from the one that starts it, and a
/// single thread that does not hold the signals back is enough to end the process.
struct Interruption: Sendable {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]

    init() {
        var held = sigset_t()
        unsafe sigemptyset(&held)
        for signal in Self.signals { unsafe sigaddset(&held, signal) }
        unsafe _ = pthread_sigmask(SIG_BLOCK, &held, nil)
    }

    /// The signal that waits to end the process, if any.
    var signal: Int32? {
        var pending = sigset_t()
        guard unsafe sigpending(&pending) == 0 else { return nil }
        return Self.signals.first { unsafe sigismember(&pending, $0) == 1 }
    }
}

// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import Synchronization

/// A progress bar on standard error; nothing is written unless that is a terminal.
package final class ProgressBar: Sendable {
    private static let width = 30
    /// The minimum time between two updates.
    private static let interval = Duration.milliseconds(100)

    private struct State {
        var finishedCount = 0
        var failedCount = 0
        var nextUpdate = ContinuousClock.now
    }

    private let total: Int
    private let isShown: Bool
    private let state = Mutex(State())

    /// Creates a progress bar.
    ///
    /// - Parameters:
    ///   - total: The number of items.
    ///   - isEnabled: Whether the bar is shown if standard error is a terminal.
    package init(total: Int, isEnabled: Bool) {
        self.total = total
        isShown = isEnabled && isatty(STDERR_FILENO) == 1
    }

    /// Counts a finished item; callable from any thread.
    package func advance(failed: Bool) {
        guard isShown else { return }
        state.withLock { state in
            state.finishedCount += 1
            state.failedCount += failed ? 1 : 0
            guard state.nextUpdate <= .now else { return }
            state.nextUpdate = .now + Self.interval
            writeToStandardError(
                "\r\(Self.line(state.finishedCount, state.failedCount, of: total))")
        }
    }

    /// Erases the bar.
    package func end() {
        if isShown { writeToStandardError("\r\u{1B}[K") }
    }

    static func line(_ finishedCount: Int, _ failedCount: Int, of total: Int) -> String {
        let filled = total == 0 ? width : finishedCount * width / total
        let bar =
            String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
        let failures = failedCount == 0 ? "" : ", \(failedCount) failed"
        return "\(bar) \(finishedCount) of \(total)\(failures)"
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Glibc
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
    private let start = ContinuousClock.now
    private let isShown: Bool
    private let state = Mutex(State())

    /// Creates a progress bar.
    ///
    /// - Parameters:
    ///   - total: The number of items; 0 if it is unknown.
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
            let line = Self.line(
                state.finishedCount, state.failedCount, of: total, after: .now - start)
            writeToStandardError("\r\(line)\u{1B}[K")
        }
    }

    /// Erases the bar.
    package func end() {
        if isShown { writeToStandardError("\r\u{1B}[K") }
    }

    static func line(
        _ finishedCount: Int, _ failedCount: Int, of total: Int, after time: Duration = .zero
    ) -> String {
        let failures = failedCount == 0 ? "" : ", \(failedCount) failed"
        guard total > 0 else { return "\(finishedCount) done\(failures)" }
        let filled = total == 0 ? width : finishedCount * width / total
        let bar =
            String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
        return "\(bar) \(finishedCount) of \(total)\(failures)"
            + rest(finishedCount, of: total, after: time)
    }

    /// The time that the rest will take at the same pace, if that is more than some seconds.
    private static func rest(
        _ finishedCount: Int, of total: Int, after time: Duration
    ) -> String {
        guard finishedCount > 0, finishedCount < total else { return "" }
        let seconds =
            Double(time.components.seconds) * Double(total - finishedCount) / Double(finishedCount)
        switch seconds {
        case ..<5: return ""
        case ..<120: return ", \(Int(seconds)) s left"
        case ..<7200: return ", \(Int(seconds / 60)) min left"
        default: return ", \(Int(seconds / 3600)) h left"
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif
internal import Synchronization

/// A line on a terminal that says how far the work is; elsewhere it writes nothing.
package final class ProgressBar: Sendable {
    private static let width = 30
    /// Often enough to look alive, seldom enough to cost nothing.
    private static let pause = Duration.milliseconds(100)

    private struct State {
        var finishedCount = 0
        var failedCount = 0
        var nextDrawing = ContinuousClock.now
    }

    private let total: Int
    private let isShown: Bool
    private let state = Mutex(State())

    /// - Parameters:
    ///   - total: how many pieces of work there are.
    ///   - isWanted: whether the bar is shown if standard error is a terminal.
    package init(total: Int, isWanted: Bool) {
        self.total = total
        isShown = isWanted && isatty(STDERR_FILENO) == 1
    }

    /// Counts a piece of work that ended; callable from any thread.
    package func advance(failed: Bool) {
        guard isShown else { return }
        state.withLock { state in
            state.finishedCount += 1
            state.failedCount += failed ? 1 : 0
            guard state.nextDrawing <= .now else { return }
            state.nextDrawing = .now + Self.pause
            writeToStandardError(
                "\r\(Self.line(state.finishedCount, state.failedCount, of: total))")
        }
    }

    /// Takes the bar off the terminal again.
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

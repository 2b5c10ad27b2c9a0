// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
internal import Dispatch
internal import Glibc
internal import Synchronization

/// Defers SIGINT, SIGTERM and SIGHUP during its lifetime, so that no incomplete or temporary file
/// is left behind.
///
/// Code that processes many files checks ``signal`` between them. Unlike a signal mask, this
/// applies to all threads: the main thread receives signals while it waits for asynchronous work.
package final class Interruption: Sendable {
    private final class Received: Sendable {
        private let number = Atomic<Int32>(0)

        var signal: Int32? {
            let number = number.load(ordering: .relaxed)
            return number == 0 ? nil : number
        }

        func note(_ signal: Int32) { number.store(signal, ordering: .relaxed) }
    }

    private let received = Received()
    private let sources: Mutex<[any DispatchSourceSignal]>

    package init() {
        let queue = DispatchQueue(label: "interruption")
        var sources: [any DispatchSourceSignal] = []
        for number in [SIGINT, SIGTERM, SIGHUP] where !isIgnored(number) {
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [received] in received.note(number) }
            let isReady = DispatchSemaphore(value: 0)
            source.setRegistrationHandler { isReady.signal() }
            source.activate()
            isReady.wait()
            sources.append(source)
        }
        self.sources = Mutex(sources)
    }

    deinit {
        sources.withLock { for source in $0 { source.cancel() } }
    }

    /// The last deferred signal; `nil` if none was received.
    package var signal: Int32? { received.signal }

    /// Reports an interruption on standard error and returns the exit code.
    ///
    /// - Parameters:
    ///   - signal: The signal that was received.
    ///   - state: The state of the output, for the message.
    /// - Returns: 128 plus the signal's number, as in shells.
    package static func exitCode(_ signal: Int32, _ state: String) -> ExitCode {
        writeToStandardError("calotype: interrupted; \(state)\n")
        return ExitCode(128 + signal)
    }
}

/// Returns whether the parent process set a signal to be ignored, as nohup does.
private func isIgnored(_ number: Int32) -> Bool {
    let previous = signal(number, SIG_IGN)
    signal(number, previous)
    return unsafe unsafeBitCast(previous, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
}

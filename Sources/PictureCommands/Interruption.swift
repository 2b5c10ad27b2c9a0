// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
internal import Dispatch
#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif
internal import Synchronization

/// Holds back the signals that would end the process as long as it lives, so that no file stays half
/// written and no temporary one behind.
///
/// Whoever works through many files asks ``signal`` between two of them. Unlike a mask of signals it
/// holds for every thread: the main one takes all signals while it waits for asynchronous work.
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

    /// The signal that wants to end the process, if any.
    package var signal: Int32? { received.signal }

    /// How the command ends, with a word about it on standard error.
    ///
    /// - Parameters:
    ///   - signal: the signal that came.
    ///   - state: what became of the work.
    /// - Returns: 128 and the signal's number, as shells report it.
    package static func exitCode(_ signal: Int32, _ state: String) -> ExitCode {
        writeToStandardError("calotype: interrupted; \(state)\n")
        return ExitCode(128 + signal)
    }
}

/// Whether whoever started the program wants a signal ignored, as nohup does.
private func isIgnored(_ number: Int32) -> Bool {
    // There is no portable way to ask but to set it.
    let known = signal(number, SIG_IGN)
    signal(number, known)
    return unsafe unsafeBitCast(known, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
}

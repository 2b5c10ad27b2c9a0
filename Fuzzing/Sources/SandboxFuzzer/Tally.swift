// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Synchronization

/// Counts what came of the inputs, and names those that stopped a worker.
final class Tally: Sendable {
    private struct Counts {
        var shown = 0
        var refusals: [String: Int] = [:]
        var deadlines = 0
    }

    private let counts = Mutex(Counts())

    var deadlineCount: Int { counts.withLock(\.deadlines) }

    func count(_ error: CodecError?, _ input: String) {
        if case .decoderStopped(let stop) = error { print("\(input): \(stop)") }
        counts.withLock { counts in
            guard let error else {
                counts.shown += 1
                return
            }
            if case .decoderStopped(.deadline) = error { counts.deadlines += 1 }
            let name = "\(error)".prefix { $0 != ":" && !$0.isNumber }
            counts.refusals[String(name), default: 0] += 1
        }
    }

    var description: String {
        counts.withLock { counts in
            let total = counts.shown + counts.refusals.values.reduce(0, +)
            let reasons = counts.refusals.sorted { $0.key < $1.key }
                .map { "  \($0.value) \($0.key)" }
            return (["\(total) inputs: \(counts.shown) shown"] + reasons)
                .joined(separator: "\n")
        }
    }
}

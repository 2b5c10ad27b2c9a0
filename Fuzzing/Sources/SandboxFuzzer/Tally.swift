// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Synchronization

/// Counts results, and prints the inputs that stopped a worker.
final class Tally: Sendable {
    private struct Counts {
        var decoded = 0
        var errors: [String: Int] = [:]
        var deadlines = 0
    }

    private let counts = Mutex(Counts())

    var deadlineCount: Int { counts.withLock(\.deadlines) }

    func count(_ error: CodecError?, _ input: String) {
        if case .decoderStopped(let stop) = error { print("\(input): \(stop)") }
        counts.withLock { counts in
            guard let error else {
                counts.decoded += 1
                return
            }
            if case .decoderStopped(.deadline) = error { counts.deadlines += 1 }
            let name = "\(error)".prefix { $0 != ":" && !$0.isNumber }
            counts.errors[String(name), default: 0] += 1
        }
    }

    var description: String {
        counts.withLock { counts in
            let total = counts.decoded + counts.errors.values.reduce(0, +)
            let reasons = counts.errors.sorted { $0.key < $1.key }
                .map { "  \($0.value) \($0.key)" }
            return (["\(total) inputs: \(counts.decoded) decoded"] + reasons)
                .joined(separator: "\n")
        }
    }
}

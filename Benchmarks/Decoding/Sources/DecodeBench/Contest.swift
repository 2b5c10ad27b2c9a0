// SPDX-License-Identifier: Apache-2.0

/// Two ways to do the same work on a file that take turns, so that a machine that is slow for a
/// while is slow for both.
struct Contest {
    /// The CPU time of each in milliseconds: medians of the rounds.
    struct Result: Codable {
        let file: String
        let work: String
        let pixelCount: Int
        let byteCount: Int
        let milliseconds: Double
        let peerMilliseconds: Double
        /// How many times as long as ours the peer takes, median of the rounds' ratios.
        let ratio: Double
    }

    let file: String
    /// What is done, for people.
    let work: String
    let pixelCount: Int
    let byteCount: Int
    let ours: () throws -> Void
    let peer: () throws -> Void

    func result(rounds: Int) throws -> Result {
        try ours()
        try peer()
        var times: [(ours: Double, peer: Double)] = []
        for _ in 0..<rounds {
            times.append(
                (
                    try ThreadClock.milliseconds { () throws in try ours() },
                    try ThreadClock.milliseconds { () throws in try peer() }
                ))
        }
        return Result(
            file: file, work: work, pixelCount: pixelCount, byteCount: byteCount,
            milliseconds: Self.median(times.map(\.ours)),
            peerMilliseconds: Self.median(times.map(\.peer)),
            ratio: Self.median(times.map { $0.peer / $0.ours }))
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}

/// Why a file cannot be measured.
struct Failure: Error, CustomStringConvertible {
    let description: String
}

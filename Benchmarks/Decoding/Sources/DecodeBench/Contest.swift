// SPDX-License-Identifier: Apache-2.0

/// A comparison of two implementations of the same work on a file.
///
/// They run in alternation, so that other load affects both.
struct Contest {
    /// The median CPU times of all rounds.
    struct Result: Codable {
        let file: String
        let work: String
        let pixelCount: Int
        let byteCount: Int
        let milliseconds: Double
        let peerMilliseconds: Double
        /// The median ratio of the peer's time to ours.
        let ratio: Double
    }

    let file: String
    /// The description of the work.
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

/// The reason why a file cannot be measured.
struct Failure: Error, CustomStringConvertible {
    let description: String
}

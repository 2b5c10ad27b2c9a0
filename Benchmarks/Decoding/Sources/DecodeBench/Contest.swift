// SPDX-License-Identifier: Apache-2.0

/// Ways to decode the same file that take turns, so that a machine that is slow for a while is slow
/// for all.
struct Contest {
    /// What is measured; the raw values name it in JSON.
    enum Entrant: String, CaseIterable, Codable {
        /// Ours, every row at the picture's own size.
        case rows
        /// Ours, a picture of 400 pixels.
        case thumbnail
        /// The library of that format, every row at the picture's own size.
        case peer
    }

    /// The CPU time of a decode in milliseconds, by entrant: medians of the rounds.
    struct Result: Codable {
        let file: String
        let pixelCount: Int
        let byteCount: Int
        let milliseconds: [String: Double]
        /// How many times as long as ours the peer takes, median of the rounds' ratios.
        let ratio: Double
    }

    let file: String
    let pixelCount: Int
    let byteCount: Int
    /// Decodes the file once.
    let decode: (Entrant) throws -> Void

    func result(rounds: Int) throws -> Result {
        for entrant in Entrant.allCases { try decode(entrant) }
        var times: [Entrant: [Double]] = [:]
        for _ in 0..<rounds {
            for entrant in Entrant.allCases {
                times[entrant, default: []].append(
                    try ThreadClock.milliseconds { () throws in try decode(entrant) })
            }
        }
        let ratios = zip(times[.peer] ?? [], times[.rows] ?? []).map { $0 / $1 }
        return Result(
            file: file, pixelCount: pixelCount, byteCount: byteCount,
            milliseconds: Dictionary(
                uniqueKeysWithValues: times.map { ($0.key.rawValue, Self.median($0.value)) }),
            ratio: Self.median(ratios))
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// `decode-bench FORMAT [--json] [--rounds N] [--no-checksums] FILE…`
@main struct DecodeBench {
    static let usage = "usage: decode-bench png [--json] [--rounds N] [--no-checksums] FILE…"

    static func main() throws {
        var isJSON = false
        var rounds = 11
        var verifiesChecksums = true
        var words = CommandLine.arguments.dropFirst()
        let format = words.popFirst()
        var files: [String] = []
        while let word = words.popFirst() {
            switch word {
            case "--json": isJSON = true
            case "--no-checksums": verifiesChecksums = false
            case "--rounds": rounds = words.popFirst().flatMap { Int($0) } ?? 0
            default: files.append(word)
            }
        }
        guard format == "png", rounds > 0, !files.isEmpty else {
            FileHandle.standardError.write(Data((usage + "\n").utf8))
            exit(2)
        }
        let results = try files.map {
            try PNGContest.contest($0, verifiesChecksums: verifiesChecksums)
                .result(rounds: rounds)
        }
        if isJSON {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            print(String(decoding: try encoder.encode(results), as: UTF8.self))
        } else {
            print(
                "CPU time of a thread, medians of \(rounds) rounds in turn; \(PNGContest.peerName)")
            print(table(results))
        }
    }

    private static func table(_ results: [Contest.Result]) -> String {
        let width = results.map(\.file.count).max() ?? 0
        let title = "file".padding(toLength: width, withPad: " ", startingAt: 0)
        var lines = ["\(title)      MP      MB   ours ms   peer ms   ratio   to 400 px ms"]
        for result in results {
            func time(_ entrant: Contest.Entrant) -> Double {
                result.milliseconds[entrant.rawValue] ?? .nan
            }
            lines.append(
                result.file.padding(toLength: width, withPad: " ", startingAt: 0)
                    + String(
                        format: "%8.2f%8.2f%10.2f%10.2f%8.2f%15.2f",
                        Double(result.pixelCount) / 1e6, Double(result.byteCount) / 1e6,
                        time(.rows), time(.peer), result.ratio, time(.thumbnail)))
        }
        return lines.joined(separator: "\n")
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Compares our decoders with the reference library of each format.
@main struct DecodeBench {
    static let usage =
        "usage: decode-bench png|jpeg [--json] [--rounds N] [--only TEXT] [--no-checksums] FILE…"

    static func main() throws {
        var isJSON = false
        var rounds = 11
        var verifiesChecksums = true
        // A substring of the names of work to measure.
        var only: String?
        var words = CommandLine.arguments.dropFirst()
        let format = words.popFirst()
        var files: [String] = []
        while let word = words.popFirst() {
            switch word {
            case "--json": isJSON = true
            case "--no-checksums": verifiesChecksums = false
            case "--only": only = words.popFirst()
            case "--rounds": rounds = words.popFirst().flatMap { Int($0) } ?? 0
            default: files.append(word)
            }
        }
        guard let format, ["jpeg", "png"].contains(format), rounds > 0, !files.isEmpty else {
            end(usage, code: 2)
        }
        let results = files.flatMap { file in
            do {
                let contests =
                    try format == "jpeg"
                    ? JPEGContest.contests(file)
                    : PNGContest.contests(file, verifiesChecksums: verifiesChecksums)
                return
                    try contests
                    .filter { contest in only.map { contest.work.contains($0) } ?? true }
                    .map { try $0.result(rounds: rounds) }
            } catch {
                end("decode-bench: \(file): \(error)", code: 1)
            }
        }
        if isJSON {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            print(String(decoding: try encoder.encode(results), as: UTF8.self))
        } else {
            let peer = format == "jpeg" ? JPEGContest.peerName : PNGContest.peerName
            print("CPU time of a thread, medians of \(rounds) alternating rounds; peer: \(peer)\n")
            print(table(results))
        }
    }

    private static func end(_ message: String, code: Int32) -> Never {
        FileHandle.standardError.write(Data((message + "\n").utf8))
        exit(code)
    }

    private static func table(_ results: [Contest.Result]) -> String {
        var lines = ["| file | work | ours | peer | ratio |", "|---|---|---|---|---|"]
        for result in results {
            let times = String(
                format: "%.2f ms | %.2f ms | %.2f", result.milliseconds, result.peerMilliseconds,
                result.ratio)
            let size = String(
                format: "%.1f MP, %.1f MB", Double(result.pixelCount) / 1e6,
                Double(result.byteCount) / 1e6)
            lines.append("| \(result.file) (\(size)) | \(result.work) | \(times) |")
        }
        return lines.joined(separator: "\n")
    }
}

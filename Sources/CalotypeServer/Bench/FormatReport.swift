// SPDX-License-Identifier: Apache-2.0

internal import ImageCommands
internal import Foundation
internal import Pixels

/// The results of a benchmark of formats, as a table and as JSON.
struct FormatReport {
    let results: [FormatBenchmark.Result]
    let seconds: Double
    let display: Int
    let quality: Int

    /// A table with one row per file and the milliseconds to load and decode it.
    var table: String {
        var rows = [
            ["image", "size", "format", "bytes", "warm", "cold", "reduced", "reduced, cold"]
        ]
        var files: [[FormatBenchmark.Result]] = []
        for result in results {
            if let last = files.last?.first, last.format == result.format,
                last.image == result.image, last.size == result.size
            {
                files[files.count - 1].append(result)
            } else {
                files.append([result])
            }
        }
        for file in files {
            let time = { (isCold: Bool, isShrunk: Bool) in
                file.first { $0.isCold == isCold && $0.isShrunk == isShrunk }
                    .map { Self.text($0.total.milliseconds) } ?? "-"
            }
            rows.append([
                file[0].image, "\(file[0].size)", file[0].format, "\(file[0].byteCount)",
                time(false, false), time(true, false), time(false, true), time(true, true),
            ])
        }
        let lines = tableLines(rows, nameCount: 3)
        return """
            Milliseconds to load and decode, median over \(Self.text(seconds)) s each; \
            quality \(quality); reduced: decoded to at most \(display) pixels per side.
            \(lines.joined(separator: "\n"))
            """
    }

    var json: JSON {
        .object([
            .init("unit", .string("milliseconds")),
            .init("seconds", .number(seconds)),
            .init("quality", .integer(quality)),
            .init("display", .integer(display)),
            .init("coldCache", .bool(results.contains(where: \.isCold))),
            .init(
                "results",
                .array(
                    results.map { result in
                        .object([
                            .init("format", .string(result.format)),
                            .init("picture", .string(result.image)),
                            .init("width", .integer(result.size.width)),
                            .init("height", .integer(result.size.height)),
                            .init("byteCount", .integer(result.byteCount)),
                            .init("cache", .string(result.isCold ? "cold" : "warm")),
                            .init("shown", .bool(result.isShrunk)),
                            .init("milliseconds", .number(result.total.milliseconds)),
                            .init("loadMilliseconds", .number(result.load.milliseconds)),
                            .init("repetitions", .integer(result.repetitions)),
                        ])
                    })),
        ])
    }

    /// Formats a number with three significant digits.
    static func text(_ value: Double) -> String {
        let digits = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3
        return String(format: "%.\(digits)f", value)
    }
}

extension Duration {
    var milliseconds: Double { self / .milliseconds(1) }
}

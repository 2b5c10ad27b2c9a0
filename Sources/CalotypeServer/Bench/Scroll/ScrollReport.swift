// SPDX-License-Identifier: Apache-2.0

internal import ImageCommands
internal import Foundation

/// The results of a scrolling benchmark, as a table and as JSON.
struct ScrollReport {
    let results: [ScrollResult]
    /// The photographs that could not be decoded.
    var failures: [FileFailure] = []
    let rates: [DecodeRate]
    let count: Int
    let seconds: Double

    /// The results of each design and screen, summed over all traces, in the order of `results`.
    var totals: [ScrollResult] {
        var groups: [[ScrollResult]] = []
        for result in results {
            if let first = groups.last?.first?.run, first.layout == result.run.layout,
                first.rate == result.run.rate, first.design == result.run.design,
                first.store == result.run.store
            {
                groups[groups.count - 1].append(result)
            } else {
                groups.append([result])
            }
        }
        return groups.map { ScrollResult($0, trace: "all") }
    }

    /// A table with the totals of each design and the results of `calotype` for each trace.
    var table: String {
        var rows = [
            [
                "screen", "design", "trace", "Hz", "missed", "pop-ins", "unsharp", "sharp", "p95",
                "never", "opening", "unused", "images", "process", "CPU",
            ]
        ]
        rows += totals.map(Self.row)
        let details = results.filter { $0.run.design == .calotype }
        rows += details.map(Self.row)
        let lines = tableLines(rows, nameCount: 3)
        let bounds = rates.map { rate in
            let wall = String(format: "%.0f", rate.perSecond)
            let bound = String(format: "%.0f", rate.bound)
            return """
                \(rate.layout): \(rate.processorCount) processors decode \(wall) images per \
                second, \(bound) by CPU time.
                """
        }
        return """
            \(count) images. missed: frames not ready in time; pop-ins, unsharp: share of visible \
            cells without an image,
            or with one of reduced size; sharp, p95: time until cells at rest were sharp, median \
            and 95th percentile;
            never: cells that did not become sharp; opening: time until the first screen was \
            sharp; unused: share of
            decoded bytes never displayed; images, process: peak memory.
            \((bounds + lines).joined(separator: "\n"))
            """
    }

    private static func row(_ result: ScrollResult) -> [String] {
        let time = { (share: Double) in
            result.sharpTime(share).map { milliseconds($0) } ?? "-"
        }
        return [
            result.run.layout, name(result.run), result.run.trace, "\(result.run.rate)",
            percent(result.missedShare), percent(result.popInShare),
            percent(result.unsharpShare), time(0.5), time(0.95),
            "\(result.neverSharpCount)", milliseconds(result.openingSeconds),
            percent(result.unshownShare), mebibytes(result.peakImageByteCount),
            mebibytes(result.peakResidentByteCount),
            String(format: "%.1f s", result.processorSeconds),
        ]
    }

    /// The label of a run in tables and charts.
    static func name(_ run: ScrollRun) -> String {
        run.store == .warm ? "\(run.design.rawValue), warm" : run.design.rawValue
    }

    var json: JSON {
        .object([
            .init("count", .integer(count)),
            .init("failed", .array(failures.map(\.json))),
            .init("seconds", .number(seconds)),
            .init(
                "designs",
                .object(
                    ScrollDesign.allCases.map { .init($0.rawValue, .string($0.summary)) })),
            .init(
                "rates",
                .array(
                    rates.map { rate in
                        .object([
                            .init("layout", .string(rate.layout)),
                            .init("processors", .integer(rate.processorCount)),
                            .init("decodesPerSecond", .number(rate.perSecond)),
                            .init("boundPerSecond", .number(rate.bound)),
                        ])
                    })),
            .init("totals", .array(totals.map(Self.object))),
            .init("results", .array(results.map(Self.object))),
        ])
    }

    private static func object(_ result: ScrollResult) -> JSON {
        .object([
            .init("layout", .string(result.run.layout)),
            .init("rate", .integer(result.run.rate)),
            .init("design", .string(result.run.design.rawValue)),
            .init("store", .string(result.run.store.rawValue)),
            .init("trace", .string(result.run.trace)),
            .init("openingSeconds", .number(result.openingSeconds)),
            .init("frames", .integer(result.frameCount)),
            .init("missedFrames", .integer(result.missedFrameCount)),
            .init("cellFrames", .integer(result.cellFrameCount)),
            .init("popIns", .integer(result.popInCount)),
            .init("unsharp", .integer(result.unsharpCount)),
            .init("revealedCells", .integer(result.revealedCount)),
            .init("sharpMedianSeconds", result.sharpTime(0.5).map { .number($0) } ?? .null),
            .init("sharp95thSeconds", result.sharpTime(0.95).map { .number($0) } ?? .null),
            .init("neverSharp", .integer(result.neverSharpCount)),
            .init("decodes", .integer(result.decodedCount)),
            .init("decodedByteCount", .integer(result.decodedByteCount)),
            .init("unshown", .integer(result.unshownCount)),
            .init("unshownByteCount", .integer(result.unshownByteCount)),
            .init("peakPictureByteCount", .integer(result.peakImageByteCount)),
            .init("peakResidentByteCount", .integer(result.peakResidentByteCount)),
            .init("processorSeconds", .number(result.processorSeconds)),
        ])
    }

    static func percent(_ share: Double) -> String { String(format: "%.1f %%", share * 100) }

    static func milliseconds(_ seconds: Double) -> String {
        "\(Int((seconds * 1000).rounded())) ms"
    }

    static func mebibytes(_ count: Int) -> String {
        String(format: "%.0f MiB", Double(count) / 1_048_576)
    }
}

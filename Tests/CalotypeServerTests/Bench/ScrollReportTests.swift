// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import ImageTesting
import Testing

@testable import CalotypeServer
@testable import ImageCommands

@Suite("The report of a scrolling benchmark") struct ScrollReportTests {
    private func result(
        _ design: ScrollDesign, _ trace: String, store: ScrollStore = .cold, missed: Int = 0
    ) -> ScrollResult {
        var result = ScrollResult(
            ScrollRun(layout: "grid", rate: 60, design: design, store: store, trace: trace))
        result.frameCount = 100
        result.missedFrameCount = missed
        result.cellFrameCount = 600
        result.popInCount = missed * 2
        result.sharpTimes = [0, 0.1, Double(missed)]
        result.peakResidentByteCount = missed << 20
        return result
    }

    private var report: ScrollReport {
        ScrollReport(
            results: [
                result(.synchronous, "drag", missed: 10), result(.synchronous, "fling", missed: 30),
                result(.calotype, "drag"), result(.calotype, "drag", store: .warm),
            ],
            rates: [
                DecodeRate(
                    layout: "grid", processorCount: 2, perSecond: 50, processorSeconds: 0.02)
            ], count: 1000, seconds: 3.5)
    }

    @Test("sums the traces of a design, and contains the highest peak")
    func totals() {
        let totals = report.totals
        #expect(totals.map(\.run.design) == [.synchronous, .calotype, .calotype])
        #expect(totals[0].frameCount == 200 && totals[0].missedFrameCount == 40)
        #expect(totals[0].missedShare == 0.2)
        #expect(totals[0].peakResidentByteCount == 30 << 20)
        #expect(totals[0].sharpTime(0.5) == 0.1 && totals[0].sharpTime(1) == 30)
        #expect(totals[2].run.store == .warm)
        #expect(ScrollResult(totals[0].run).sharpTime(0.5) == nil)
    }

    @Test("is valid JSON")
    func json() throws {
        let text = report.json.text()
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let results = try #require(object["results"] as? [[String: Any]])
        #expect(results.count == 4)
        #expect(results[1]["missedFrames"] as? Int == 30)
        #expect(results[1]["trace"] as? String == "fling")
        #expect(results[3]["store"] as? String == "warm")
        #expect((object["totals"] as? [Any])?.count == 3)
        let rates = try #require(object["rates"] as? [[String: Any]])
        #expect(rates[0]["boundPerSecond"] as? Double == 100)
        #expect((object["designs"] as? [String: Any])?.count == ScrollDesign.allCases.count)
    }

    @Test("has a table with aligned columns")
    func table() {
        let lines = report.table.split(separator: "\n").drop { !$0.hasPrefix("screen") }
        // A header, three totals, and the traces of the last design.
        #expect(lines.count == 6)
        #expect(Set(lines.map(\.count)).count == 1)
        #expect(lines.contains { $0.contains("calotype, warm") })
        #expect(report.table.contains("decode 50 images per second, 100 by CPU time"))
    }

    @Test("can be encoded and decoded for another process")
    func codable() throws {
        let result = result(.neighbours, "drag", missed: 3)
        let data = try JSONEncoder().encode(result)
        #expect(try JSONDecoder().decode(ScrollResult.self, from: data) == result)
    }

    @Test("has a chart that is well-formed SVG")
    func chart() {
        let svg = ScrollChart(report.totals).svg
        #expect(svg.hasPrefix("<svg xmlns=\"http://www.w3.org/2000/svg\""))
        var open: [Substring] = []
        for match in svg.matches(of: /<(\/?)([a-z]+)([^>]*?)(\/?)>/) {
            if match.1 == "/" {
                #expect(open.popLast() == match.2)
            } else if match.4.isEmpty {
                open.append(match.2)
            }
        }
        #expect(open.isEmpty)
        #expect(svg.contains("calotype, warm") && svg.contains("grid, 60 Hz"))
        // A bar per design in each of the four panels.
        #expect(svg.matches(of: /<rect class="bar/).count == 12)
    }
}

@Suite("calotype bench scroll") struct BenchScrollTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func command(_ arguments: [String]) throws -> BenchScroll {
        try BenchScroll.parse(arguments)
    }

    @Test("runs all designs with a cold store, and calotype also with a warm one")
    func plan() throws {
        let trace = try #require(try ScrollTrace.builtIn("drag"))
        let runs = try command(["."]).plannedRuns([trace])
        #expect(runs.count == 2 * (ScrollDesign.allCases.count + 1))
        #expect(runs.count { $0.store == .warm } == 2)
        #expect(Set(runs).count == runs.count)
        let some = try command([
            ".", "--layout", "grid", "--design", "tiled,calotype", "--rate", "60,120", "--store",
            "warm",
        ]).plannedRuns([trace])
        #expect(some.map(\.rate) == [60, 60, 120, 120])
        #expect(some.map(\.design) == [.tiled, .calotype, .tiled, .calotype])
        #expect(some.map(\.store) == [.cold, .warm, .cold, .warm])
    }

    @Test(
        "rejects unknown screens, designs, stores and rates",
        arguments: [
            ["--layout", "list"], ["--design", "magic"], ["--store", "hot"], ["--rate", "0"],
            ["--rate", "x"], ["--seconds", "0"], ["--count", "0"],
        ])
    func refuses(arguments: [String]) {
        #expect(throws: (any Error).self) { try command(["."] + arguments) }
    }

    @Test("fails with exit code 1 without images, or without the trace")
    func badFolder() async throws {
        let empty = folder.path
        for arguments in [["\(empty)/missing"], [empty], [empty, "--trace", "\(empty)/no.csv"]] {
            let command = try command(arguments)
            await #expect(throws: ExitCode(1)) { try await command.run() }
        }
        #expect(throws: FileFailure(empty, "no images in this folder")) {
            try PhotoCollection(empty, count: 1)
        }
    }

    @Test("repeats images under other names if there are too few, and removes the links")
    func collection() throws {
        for name in ["a.png", "b.jpg", "c.txt"] {
            try Data(name.utf8).write(to: URL(filePath: folder.path(name)))
        }
        let few = try PhotoCollection(folder.path, count: 5)
        #expect(Set(few.paths).count == 5 && few.folder != folder.path)
        let texts = try few.paths.map { try String(contentsOfFile: $0, encoding: .utf8) }
        #expect(texts == ["a.png", "b.jpg", "a.png", "b.jpg", "a.png"])
        // A process that opens the folder finds the same images.
        #expect(try PhotoCollection(few.folder, count: 5).paths == few.paths)
        few.remove()
        #expect(!FileManager.default.fileExists(atPath: few.folder))
        let enough = try PhotoCollection(folder.path, count: 2)
        enough.remove()
        #expect(enough.paths == ["a.png", "b.jpg"].map { folder.path($0) })
        #expect(FileManager.default.fileExists(atPath: folder.path("a.png")))
    }
}

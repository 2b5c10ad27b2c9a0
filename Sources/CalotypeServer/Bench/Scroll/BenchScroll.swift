// SPDX-License-Identifier: Apache-2.0

internal import ImageCommands
internal import ArgumentParser
internal import EncodedImages
internal import Foundation

/// The `bench scroll` command.
struct BenchScroll: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scroll",
        abstract: "Measures how designs of an image view keep up with scrolling.",
        discussion: """
            Replays recorded scrolling in real time, without a window, on two screens: a carousel \
            with one image of 800x600 pixels, and a grid with cells of 400x400 pixels. Images are \
            loaded and decoded as in an application. The designs:

            \(ScrollDesign.allCases.map { "  \($0.rawValue): \($0.summary)" }.joined(separator: "\n"))

            A frame is missed if it is not ready by the time of the next one. A trace starts once \
            the first screen is sharp. Each run has its own process. Files are in the page cache; \
            a warm store contains renditions at the displayed size.

            Prints a table, or with --json an object: count, failed (images that could not be \
            displayed, with file and error), seconds, designs, rates (images that this machine \
            decodes per second), totals (an object per screen, rate and design) and results (an \
            object per trace). After an error it has the keys file and error. --chart writes a \
            chart.

            A custom trace is a CSV file with a header line and lines of milliseconds and pixels, \
            such as 16.7,3.5.

            EXAMPLES
              calotype bench scroll ~/Pictures
              calotype bench scroll ~/Pictures --layout grid --design tagged,calotype --trace fling
              calotype bench scroll ~/Pictures --rate 60,120 --json --chart scroll.svg
            """)

    @Argument(
        help: "The folder of photographs, searched recursively.", completion: .directory)
    var folder: String

    @Option(help: "Comma-separated screens.")
    var layout = "grid,carousel"

    @Option(help: "Comma-separated designs (default: all).")
    var design: String?

    @Option(
        help: """
            Comma-separated traces, as names or files (default: \
            \(ScrollTrace.builtInNames.joined(separator: ","))).
            """)
    var trace: String?

    @Option(help: "Comma-separated frame rates, in frames per second.")
    var rate = "60"

    @Option(help: "Comma-separated states of the store: cold (empty) or warm.")
    var store = "cold,warm"

    @Option(help: "The maximum duration of each trace, in seconds.")
    var seconds = 3600.0

    @Option(
        help: "The number of images; photographs are repeated under other names if there are fewer."
    )
    var count = 1000

    @Option(help: ArgumentHelp("Write a chart in addition.", valueName: "file.svg"))
    var chart: String?

    @Flag(help: "Print JSON instead of a table.")
    var json = false

    @Flag(name: .shortAndLong, help: "Show no progress.")
    var quiet = false

    @Flag(help: ArgumentHelp("Perform one run in this process.", visibility: .hidden))
    var single = false

    @Option(help: ArgumentHelp("The folder of the warm store.", visibility: .hidden))
    var kept = ""

    func validate() throws {
        if !(seconds > 0) {
            throw ValidationError("invalid --seconds: \(seconds); use a number above 0")
        }
        if !(1...100_000).contains(count) {
            throw ValidationError("invalid --count: \(count); use 1 to 100000")
        }
        _ = try plannedRuns([])
    }

    func run() async throws {
        do {
            let traces = try chosenTraces()
            let runs = try plannedRuns(traces)
            if single, let run = runs.first, let trace = traces.first {
                try await play(run, trace)
            } else {
                try await measure(runs, traces)
            }
        } catch let failure as FileFailure {
            report(failure)
            if json { print(failure.json.text()) }
            throw ExitCode(1)
        }
    }

    private func measure(_ runs: [ScrollRun], _ traces: [ScrollTrace]) async throws {
        let interruption = Interruption()
        let collection = try PhotoCollection(folder, count: count)
        let store = FileManager.default.temporaryDirectory
            .appending(path: "calotype-kept-\(UUID().uuidString)").path
        defer {
            collection.remove()
            try? FileManager.default.removeItem(atPath: store)
        }
        var rates: [DecodeRate] = []
        let bar = ProgressBar(total: runs.count, isEnabled: !quiet)
        for scene in scenes(runs, collection) {
            let items = traces.map { scene.items($0) }
            let all = (items.map(\.lowerBound).min() ?? 0)..<(items.map(\.upperBound).max() ?? 0)
            collection.preload(all)
            if interruption.signal != nil { break }
            do throws(FileFailure) {
                rates.append(try await DecodeRate.measure(scene))
            } catch {
                throw collection.failures([error.path: error.reason]).first ?? error
            }
            if runs.contains(where: { $0.store == .warm && $0.layout == scene.name }) {
                try await ScrollSeries.warm(
                    store, scene, all, isInterrupted: { interruption.signal != nil })
            }
        }
        let series = ScrollSeries(
            collection: collection, traces: traces, arguments: ["--seconds", "\(seconds)"],
            store: store)
        let results = try series.play(
            runs, isInterrupted: { interruption.signal != nil },
            didFinish: { bar.advance(failed: false) })
        bar.end()
        if results.isEmpty, let signal = interruption.signal {
            throw Interruption.exitCode(signal, "nothing was measured")
        }
        let failures = collection.failures(
            results.reduce(into: [:]) { $0.merge($1.failures) { $1 } })
        let report = ScrollReport(
            results: results, failures: failures, rates: rates, count: count, seconds: seconds)
        print(json ? report.json.text() : report.table)
        if let chart { try writeFile(ScrollChart(report.totals).svg, to: chart) }
        if let signal = interruption.signal {
            throw Interruption.exitCode(
                signal, "\(results.count) of \(runs.count) runs were measured")
        }
        guard !failures.isEmpty else { return }
        for failure in failures { ImageCommands.report(failure) }
        writeToStandardError(
            """
            calotype: \(failures.count) of \(collection.photos.count) images failed and count as \
            empty cells

            """)
        throw ExitCode(1)
    }

    /// Performs one run in this process and prints its result for the parent process.
    private func play(_ run: ScrollRun, _ trace: ScrollTrace) async throws {
        let collection = try PhotoCollection(folder, count: count)
        guard let scene = ScrollScene(run.layout, collection.paths) else { return }
        let store = run.store == .warm ? try ScrollSeries.openStore(kept) : nil
        let ledger = ImageLedger()
        let images = run.design.images(scene, ledger, store)
        let benchmark = ScrollBenchmark(
            scene: scene, trace: trace, seconds: seconds, clock: .system())
        ProcessUsage.resetPeak()
        let before = ProcessUsage.processorSeconds
        var result = await benchmark.play(run, images, ledger)
        result.processorSeconds = ProcessUsage.processorSeconds - before
        result.peakResidentByteCount = ProcessUsage.peakResidentByteCount
        print(String(decoding: try JSONEncoder().encode(result), as: UTF8.self))
    }

    private func scenes(_ runs: [ScrollRun], _ collection: PhotoCollection) -> [ScrollScene] {
        ScrollScene.names.filter { name in runs.contains { $0.layout == name } }
            .compactMap { ScrollScene($0, collection.paths) }
    }

    /// All runs, ordered by screen, rate, design, store and trace.
    func plannedRuns(_ traces: [ScrollTrace]) throws -> [ScrollRun] {
        let layouts = try values(layout, of: ScrollScene.names, "screen")
        let stores = try values(store, of: ScrollStore.allCases.map(\.rawValue), "store")
        let names = ScrollDesign.allCases.map(\.rawValue)
        let designs = try values(design ?? names.joined(separator: ","), of: names, "design")
            .compactMap(ScrollDesign.init)
        let rates = try chosenRates()
        return layouts.flatMap { layout in
            rates.flatMap { rate in
                designs.flatMap { design in
                    (design.usesStore ? stores.compactMap(ScrollStore.init) : [.cold])
                        .flatMap { store in
                            traces.map {
                                ScrollRun(
                                    layout: layout, rate: rate, design: design, store: store,
                                    trace: $0.name)
                            }
                        }
                }
            }
        }
    }

    private func values(_ text: String, of names: [String], _ kind: String) throws -> [String] {
        let values = text.split(separator: ",").map(String.init)
        for value in values where !names.contains(value) {
            throw ValidationError(
                "unknown \(kind): \(value); use \(names.joined(separator: ", "))")
        }
        return values
    }

    private func chosenRates() throws -> [Int] {
        try rate.split(separator: ",").map { text in
            guard let rate = Int(text), (1...1000).contains(rate) else {
                throw ValidationError("invalid --rate: \(text); use 1 to 1000 frames per second")
            }
            return rate
        }
    }

    private func chosenTraces() throws -> [ScrollTrace] {
        let names = trace?.split(separator: ",").map(String.init) ?? ScrollTrace.builtInNames
        return try names.map { name in
            if let trace = try ScrollTrace.builtIn(name) { return trace }
            let file: EncodedBytes
            do throws(CodecError) {
                file = try EncodedBytes(reading: name)
            } catch {
                let names = ScrollTrace.builtInNames.joined(separator: ", ")
                throw FileFailure(name, "\(error); use a file or one of \(names)")
            }
            return try ScrollTrace(
                name, csv: file.withBytes { bytes in bytes.indices.map { bytes[$0] } })
        }
    }
}

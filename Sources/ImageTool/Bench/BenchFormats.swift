// SPDX-License-Identifier: Apache-2.0

internal import PictureCommands
internal import ArgumentParser
internal import EncodedImages
internal import Foundation
internal import ImageCodecs
internal import Pixels

struct BenchFormats: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "formats",
        abstract: "Loads and decodes the same pictures in every format, to decide which to ship.",
        discussion: """
            A photograph and a gradient are written in every format at sizes from 2048x1536 to \
            32x24, then loaded and decoded again and again: at full size, at the size at which \
            they are shown, from files that the system holds in memory (warm) and, where it can \
            be made to forget them, from the disk (cold). A figure is the median of a series that \
            lasts --seconds; it counts wall-clock time on one thread.

            A table goes to standard output, or with --json one object: unit, seconds, display, \
            coldCache and results, an array with an object a series (format, picture, width, \
            height, byteCount, cache, shown, milliseconds, loadMilliseconds, repetitions); \
            if nothing could be measured it has file and error instead. --output also writes both as files: NAME.json and, as a chart, NAME.svg.

            EXAMPLES
              calotype bench formats
              calotype bench formats --seconds 0.1 --formats jpeg,webp,avif --output formats
              calotype bench formats --photo holiday.jpg --json
            """)

    @Option(help: "The formats, with commas between them (default: all that can be written).")
    var formats: String?

    @Option(help: "How long each series of repetitions lasts, in seconds.")
    var seconds = 1.0

    @Option(help: "The quality of lossy formats from 1 to 100.", transform: parseQuality)
    var quality = 60

    @Flag(help: "Write formats that can do both without loss.")
    var lossless = false

    @Option(help: "The longer side at which pictures are shown, in pixels.")
    var display = 400

    @Option(help: "A picture of your own in place of the photograph.", completion: .file())
    var photo: String?

    @Option(help: ArgumentHelp("Also write NAME.json and NAME.svg.", valueName: "name"))
    var output: String?

    @Flag(help: "Write JSON instead of a table.")
    var json = false

    @Flag(name: .shortAndLong, help: "Show no progress.")
    var quiet = false

    func validate() throws {
        if !(seconds >= 0 && seconds <= 3600) {
            throw ValidationError("--seconds is a number from 0 to 3600")
        }
        if display < 1 { throw ValidationError("--display is at least 1") }
        _ = try chosenFormats()
    }

    func run() throws {
        do {
            let pictures = [
                BenchPicture(name: "photograph", image: try photograph()),
                BenchPicture(name: "gradient", image: BenchPicture.gradient),
            ]
            try measure(pictures, try chosenFormats())
        } catch let failure as FileFailure {
            report(failure)
            if json { print(failure.json.text()) }
            throw ExitCode(1)
        }
    }

    private func measure(_ pictures: [BenchPicture], _ formats: [String]) throws {
        let interruption = Interruption()
        var encoding = EncodeOptions()
        encoding.quality = quality
        encoding.isLossless = lossless
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "calotype-bench-\(ProcessInfo.processInfo.processIdentifier)")
        try makeFolder(folder.path)
        defer { try? FileManager.default.removeItem(at: folder) }
        let benchmark = FormatBenchmark(
            folder: folder.path, formats: formats, encoding: encoding, display: display,
            duration: .seconds(seconds))
        let bar = ProgressBar(
            total: benchmark.seriesCount(pictures), isWanted: !quiet)
        let results = try benchmark.run(
            pictures, isInterrupted: { interruption.signal != nil },
            didFinish: { bar.advance(failed: false) })
        bar.end()
        if let signal = interruption.signal {
            throw Interruption.exitCode(signal, "nothing was written")
        }
        let report = FormatReport(
            results: results, seconds: seconds, display: display, quality: quality)
        print(json ? report.json.text() : report.table)
        if let output {
            for (name, text) in [
                ("\(output).json", report.json.text() + "\n"),
                ("\(output).svg", FormatChart(results).svg),
            ] {
                try writeFile(text, to: name)
            }
        }
    }

    private func chosenFormats() throws -> [String] {
        let writable = builtInCodecs.codecs.filter { $0.encoder != nil && $0.canRead }
            .map(\.format)
        guard let formats else {
            // These hold two colours or sizes up to 256 pixels: no choice for a photograph.
            return writable.map(\.name).filter { !["xbm", "ico"].contains($0) }
        }
        return try formats.split(separator: ",").map { name in
            guard let format = writable.first(where: { $0.isNamed(String(name)) }) else {
                let names = writable.map(\.name).joined(separator: ", ")
                throw ValidationError("\(name) cannot be written; there are \(names)")
            }
            return format.name
        }
    }

    private func photograph() throws(FileFailure) -> PixelBuffer {
        guard let photo else { return BenchPicture.photograph }
        do throws(CodecError) {
            var options = DecodeOptions(box: BenchPicture.largestSize, mode: .fill)
            options.allowsEnlarging = true
            let source = try ImageSource(EncodedBytes(mapping: photo), codecs: builtInCodecs)
            return try source.image(options).converted(to: .rgb8)
        } catch {
            throw FileFailure(photo, error)
        }
    }
}

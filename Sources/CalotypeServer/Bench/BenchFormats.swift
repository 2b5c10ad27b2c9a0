// SPDX-License-Identifier: Apache-2.0

internal import ImageCommands
internal import ArgumentParser
internal import EncodedImages
internal import Foundation
internal import ImageCodecs
internal import Pixels

/// The `bench formats` command.
struct BenchFormats: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "formats",
        abstract: "Measures the time to load and decode the same images in every format.",
        discussion: """
            Encodes a photograph and a gradient in every format at sizes from 2048x1536 to 32x24, \
            then loads and decodes them repeatedly: at full size and at the size of --display, \
            from files in the page cache (warm) and, on file systems that support eviction, from \
            disk (cold). Each figure is the median wall-clock time of a series on one thread.

            Prints a table, or with --json an object: unit, seconds, display, coldCache and \
            results, an array with an object per series (format, image, width, height, \
            byteCount, cache, shown, milliseconds, loadMilliseconds, repetitions). After an error \
            it has the keys file and error. --output also writes the results to NAME.json and a \
            chart to NAME.svg.

            EXAMPLES
              calotype bench formats
              calotype bench formats --seconds 0.1 --formats jpeg,webp,avif --output formats
              calotype bench formats --photo holiday.jpg --json
            """)

    @Option(help: "Comma-separated formats (default: all that can be written).")
    var formats: String?

    @Option(help: "The duration of each series, in seconds.")
    var seconds = 1.0

    @Option(
        help: "The quality of lossy formats, from 1 to 100 (default: 60).", transform: parseQuality)
    var quality = 60

    @Flag(help: "Use lossless compression in formats that support both kinds.")
    var lossless = false

    @Option(help: "The longer side of reduced images, in pixels.")
    var display = 400

    @Option(help: "An image to use instead of the generated photograph.", completion: .file())
    var photo: String?

    @Option(help: ArgumentHelp("Write NAME.json and NAME.svg in addition.", valueName: "name"))
    var output: String?

    @Flag(help: "Print JSON instead of a table.")
    var json = false

    @Flag(name: .shortAndLong, help: "Show no progress.")
    var quiet = false

    func validate() throws {
        if !(seconds >= 0 && seconds <= 3600) {
            throw ValidationError("invalid --seconds: \(seconds); use a number from 0 to 3600")
        }
        if display < 1 { throw ValidationError("invalid --display: \(display); use at least 1") }
        _ = try chosenFormats()
    }

    func run() throws {
        do {
            let images = [
                BenchImage(name: "photograph", image: try photograph()),
                BenchImage(name: "gradient", image: BenchImage.gradient),
            ]
            try measure(images, try chosenFormats())
        } catch let failure as FileFailure {
            report(failure)
            if json { print(failure.json.text()) }
            throw ExitCode(1)
        }
    }

    private func measure(_ images: [BenchImage], _ formats: [String]) throws {
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
            total: benchmark.seriesCount(images), isEnabled: !quiet)
        let results = try benchmark.run(
            images, isInterrupted: { interruption.signal != nil },
            didFinish: { bar.advance(failed: false) })
        bar.end()
        if let signal = interruption.signal {
            throw Interruption.exitCode(signal, "nothing was measured")
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
            // XBM has two colours, ICO at most 256x256 pixels: neither suits a photograph.
            return writable.map(\.name).filter { !["xbm", "ico"].contains($0) }
        }
        return try formats.split(separator: ",").map { name in
            guard let format = writable.first(where: { $0.isNamed(String(name)) }) else {
                let names = writable.map(\.name).joined(separator: ", ")
                throw ValidationError("invalid --formats: \(name) cannot be written; use \(names)")
            }
            return format.name
        }
    }

    private func photograph() throws(FileFailure) -> PixelBuffer {
        guard let photo else { return BenchImage.photograph }
        do throws(CodecError) {
            var options = DecodeOptions(box: BenchImage.largestSize, mode: .fill)
            options.allowsEnlarging = true
            let source = try ImageSource(EncodedBytes(mapping: photo), codecs: builtInCodecs)
            return try source.image(options).converted(to: .rgb8)
        } catch {
            throw FileFailure(photo, error)
        }
    }
}

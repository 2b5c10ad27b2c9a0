// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
internal import DecoderSandbox
internal import EncodedImages
internal import Glibc
internal import Synchronization

/// The `batch` command.
package struct Batch: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "batch", _superCommandName: "calotype",
        abstract: "Makes several images of each of many sources, with one decode.",
        discussion: """
            Sources are files, the images in folders and their subfolders, and the lines of a \
            manifest. A line is a path, a JSON object such as {"source": "in/1.jpg", "key": "1"}, or a \
            row of CSV below a line that names the columns source and key. The key is the path of the \
            outputs without an extension; by default it is that of the source.

            OUTPUTS
              NAME=SIZE,OPTIONS writes FOLDER/NAME/KEY.EXTENSION. SIZE is 400, 400x300, 400x or x300. \
            Options are fit, fill or stretch; up to enlarge; a format, such as webp (default: jpeg); \
            q1 to q100; ssim0.5 to ssim0.999; lossless.

            A source that cannot be read is reported and does not stop the others. Each file is \
            written whole or not at all; with --resume, those that are newer than their source are \
            not made again. --report writes one JSON object for each source: source, key, outputs \
            (name, path, width, height, byteCount), skipped, warnings and error.

            EXAMPLES
              calotype batch ~/Pictures --outputs small=400 large=2048,webp,q75 -o out
              calotype batch --manifest list.jsonl --outputs thumb=320x320,fill -o out --resume
              find . -name '*.jpg' | calotype batch --manifest - --outputs small=400 -o out
            """)

    @Argument(help: "Image files and folders.", completion: .file())
    var sources: [String] = []

    @Option(
        help: ArgumentHelp("A file with further sources; - for standard input.", valueName: "file"),
        completion: .file())
    var manifest: String?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("The images to make of each source.", valueName: "name=size,options"),
        transform: BatchOutput.init(parsing:))
    var outputs: [BatchOutput]

    @Option(
        name: .shortAndLong, help: "The folder of the outputs; it is created.",
        completion: .directory)
    var output: String

    @Option(
        help: ArgumentHelp(
            "The file for a record of each source; it is overwritten.", valueName: "file"),
        completion: .file())
    var report: String?

    @Flag(help: "Skip outputs that exist and are newer than their source.")
    var resume = false

    @Option(name: .shortAndLong, help: "The number of sources in parallel (default: one per core).")
    var jobs: Int?

    @Option(
        help:
            "What happens to HDR gain maps: keep writes them into JPEG, AVIF and JPEG XL; drop omits them."
    )
    var gainMap = GainMapUse.keep

    @Flag(help: "Print a JSON object with the numbers of sources and files.") var json = false

    @Flag(name: .shortAndLong, help: "Show no progress.") var quiet = false

    @Flag(help: strictHelp) var strict = false

    @OptionGroup var sandboxing: SandboxArguments

    package init() {}

    package func validate() throws {
        guard !sources.isEmpty || manifest != nil else {
            throw ValidationError("no sources; name files or folders, or use --manifest")
        }
        guard !outputs.isEmpty else { throw ValidationError("no --outputs") }
        if gainMap == .apply {
            throw ValidationError("--gain-map apply is an option of convert; use keep or drop")
        }
        guard Set(outputs.map(\.name)).count == outputs.count else {
            throw ValidationError("two --outputs have the same name")
        }
        if let jobs, jobs < 1 { throw ValidationError("invalid --jobs: \(jobs); use at least 1") }
    }

    package func run() throws {
        let jobCount = jobs ?? processorCount()
        try sandboxing.withCodecs(workerCount: jobCount) { codecs in try run(codecs, jobCount) }
    }

    private func run(_ codecs: CodecSet, _ jobCount: Int) throws {
        let found = InputFiles(codecs, isRecursive: true).find(sources).map { file in
            file.flatMap { file in
                Result { () throws(FileFailure) in
                    let name = splitFolder(splitExtension(file.path).name).file
                    return try BatchSource(file.path, key: file.subfolder + name)
                }
            }
        }
        let lines = try manifest.map { path throws(FileFailure) in try BatchManifest(path) }
        let list = Mutex(SourceList(found: found[...], manifest: lines))
        let log = try self.report.map { path throws(FileFailure) in try RecordLog(path) }
        let counts = Mutex(BatchCounts())
        let bar = ProgressBar(
            total: found.count + (manifest.map(BatchManifest.lineCount) ?? 0), isEnabled: !quiet)
        let interruption = Interruption()
        BatchRun(
            maker: OutputMaker(codecs: codecs, isStrict: strict, gainMap: gainMap),
            outputs: outputs, folder: output, skipsExisting: resume
        ).run(
            jobCount: jobCount, isInterrupted: { interruption.signal != nil },
            next: { list.withLock { $0.next() } }
        ) { record in
            counts.withLock { $0.add(record) }
            log?.write(record)
            for warning in record.warnings { warn(record.path, warning) }
            if let failure = record.failure { ImageCommands.report(failure) }
            bar.advance(failed: record.failure != nil)
        }
        bar.end()
        let result = counts.withLock { $0 }
        if json { print(result.json.text()) }
        if !quiet && !json { writeToStandardError("calotype: \(result.text)\n") }
        if let problem = log?.problem {
            ImageCommands.report(problem)
            throw ExitCode(1)
        }
        if let signal = interruption.signal {
            throw Interruption.exitCode(signal, "the files that were written are complete")
        }
        if result.failedCount > 0 { throw ExitCode(1) }
    }
}

/// The sources of the command line, then those of the manifest.
private struct SourceList {
    var found: ArraySlice<Result<BatchSource, FileFailure>>
    var manifest: BatchManifest?

    mutating func next() -> Result<BatchSource, FileFailure>? {
        found.popFirst() ?? manifest?.next()
    }
}

/// The numbers of sources and files.
private struct BatchCounts {
    private var madeCount = 0
    private var unchangedCount = 0
    private(set) var failedCount = 0
    private var fileCount = 0
    private var byteCount = 0

    mutating func add(_ record: BatchRecord) {
        fileCount += record.files.count
        byteCount += record.files.reduce(0) { $0 + $1.byteCount }
        if record.failure != nil {
            failedCount += 1
        } else if record.files.isEmpty {
            unchangedCount += 1
        } else {
            madeCount += 1
        }
    }

    var text: String {
        "\(madeCount) sources made, \(unchangedCount) unchanged, \(failedCount) failed; "
            + "\(fileCount) files written, \(byteCount) bytes"
    }

    var json: JSON {
        .object([
            .init("made", .integer(madeCount)), .init("unchanged", .integer(unchangedCount)),
            .init("failed", .integer(failedCount)), .init("files", .integer(fileCount)),
            .init("bytes", .integer(byteCount)),
        ])
    }
}

/// The file of `--report`, to which each record is appended as a line.
private final class RecordLog: Sendable {
    private let path: String
    private let descriptor: Int32
    private let failure = Mutex<FileFailure?>(nil)

    init(_ path: String) throws(FileFailure) {
        self.path = path
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw FileFailure(path, lastSystemError()) }
    }

    deinit { close(descriptor) }

    /// The first error of writing.
    var problem: FileFailure? { failure.withLock { $0 } }

    func write(_ record: BatchRecord) {
        let line = Array("\(record.json.line)\n".utf8)
        failure.withLock { failure in
            guard failure == nil, let reason = writeAll(line, to: descriptor) else { return }
            failure = FileFailure(path, reason)
        }
    }
}

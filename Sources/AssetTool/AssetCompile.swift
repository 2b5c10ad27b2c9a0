// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
public import AssetCatalogs
internal import DecoderSandbox
internal import EncodedImages
internal import ImageCommands

/// The `assets compile` command.
struct AssetCompile: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compile",
        abstract: "Compiles a catalog into one file, which programs map into memory.",
        discussion: """
            Each image is stored once, in the form that suits its content; --report states which and \
            why. A file that is missing or damaged is reported, its slot is left out, and the exit status \
            is 1. The same catalog gives the same bytes.

            --thin removes the slots that a device never selects. Its traits are those of Contents.json: \
            idiom (phone, pad, mac, tv, watch), scale, subtype, gamut, memory, graphics, appearance, \
            contrast, direction, locale, width-class, height-class, screen-width, platform.

            EXAMPLES
              calotype assets compile Assets.xcassets -o Assets.assets
              calotype assets compile Assets.xcassets -o Phone.assets --thin idiom=phone,scale=2
              calotype assets compile Assets.xcassets -o A.assets --swift Names.swift --report sizes.json
            """)

    @Argument(help: "The folder of a catalog, Assets.xcassets.", completion: .directory)
    var catalog: String

    @Option(name: .shortAndLong, help: "The compiled file.", completion: .file())
    var output: String

    @Option(
        help: ArgumentHelp(
            "A device that uses the file; repeat the option for several.",
            valueName: "trait=value,..."),
        transform: AssetTraits.init(parsing:))
    var thin: [AssetTraits] = []

    @Option(
        help: ArgumentHelp("Write the names of the assets as Swift code.", valueName: "file"),
        completion: .file())
    var swift: String?

    @Option(
        help: ArgumentHelp(
            "Write the size of each file, and how it is stored, as JSON.", valueName: "file"),
        completion: .file())
    var report: String?

    @Option(help: "What matters most: speed (small images need no decoder) or size.")
    var optimize = CatalogCompiler.Preference.speed

    @Option(
        name: .customLong("target-ssim"),
        help: ArgumentHelp(
            "The similarity of photographs whose set allows loss (default: 0.98).",
            valueName: "ssim"),
        transform: parseTargetSSIM)
    var targetSSIM: Double?

    @Option(
        help: ArgumentHelp(
            "A folder of encoded files, so that unchanged ones are not encoded again; it is created.",
            valueName: "folder"), completion: .directory)
    var cache: String?

    @Option(name: .shortAndLong, help: "The number of files in parallel (default: one per core).")
    var jobs: Int?

    @Flag(help: "Print a JSON object with the numbers of assets, files and bytes.") var json = false

    @Flag(name: .shortAndLong, help: "Show no progress.") var quiet = false

    @OptionGroup var sandboxing: SandboxArguments

    func validate() throws {
        if let jobs, jobs < 1 { throw ValidationError("invalid --jobs: \(jobs); use at least 1") }
    }

    func run() throws {
        let jobCount = jobs ?? processorCount()
        let (codecs, sandbox) = try sandboxing.decoding(workerCount: jobCount)
        defer { sandbox?.close() }
        do {
            try run(codecs, jobCount)
        } catch let error as FileFailure {
            ImageCommands.report(error)
            throw ExitCode(1)
        } catch let error as AssetCatalogError {
            writeToStandardError("calotype: \(error)\n")
            throw ExitCode(1)
        }
    }

    private func run(_ codecs: CodecSet, _ jobCount: Int) throws {
        var options = CatalogCompiler.Options()
        options.devices = thin
        options.preference = optimize
        if let targetSSIM { options.targetSSIM = targetSSIM }
        let folder = try AssetCatalog(folder: catalog)
        let compiler = CatalogCompiler(folder, options: options, codecs: codecs)
        let cache = self.cache.map { EncodedCache(folder: $0) }
        if let cache { try makeFolder(cache.folder) }
        let bar = ProgressBar(total: compiler.sources.count, isEnabled: !quiet)
        let interruption = Interruption()
        let results = runBatch(
            compiler.sources.map { .success($0) }, jobCount: jobCount,
            isInterrupted: { interruption.signal != nil },
            didFinish: { (result: Result<CatalogCompiler.Encoded, FileFailure>) in
                if case .failure(let failure) = result { ImageCommands.report(failure) }
                bar.advance(failed: (try? result.get()) == nil)
            },
            make: { source, _ throws(FileFailure) in
                do throws(AssetCatalogError) {
                    let bytes = try compiler.read(source)
                    guard let cache else { return try compiler.encode(source, bytes) }
                    return try cache.encoded(source, bytes, compiler)
                } catch {
                    throw FileFailure(source.path, error.reason)
                }
            })
        bar.end()
        if let signal = interruption.signal {
            throw Interruption.exitCode(signal, "\(output) was not written")
        }
        let (bytes, entries) = try compiler.file(results.map { try? $0?.get() })
        try writeFile(bytes, to: output)
        if let swift {
            try writeFile(
                Array(AssetNames(folder.assets, of: catalog).text.utf8), to: swift)
        }
        if let report { try writeFile(Array((entries.json.text() + "\n").utf8), to: report) }
        let failedCount = results.count - entries.count
        summarize(folder, entries, bytes.count, failedCount)
        if failedCount > 0 { throw ExitCode(1) }
    }

    private func summarize(
        _ catalog: AssetCatalog, _ entries: [CatalogCompiler.Entry], _ byteCount: Int,
        _ failedCount: Int
    ) {
        let sourceByteCount = entries.reduce(0) { $0 + $1.sourceByteCount }
        if json {
            let members: [(String, Int)] = [
                ("assets", catalog.assets.count), ("files", entries.count),
                ("failed", failedCount), ("sourceBytes", sourceByteCount), ("bytes", byteCount),
            ]
            print(JSON.object(members.map { .init($0, .integer($1)) }).text())
        } else if !quiet {
            writeToStandardError(
                "calotype: \(catalog.assets.count) assets, \(entries.count) files of "
                    + "\(sourceByteCount) bytes compiled into \(byteCount) bytes"
                    + "\(failedCount == 0 ? "" : ", \(failedCount) failed")\n")
        }
    }
}

extension CatalogCompiler.Preference: ExpressibleByArgument {}

extension [CatalogCompiler.Entry] {
    fileprivate var json: JSON {
        .array(
            map { entry in
                .object([
                    .init("name", .string(entry.key.name)), .init("file", .string(entry.path)),
                    .init("sourceBytes", .integer(entry.sourceByteCount)),
                    .init("storedBytes", .integer(entry.storedByteCount)),
                    .init("compression", .string(entry.compression)),
                    .init(
                        "reason",
                        .string(
                            entry.storedByteCount == 0 && entry.sourceByteCount > 0
                                ? "equal to another file" : entry.reason)),
                ])
            })
    }
}

extension AssetTraits {
    /// Parses `idiom=phone,scale=2`.
    fileprivate init(parsing text: String) throws {
        self.init()
        for pair in text.split(separator: ",") {
            let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else {
                throw ValidationError("invalid trait: \(pair); use NAME=VALUE")
            }
            try set(parts[0], parts[1])
        }
    }

    private mutating func set(_ name: String, _ value: String) throws {
        let idioms = ["phone": "iphone", "pad": "ipad", "desktop": "mac"]
        switch name {
        case "idiom": idiom = idioms[value] ?? value
        case "platform": platform = value
        case "subtype": subtype = value
        case "screen-width": screenWidth = value
        case "width-class": widthClass = value
        case "height-class": heightClass = value
        case "appearance": luminosity = value
        case "contrast": contrast = value
        case "gamut": gamut = value
        case "direction": direction = value
        case "locale": locale = value
        case "graphics": graphics = value
        case "memory", "scale":
            guard let number = Int(value), (1...1024).contains(number) else {
                throw ValidationError("invalid \(name): \(value); use 1 to 1024")
            }
            if name == "memory" { memory = number } else { scale = number }
        default: throw ValidationError("unknown trait: \(name)")
        }
    }
}

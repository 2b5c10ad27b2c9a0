// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
internal import DecoderSandbox
internal import Effects
package import EncodedImages
internal import ImageCodecs
internal import Pixels

/// The `thumbnail` command.
package struct Thumbnail: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "thumbnail", _superCommandName: "calotype",
        abstract: "Creates thumbnails of image files.",
        discussion: """
            Each image is rotated upright, converted to sRGB and reduced while it is decoded, \
            which needs little memory. Files are processed in parallel. One that cannot be read is \
            reported at the end and does not stop the others. Existing thumbnails are overwritten, \
            input files never.

            SIZES
              400       the longer side is 400 pixels
              400x300   the image fits into a box of 400x300 pixels (see --mode)
              400x      the width is 400 pixels
              x300      the height is 300 pixels

            PLACEHOLDERS in --output
              {dir}        the folder of the input file
              {subfolder}  its folder below the searched one, with a slash
              {name}       its file name without the extension
              {size}       the value of --size
              {ext}        the extension of the output format

            Missing folders are created. {subfolder}{name}.{ext} is appended if --output is a folder \
            or ends in a slash.

            EXAMPLES
              calotype thumbnail photo.jpg --size 400          # writes photo-400.jpg
              calotype thumbnail *.png --size 200x200 --mode fill --output 'small/'
              calotype thumbnail --explain photo.jpg --size 400
              calotype thumbnail *.jpg --size 800 --watermark logo.png --watermark-scale 0.2
              calotype thumbnail *.jpg --size 1920x --output '{dir}/{name}.web.jpg'
              calotype thumbnail --recursive Images --size 400 --output Thumbnails/
            """)

    @Argument(help: "The image files; with --recursive, also folders.", completion: .file())
    package var files: [PathGroup]

    @Option(
        help: "The size of the thumbnails in pixels: 400, 400x300, 400x or x300.",
        transform: SizeArgument.init(parsing:))
    var size: SizeArgument

    @OptionGroup var resizing: ResizeArguments

    @OptionGroup(title: "Effects") package var effects: EffectArguments

    @Option(
        help: """
            The output format, such as jpeg or png (default: from a literal extension in --output, \
            or else PNG for images with transparency and JPEG for all others).
            """)
    package var format: String?

    @OptionGroup var losing: QualityArguments

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The paths of the thumbnails, with placeholders.", valueName: "pattern"))
    var output = "{dir}/{name}-{size}.{ext}"

    @Option(
        name: .shortAndLong,
        help:
            "The maximum number of images in parallel, at most one per core (default: one per core)."
    )
    var jobs: Int?

    @Flag(
        name: .shortAndLong,
        help: "Process the images in folders and their subfolders, selected by file name extension."
    )
    var recursive = false

    @Flag(help: "Use the thumbnail embedded in the file if it is large enough.")
    var embeddedThumbnail = false

    @Flag(
        help:
            "Print a JSON array with input, output, width, height and warnings, or input and error."
    )
    package var json = false

    @Flag(
        help: """
            Load each image through the pipeline of the server instead, write no file, and print \
            the time of each step.
            """)
    package var explain = false

    @Flag(name: .shortAndLong, help: "Show no progress.")
    var quiet = false

    @Flag(help: strictHelp) var strict = false

    @OptionGroup package var sandboxing: SandboxArguments

    package init() {}

    package func validate() throws {
        _ = try OutputPattern(parsing: output)
        if resizing.gainMap == .apply {
            throw ValidationError("--gain-map apply is an option of calotype convert")
        }
        if let jobs, jobs < 1 { throw ValidationError("invalid --jobs: \(jobs); use at least 1") }
        if let format = try format ?? OutputPattern(parsing: output).fixedExtension {
            do throws(CodecError) {
                _ = try ImageDestination(format: format, codecs: builtInCodecs)
            } catch {
                throw ValidationError(error.description)
            }
        }
    }

    package func run() async throws {
        let jobCount = jobs ?? processorCount()
        let (codecs, sandbox) = try sandboxing.decoding(workerCount: jobCount)
        defer { sandbox?.close() }
        let effect: Effect
        do throws(FileFailure) {
            effect = try effects.effect(codecs)
        } catch {
            ImageCommands.report(error)
            throw ExitCode(1)
        }
        let interruption = Interruption()
        let inputs = InputFiles(codecs, isRecursive: recursive).find(files.paths)
        let plan = try plan(inputs, codecs)
        do throws(PlanError) {
            try check(
                plan.compactMap { try? $0.get() },
                inputs: inputs.compactMap { try? $0.get().path })
        } catch {
            writeToStandardError("calotype: \(error)\n")
            throw ExitCode.validationFailure
        }
        let bar = ProgressBar(total: plan.count, isEnabled: !quiet)
        let batch = ThumbnailBatch(
            codecs: codecs, decodeOptions: decodeOptions, effect: effect,
            encodeOptions: encodeOptions, gainMap: resizing.gainMap)
        let results = batch.run(
            plan, jobCount: jobCount,
            isInterrupted: { interruption.signal != nil },
            didFinish: { bar.advance(failed: (try? $0.get()) == nil) })
        bar.end()
        report(inputs, plan, results)
        if let signal = interruption.signal {
            throw Interruption.exitCode(signal, "the files that were written are complete")
        }
        guard results.allSatisfy({ (try? $0?.get()) != nil }) else { throw ExitCode(1) }
    }

    package var decodeOptions: DecodeOptions {
        var options = resizing.decodeOptions(size)
        options.acceptsTruncated = !strict
        options.embeddedThumbnail = embeddedThumbnail ? .ifLargeEnough : .ignore
        return options
    }

    package var encodeOptions: EncodeOptions { losing.encodeOptions }

    /// The output of each file, or the reason why it cannot be written.
    private func plan(
        _ inputs: [Result<InputFile, FileFailure>], _ codecs: CodecSet
    ) throws -> [Result<PlannedThumbnail, FileFailure>] {
        let pattern = try OutputPattern(parsing: output)
        let format = format ?? pattern.fixedExtension
        return inputs.map { input in
            input.flatMap { file in
                Result { () throws(FileFailure) in
                    try plan(file, pattern, format, codecs)
                }
            }
        }
    }

    private func plan(
        _ file: InputFile, _ pattern: OutputPattern, _ format: String?, _ codecs: CodecSet
    ) throws(FileFailure) -> PlannedThumbnail {
        let format = if let format { format } else { try defaultFormat(of: file.path, codecs) }
        let output = pattern.path(
            for: file, size: size.text,
            fileExtension: builtInCodecs.codec(named: format)?.format.extensions.first ?? format)
        return PlannedThumbnail(input: file.path, output: output, format: format)
    }

    private func defaultFormat(
        of file: String, _ codecs: CodecSet
    ) throws(FileFailure) -> String {
        do throws(CodecError) {
            let source = try ImageSource(EncodedBytes(mapping: file), codecs: codecs)
            return source.header.hasAlpha ? "png" : "jpeg"
        } catch {
            throw FileFailure(file, error)
        }
    }

    /// Reports the results in the order of the files, as JSON if `--json` is set.
    private func report(
        _ inputs: [Result<InputFile, FileFailure>], _ plan: [Result<PlannedThumbnail, FileFailure>],
        _ results: [Result<WrittenThumbnail, FileFailure>?]
    ) {
        let files = inputs.map(\.path)
        var objects: [JSON] = []
        var failureCount = 0
        for (index, result) in results.enumerated() {
            switch result {
            case .success(let thumbnail):
                let warnings = thumbnail.problem.map { ["\($0)"] } ?? []
                for warning in warnings { warn(files[index], warning) }
                objects.append(
                    .object([
                        .init("input", .string(files[index])),
                        .init(
                            "output", (try? plan[index].get()).map { .string($0.output) } ?? .null),
                        .init("width", .integer(thumbnail.size.width)),
                        .init("height", .integer(thumbnail.size.height)),
                        .init("warnings", .array(warnings.map { .string($0) })),
                    ]))
            case .failure(let failure):
                failureCount += 1
                ImageCommands.report(failure)
                objects.append(
                    .object([
                        .init("input", .string(files[index])),
                        .init(
                            "error",
                            .string(
                                failure.path == files[index]
                                    ? failure.reason : failure.description)),
                    ]))
            case nil: break
            }
        }
        if json { print(JSON.array(objects).text()) }
        if failureCount > 0, files.count > 1 {
            writeToStandardError("calotype: \(failureCount) of \(files.count) files failed\n")
        }
    }
}

extension Result<InputFile, FileFailure> {
    fileprivate var path: String {
        switch self {
        case .success(let file): file.path
        case .failure(let failure): failure.path
        }
    }
}

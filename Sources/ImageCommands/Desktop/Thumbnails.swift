// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
internal import DecoderSandbox
internal import EncodedImages
internal import Glibc

/// The `thumbnails` command, for the cache that file managers share.
package struct Thumbnails: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "thumbnails", _superCommandName: "calotype",
        abstract: "Fills the thumbnail cache of file managers.", subcommands: [Fill.self])

    package init() {}

    /// The `thumbnails fill` command.
    struct Fill: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "fill", _superCommandName: "calotype thumbnails",
            abstract: "Creates the thumbnails of all images in folders.",
            discussion: """
                The thumbnails are stored in $XDG_CACHE_HOME/thumbnails (default: \
                ~/.cache/thumbnails) by the Thumbnail Managing Standard, so that file managers \
                show them at once. Each image is decoded once for all sizes. Valid thumbnails are \
                kept. An image that cannot be read gets an entry in fail/calotype, and is not read \
                again until it changes.

                EXAMPLES
                  calotype thumbnails fill ~/Pictures
                  calotype thumbnails fill ~/Pictures --sizes large,x-large --json
                """)

        @Argument(help: "Folders, which are searched with their subfolders, or image files.")
        var paths: [String]

        @Option(
            help: ArgumentHelp(
                "The sizes: normal (128 pixels), large (256), x-large (512), xx-large (1024).",
                valueName: "list"),
            transform: parseSizes)
        var sizes: [ThumbnailCache.Size] = [.normal, .large]

        @Option(
            name: .shortAndLong,
            help: """
                The maximum number of images in parallel, at most one per core (default: one per \
                core).
                """)
        var jobs: Int?

        @Flag(
            help: """
                Print a JSON array with input, written (paths) and valid (the number of thumbnails \
                that were kept), or input and error.
                """)
        var json = false

        @Flag(name: .shortAndLong, help: "Show no progress.") var quiet = false

        @OptionGroup var sandboxing: SandboxArguments

        func validate() throws {
            if let jobs, jobs < 1 {
                throw ValidationError("invalid --jobs: \(jobs); use at least 1")
            }
        }

        func run() async throws {
            guard let cache = ThumbnailCache(ofUser: environmentVariable) else {
                writeToStandardError(
                    "calotype: no thumbnail cache; set HOME or XDG_CACHE_HOME to an absolute path\n"
                )
                throw ExitCode(1)
            }
            let jobCount = jobs ?? processorCount()
            let (codecs, sandbox) = try sandboxing.decoding(workerCount: jobCount)
            defer { sandbox?.close() }
            let interruption = Interruption()
            let inputs = files(codecs, cache)
            let filling = CacheFilling(
                cache: cache, maker: ThumbnailMaker(codecs), sizes: sizes)
            let bar = ProgressBar(total: inputs.count, isEnabled: !quiet)
            let results = runBatch(
                inputs, jobCount: jobCount, isInterrupted: { interruption.signal != nil },
                didFinish: { bar.advance(failed: (try? $0.get()) == nil) },
                make: { path, cancellation throws(FileFailure) in
                    try filling.fill(path, cancellation)
                })
            bar.end()
            report(inputs, results)
            if let signal = interruption.signal {
                throw Interruption.exitCode(signal, "the thumbnails that were written are complete")
            }
            guard results.allSatisfy({ (try? $0?.get()) != nil }) else { throw ExitCode(1) }
        }

        /// Returns the images to process; thumbnails of thumbnails are not made.
        private func files(
            _ codecs: CodecSet, _ cache: ThumbnailCache
        ) -> [Result<String, FileFailure>] {
            let inside = Array("\(cache.folder)/".utf8)
            return InputFiles(codecs, isRecursive: true).find(paths)
                .map { $0.map(\.path) }
                .filter { file in
                    guard let path = try? file.get(), let uri = FileURI(path) else { return true }
                    return !uri.path.starts(with: inside)
                }
        }

        private func report(
            _ inputs: [Result<String, FileFailure>],
            _ results: [Result<CacheFilling.Entry, FileFailure>?]
        ) {
            var objects: [JSON] = []
            var failureCount = 0
            for (input, result) in zip(inputs, results) {
                switch result {
                case .success(let entry):
                    objects.append(
                        .object([
                            .init("input", .string((try? input.get()) ?? "")),
                            .init("written", .array(entry.written.map { .string($0) })),
                            .init("valid", .integer(entry.validCount)),
                        ]))
                case .failure(let failure):
                    failureCount += 1
                    ImageCommands.report(failure)
                    objects.append(
                        .object([
                            .init("input", .string(failure.path)),
                            .init("error", .string(failure.reason)),
                        ]))
                case nil: break
                }
            }
            if json { print(JSON.array(objects).text()) }
            if failureCount > 0, inputs.count > 1 {
                writeToStandardError(
                    "calotype: \(failureCount) of \(inputs.count) files failed\n")
            }
        }
    }
}

/// Parses a list of thumbnail sizes, separated by commas.
@Sendable private func parseSizes(_ text: String) throws -> [ThumbnailCache.Size] {
    try text.split(separator: ",", omittingEmptySubsequences: false).map { name in
        guard let size = ThumbnailCache.Size(rawValue: String(name)) else {
            let known = ThumbnailCache.Size.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("invalid thumbnail size: \(name); use \(known)")
        }
        return size
    }
}

/// Returns the value of an environment variable.
private func environmentVariable(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
}

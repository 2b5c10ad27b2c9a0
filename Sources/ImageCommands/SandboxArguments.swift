// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
package import DecoderSandbox
package import EncodedImages
internal import ImageCodecs

/// The options that select whether images are decoded in this process or in sandboxed workers.
package struct SandboxArguments: ParsableArguments {
    package enum Mode: EnumerableFlag {
        case sandbox, sandboxRequired, noSandbox

        package static func help(for value: Mode) -> ArgumentHelp? {
            switch value {
            case .sandbox:
                "Decode in sandboxed worker processes, with the layers that the kernel permits."
            case .sandboxRequired: "The same, but fail unless the kernel permits all layers."
            case .noSandbox: "Decode in this process."
            }
        }
    }

    @Flag(exclusivity: .chooseLast) package var mode = Mode.sandbox

    @Option(
        help: ArgumentHelp(
            """
            The maximum memory of a worker process; images that need more fail (default: 512MiB to \
            serve, 2340MiB otherwise).
            """,
            valueName: "size"),
        transform: parseByteCount)
    var workerMemory: Int?

    // SwiftPM chooses the file names of the tools of a plugin.
    @Option(
        help: ArgumentHelp(
            "The program of the worker processes, by default calotype-decoder beside this program.",
            visibility: .hidden))
    var worker: String?

    package init() {}

    package func validate() throws {
        if let workerMemory, workerMemory < 64 << 20 {
            throw ValidationError("invalid --worker-memory: \(workerMemory); use at least 64MiB")
        }
    }

    /// The maximum number of bytes that all workers of a server allocate together; 0 without a
    /// sandbox.
    package func totalMemoryByteCount(workerCount: Int) -> Int {
        mode == .noSandbox
            ? 0 : configuration(workerCount: workerCount, isShort: false).totalMemoryByteCount
    }

    private func configuration(
        workerCount: Int, isShort: Bool
    ) -> DecoderSandbox.Configuration {
        var configuration = DecoderSandbox.Configuration(
            workerPath: worker ?? path(ofSiblingProgram: "calotype-decoder"),
            workerCount: workerCount)
        // Enough for every image within the decode limits, unless other clients share the memory.
        configuration.memoryByteCount = workerMemory ?? (isShort ? 2_340 << 20 : 512 << 20)
        configuration.spareCount = isShort ? 0 : 1
        return configuration
    }

    /// Creates the codecs and, if selected, the sandbox in which they decode.
    ///
    /// - Parameters:
    ///   - workerCount: the maximum number of images that are decoded at a time.
    ///   - isShort: Whether the program ends after a few files: workers then load only the libraries of
    ///     the formats that occur.
    ///   - drawsCards: Whether cards are as frequent as files; otherwise separate workers draw them.
    ///   - onStop: Called when a worker process ends before its response.
    /// - Returns: The codecs, and the sandbox, which the caller closes; `nil` for decoding in this
    ///   process.
    /// - Throws: `ExitCode`, after the error was reported on standard error.
    package func decoding(
        workerCount: Int, isShort: Bool = true, drawsCards: Bool = false,
        onStop: (@Sendable (DecoderSandbox.StopReason) -> Void)? = nil
    ) throws(ExitCode) -> (codecs: CodecSet, sandbox: DecoderSandbox?) {
        if mode == .noSandbox { return (builtInCodecs, nil) }
        var configuration = configuration(workerCount: workerCount, isShort: isShort)
        configuration.onStop = onStop
        if isShort {
            configuration.loadsOnlyNeededLibraries()
        } else {
            configuration.sharesLibraries(drawsCards: drawsCards)
            // Twice what a photograph takes.
            configuration.quickSeconds = 0.05
        }
        if mode == .sandboxRequired {
            configuration.requiredLayers = Set(SandboxLayer.allCases)
        }
        let sandbox = DecoderSandbox(configuration)
        do throws(CodecError) {
            _ = try sandbox.layers()
        } catch {
            sandbox.close()
            let remedy = mode == .sandbox ? "; --no-sandbox decodes without workers" : ""
            writeToStandardError("calotype: \(error)\(remedy)\n")
            throw ExitCode(1)
        }
        return (builtInCodecs.decoded(by: sandbox), sandbox)
    }

    /// Calls `body` with codecs, and closes their sandbox afterwards.
    ///
    /// - Parameters:
    ///   - workerCount: the maximum number of images that are decoded at a time.
    ///   - body: the work of a command that fails with its first file.
    /// - Throws: `ExitCode`, after an error of a file was reported on standard error; other errors of
    ///   `body`.
    package func withCodecs(
        workerCount: Int = 1, _ body: (_ codecs: CodecSet) throws -> Void
    ) throws {
        let (codecs, sandbox) = try decoding(workerCount: workerCount)
        defer { sandbox?.close() }
        do {
            try body(codecs)
        } catch let error as FileFailure {
            report(error)
            throw ExitCode(1)
        }
    }
}

extension DecoderSandbox.Configuration {
    /// Lets each worker load the libraries of most formats, and separate ones those that take long.
    ///
    /// - Parameter drawsCards: Whether all workers load the fonts of cards as well.
    mutating func sharesLibraries(drawsCards: Bool) {
        let shared = sharedSandboxFormats.union(drawsCards ? ["card"] : [])
        formats = { work in
            let formats =
                switch work {
                case .decode(let file): sharedSandboxFormats(toDecode: file)
                case .encode(let format): sharedSandboxFormats(toEncode: format)
                case .convertColors: shared
                }
            return formats.isSubset(of: shared) ? shared : formats
        }
    }

    /// Lets each worker load only the library of the format that it decodes or encodes.
    ///
    /// A program that processes a few files then starts sooner.
    package mutating func loadsOnlyNeededLibraries() {
        startsOnDemand = true
        formats = { work in
            let format =
                switch work {
                case .decode(let file): sandboxFormat(toDecode: file)
                case .encode(let format): sandboxFormat(toEncode: format)
                case .convertColors: String?.none
                }
            return format.map { [$0] } ?? []
        }
    }
}

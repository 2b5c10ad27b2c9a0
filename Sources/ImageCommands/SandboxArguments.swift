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

    @Flag(exclusivity: .chooseLast) var mode: Mode?

    @Option(
        help: ArgumentHelp(
            "The maximum memory of a worker process; images that need more fail (default: 512MiB).",
            valueName: "size"),
        transform: parseByteCount)
    package var workerMemory = 512 << 20

    package init() {}

    package func validate() throws {
        guard workerMemory >= 64 << 20 else {
            throw ValidationError("invalid --worker-memory: \(workerMemory); use at least 64MiB")
        }
    }

    /// The maximum number of bytes that all workers allocate together; 0 without a sandbox.
    package func totalMemoryByteCount(workerCount: Int, usual: Mode = .noSandbox) -> Int {
        (mode ?? usual) == .noSandbox
            ? 0 : configuration(workerCount: workerCount).totalMemoryByteCount
    }

    private func configuration(workerCount: Int) -> DecoderSandbox.Configuration {
        var configuration = DecoderSandbox.Configuration(
            workerPath: path(ofSiblingProgram: "calotype-decoder"), workerCount: workerCount)
        configuration.memoryByteCount = workerMemory
        return configuration
    }

    /// Creates the codecs and, if selected, the sandbox in which they decode.
    ///
    /// - Parameters:
    ///   - workerCount: The maximum number of images that are decoded at a time.
    ///   - usual: The mode if no option is set.
    ///   - onStop: Called when a worker process ends before its response.
    /// - Returns: The codecs, and the sandbox, which the caller closes; `nil` for decoding in this
    ///   process.
    /// - Throws: `ExitCode`, after the error was reported on standard error.
    package func decoding(
        workerCount: Int, usual: Mode = .noSandbox,
        onStop: (@Sendable (DecoderSandbox.StopReason) -> Void)? = nil
    ) throws(ExitCode) -> (codecs: CodecSet, sandbox: DecoderSandbox?) {
        let mode = mode ?? usual
        if mode == .noSandbox { return (builtInCodecs, nil) }
        var configuration = configuration(workerCount: workerCount)
        configuration.onStop = onStop
        if mode == .sandboxRequired {
            configuration.requiredLayers = Set(SandboxLayer.allCases)
        }
        let sandbox = DecoderSandbox(configuration)
        do throws(CodecError) {
            _ = try sandbox.layers()
        } catch {
            sandbox.close()
            writeToStandardError("calotype: \(error)\n")
            throw ExitCode(1)
        }
        return (builtInCodecs.decoded(by: sandbox), sandbox)
    }
}

// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
package import DecoderSandbox
package import EncodedImages
internal import ImageCodecs

/// Where pictures are decoded: in this process, or in others that can do nothing else.
package struct SandboxArguments: ParsableArguments {
    package enum Mode: EnumerableFlag {
        case sandbox, sandboxRequired, noSandbox

        package static func help(for value: Mode) -> ArgumentHelp? {
            switch value {
            case .sandbox:
                "Decode in processes that can do nothing else, as far as this system permits it."
            case .sandboxRequired: "The same, and fail if any of their walls is not permitted here."
            case .noSandbox: "Decode in this process."
            }
        }
    }

    @Flag(exclusivity: .chooseLast) var mode: Mode?

    @Option(
        help: ArgumentHelp(
            "The memory that one decoding process may allocate (default: 512MiB).",
            discussion: "A picture that needs more is refused.", valueName: "size"),
        transform: parseByteCount)
    package var workerMemory = 512 << 20

    package init() {}

    package func validate() throws {
        guard workerMemory >= 64 << 20 else {
            throw ValidationError("--worker-memory is at least 64MiB")
        }
    }

    /// The bytes that all workers allocate at most; 0 without a sandbox.
    package func totalMemoryByteCount(workerCount: Int, usual: Mode = .noSandbox) -> Int {
        (mode ?? usual) == .noSandbox
            ? 0 : configuration(workerCount: workerCount).totalMemoryByteCount
    }

    private func configuration(workerCount: Int) -> DecoderSandbox.Configuration {
        var configuration = DecoderSandbox.Configuration(
            workerPath: path(ofProgramBeside: "calotype-decoder"), workerCount: workerCount)
        configuration.memoryByteCount = workerMemory
        return configuration
    }

    /// The formats, with the sandbox in which they are decoded; it is closed by whoever asks.
    ///
    /// - Parameters:
    ///   - workerCount: how many pictures are decoded at once.
    ///   - usual: what holds if nothing is said.
    ///   - onStop: called whenever a decoding process ends before its answer.
    /// - Returns: both; the sandbox is `nil` if decoding is done in this process.
    /// - Throws: `ExitCode`, once it has been said why there is no sandbox.
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

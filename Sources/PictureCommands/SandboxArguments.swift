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

    package init() {}

    /// The formats, with the sandbox in which they are decoded; it is closed by whoever asks.
    ///
    /// - Parameters:
    ///   - workerCount: how many pictures are decoded at once.
    ///   - usual: what holds if nothing is said.
    /// - Returns: both; the sandbox is `nil` if decoding is done in this process.
    /// - Throws: `ExitCode`, once it has been said why there is no sandbox.
    package func decoding(
        workerCount: Int, usual: Mode = .noSandbox
    ) throws(ExitCode) -> (codecs: CodecSet, sandbox: DecoderSandbox?) {
        let mode = mode ?? usual
        if mode == .noSandbox { return (builtInCodecs, nil) }
        var configuration = DecoderSandbox.Configuration(
            workerPath: path(ofProgramBeside: "calotype-decoder"), workerCount: workerCount)
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

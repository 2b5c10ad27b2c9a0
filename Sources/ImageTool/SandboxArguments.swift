// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import DecoderSandbox
internal import EncodedImages
internal import ImageCodecs
#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Where pictures are decoded: in this process, or in others that can do nothing else.
struct SandboxArguments: ParsableArguments {
    enum Mode: EnumerableFlag {
        case sandbox, sandboxRequired, noSandbox

        static func help(for value: Mode) -> ArgumentHelp? {
            switch value {
            case .sandbox:
                "Decode in processes that can do nothing else, as far as this system permits it."
            case .sandboxRequired: "The same, and fail if any of their walls is not permitted here."
            case .noSandbox: "Decode in this process."
            }
        }
    }

    @Flag(exclusivity: .chooseLast) var mode: Mode?

    /// The formats, with the sandbox in which they are decoded; it is closed by whoever asks.
    ///
    /// - Parameters:
    ///   - workerCount: how many pictures are decoded at once.
    ///   - usual: what holds if nothing is said.
    /// - Returns: both; the sandbox is `nil` if decoding is done in this process.
    /// - Throws: `ExitCode`, once it has been said why there is no sandbox.
    func decoding(
        workerCount: Int, usual: Mode = .noSandbox
    ) throws(ExitCode) -> (codecs: CodecSet, sandbox: DecoderSandbox?) {
        let mode = mode ?? usual
        if mode == .noSandbox { return (builtInCodecs, nil) }
        let worker = splitFolder(programPath()).folder + "/calotype-decoder"
        var configuration = DecoderSandbox.Configuration(
            workerPath: worker, workerCount: workerCount)
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

    /// Where this program is.
    private func programPath() -> String {
        var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe path.withUnsafeMutableBytes { path in
            unsafe path.withMemoryRebound(to: CChar.self) { path in
                unsafe path.baseAddress.map {
                    unsafe readlink("/proc/self/exe", $0, path.count)
                } ?? 0
            }
        }
        return String(decoding: path.prefix(max(0, count)), as: UTF8.self)
    }
}

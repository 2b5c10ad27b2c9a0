// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif
internal import EncodedImages
internal import ImageCodecs
internal import DecoderSandbox
internal import ImageLoading
internal import ImageServer
public import Logging

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows a folder of pictures in the browser.",
        discussion: """
            Prints the address of a page to open. The page shows the pictures of DIRECTORY and the \
            folders in it, each made at the size at which it is shown. Nothing in DIRECTORY is \
            changed; what has been made is kept in a cache of limited size.

            Only this computer can open the page, unless --host says otherwise; there is no \
            password. Ctrl-C stops the server.

            EXAMPLES
              calotype serve ~/Pictures
              calotype serve /srv/photos --host 0.0.0.0 --port 80

            ADDRESSES
              /house/1.jpg          the file as it is
              /house/512x512/1.jpg  the same picture inside a box of 512x512 pixels
              /healthz              whether the server runs
            """)

    @Argument(help: "The folder to show.", completion: .directory)
    var directory: String

    @Option(help: "The address to listen at; 0.0.0.0 for every network.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen at; 0 for any free one.")
    var port = 8080

    @Option(
        help: """
            Where pictures that were made are kept (default: $XDG_CACHE_HOME/calotype or \
            ~/.cache/calotype).
            """,
        completion: .directory)
    var cacheDirectory: String?

    @Option(
        help: "How much is kept there, such as 500MB or 2GiB (default: 2GB).",
        transform: parseByteCount)
    var cacheSize = 2_000_000_000

    @Option(
        help: "How much memory decoded pictures may take (default: 256MiB).",
        transform: parseByteCount)
    var memory = 256 << 20

    @Option(help: "What is said on standard error: trace, debug, info, warning or error.")
    var logLevel = Logger.Level.warning

    @OptionGroup var sandboxing: SandboxArguments

    func validate() throws {
        guard 0...65_535 ~= port else { throw ValidationError("a port is from 0 to 65535") }
    }

    func run() async throws {
        var logger = Logger(label: "calotype") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = logLevel
        do throws(FileFailure) { try checkFolder(directory) } catch { throw stop("\(error)") }
        let (codecs, sandbox) = try sandboxing.decoding(
            workerCount: processorCount(), usual: .sandbox)
        defer { sandbox?.close() }
        try say(sandbox, logger)
        let pipeline: ImagePipeline
        do throws(LoadError) {
            var configuration = ImagePipeline.Configuration()
            configuration.memoryCacheByteLimit = memory
            configuration.store = try RenditionStore(
                directory: cacheDirectory
                    ?? RenditionStore.defaultDirectory(environment: environment()),
                byteLimit: cacheSize, logger: logger)
            pipeline = ImagePipeline(
                codecs: codecs, configuration: configuration, logger: logger)
        } catch {
            throw stop("\(error)")
        }
        var configuration = ImageServer.Configuration(
            directory: directory, codecs: builtInCodecs)
        configuration.host = host
        configuration.port = port
        let server = ImageServer(configuration: configuration, pipeline: pipeline, logger: logger)
        let directory = directory
        do throws(ServerError) {
            try await server.run { address in
                // At once, also into a pipe: whoever started the server waits for this line.
                _ = writeAll(Array("Showing \(directory) at \(address)\n".utf8), to: STDOUT_FILENO)
            }
        } catch {
            throw stop("\(error)")
        }
    }

    /// Tells whoever runs the server what stands between strangers' pictures and this machine.
    private func say(_ sandbox: DecoderSandbox?, _ logger: Logger) throws {
        guard let sandbox else {
            logger.notice("pictures are decoded without a sandbox")
            return
        }
        let missing = Set(SandboxLayer.allCases).subtracting(try sandbox.layers())
        if missing.isEmpty { return }
        logger.notice(
            "this system does not permit all walls of the sandbox",
            metadata: ["sandbox.missing": "\(missing.map(\.rawValue).sorted())"])
    }

    private func stop(_ message: String) -> ExitCode {
        writeToStandardError("calotype: \(message)\n")
        return ExitCode(1)
    }

    /// The variables that say where caches are kept.
    private func environment() -> [String: String] {
        var variables: [String: String] = [:]
        for name in ["XDG_CACHE_HOME", "HOME"] {
            if let value = unsafe getenv(name) { variables[name] = unsafe String(cString: value) }
        }
        return variables
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}

// SPDX-License-Identifier: Apache-2.0

internal import HTTPCaching
internal import LoadScheduling
internal import PictureCommands
public import ArgumentParser
#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif
internal import CoreMetrics
internal import EncodedImages
internal import HTTPLoading
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
            password. Pages of other sites cannot use it: it answers only to localhost and to the \
            host of --public-address, and --allow-origin names origins that may read from it. Ctrl-C stops the server. A socket that systemd hands on is listened at in \
            place of --host, --port and --socket.

            EXAMPLES
              calotype serve ~/Pictures
              calotype serve /srv/photos --host 0.0.0.0 --port 80

            ADDRESSES
              /house/1.jpg               the file as it is
              /house/512x512/1.jpg       the same picture inside a box of 512x512 pixels
              /house/300x200@2x,fill,q70,webp/1.jpg
                                         a box that is filled, for a screen of twice the density
              /house/512x512,ssim0.95/1.jpg
                                         at the lowest quality that looks so like the original
              /house/300x,still/1.gif    the first frame of an animation, which else stays one
              /iiif/3/house%2F1.jpg/…    the IIIF Image API, 3.0 or 2.1
              /tiles/house/1.jpg.dzi     tiles for Deep Zoom
              /sprite/128x128,fill/house many pictures in one; ?as=json says which lies where
              /info/house/1.jpg          what is known of a picture
              /placeholder/house/1.jpg   a picture in some 25 bytes
              /healthz, /readyz          whether the server runs, and takes work
              /-/openapi.json            all of this as OpenAPI has it

            SETTINGS
              Every option may stand in a file that --config names, or in the environment: \
            --cache-size 5GB is "cacheSize": "5GB" there and CALOTYPE_CACHE_SIZE=5GB here. Of options \
            that may be repeated, all count. --check-config tells whether it makes sense.

            SECRETS, in variables of the environment
              CALOTYPE_SIGNATURE_KEYS  keys in hexadecimal, with commas between them: only addresses \
            that “calotype sign” signed with one of them are answered
              CALOTYPE_IMGPROXY_KEYS, CALOTYPE_IMGPROXY_SALT
                                       the same for addresses in the form of imgproxy
              CALOTYPE_PURGE_TOKENS    who knows one may DELETE what was made of a picture
            """)

    @Argument(help: "The folder to show.", completion: .directory)
    var directory: String

    @Option(help: "The address to listen at; 0.0.0.0 for every network.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen at; 0 for any free one.")
    var port = 8080

    @Option(
        help: "A socket of the file system to listen at, in place of an address and a port.",
        completion: .file())
    var socket: String?

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
        help: "How much memory pictures, tiles and answers may be kept in (default: 256MiB).",
        transform: parseByteCount)
    var memory = 256 << 20

    @Option(help: "What is said on standard error: trace, debug, info, warning or error.")
    var logLevel = Logger.Level.warning

    @Option(
        name: .customLong("config"),
        help: """
            A file of settings, as JSON: the options by their names, such as "cacheSize": "5GB". \
            What the environment and the command line say goes before it.
            """,
        completion: .file(extensions: ["json"]))
    var settingsFile: String?

    @Flag(help: "Check the configuration, print the maximum memory, and exit.")
    var checkConfig = false

    @OptionGroup var sandboxing: SandboxArguments
    @OptionGroup var serving: ServingArguments

    func validate() throws {
        guard 0...65_535 ~= port else { throw ValidationError("a port is from 0 to 65535") }
    }

    func run() async throws {
        var logger = Logger(label: "calotype") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = logLevel
        do throws(FileFailure) { try checkFolder(directory) } catch { throw stop("\(error)") }
        var configuration = try serverConfiguration()
        if checkConfig {
            _ = writeAll(Array(try checkedConfiguration().utf8), to: STDOUT_FILENO)
            return
        }
        if serving.metrics {
            let metrics = PrometheusMetrics()
            MetricsSystem.bootstrap(metrics)
            configuration.metrics = metrics
        }
        AllocatorLimits.set()
        // Before any worker is started: it gets limits of its own.
        let descriptorCount = DescriptorLimit.raise()
        let (codecs, sandbox) = try sandboxing.decoding(
            workerCount: processorCount(), usual: .sandbox,
            onStop: serving.metrics ? Self.countStops() : nil)
        defer { sandbox?.close() }
        try say(sandbox, logger)
        let web = try webAccess()
        let pipeline: ImagePipeline
        do throws(LoadError) {
            var loading = ImagePipeline.Configuration()
            let plan = memoryPlan
            configuration.tileByteLimit = plan.tileByteCount
            configuration.hotByteLimit = plan.hotByteCount
            configuration.outgoingByteLimit = plan.outgoingByteCount
            configuration.folderNameLimit = memory / 1024
            configuration.maximumConnectionCount =
                serving.connectionCount
                ?? DescriptorLimit.connectionCount(
                    descriptorCount: descriptorCount, processorCount: processorCount(),
                    memoryByteCount: memory)
            loading.memoryCacheByteLimit = plan.imageByteCount
            loading.memoryBudget = MemoryBudget(byteLimit: plan.pixelByteCount)
            loading.animatedRenditionPixelCount = serving.animationMegapixels * 1_000_000
            let folder =
                cacheDirectory
                ?? RenditionStore.defaultDirectory(
                    environment: environment(["XDG_CACHE_HOME", "HOME"]))
            loading.store = try RenditionStore(
                directory: folder, byteLimit: cacheSize, logger: logger)
            if let web {
                loading.web = HTTPLoader(
                    transport: web.signing,
                    store: try ResponseStore(
                        directory: "\(folder)/web", byteLimit: cacheSize, logger: logger),
                    codecs: codecs, configuration: web.configuration, logger: logger)
            }
            configuration.tileStore = try FolderTileStore(
                directory: "\(folder)/tiles", byteLimit: cacheSize)
            pipeline = ImagePipeline(codecs: codecs, configuration: loading, logger: logger)
        } catch {
            await web?.transport.close()
            throw stop("\(error)")
        }
        let server = ImageServer(configuration: configuration, pipeline: pipeline, logger: logger)
        let directory = directory
        do throws(ServerError) {
            try await server.run { address in
                // At once, also into a pipe: whoever started the server waits for this line.
                _ = writeAll(Array("Showing \(directory) at \(address)\n".utf8), to: STDOUT_FILENO)
            }
        } catch {
            await web?.transport.close()
            throw stop("\(error)")
        }
        await web?.transport.close()
    }

    /// What was asked for, as far as it makes sense before anything is begun.
    private func serverConfiguration() throws -> ImageServer.Configuration {
        var configuration = ImageServer.Configuration(
            directory: directory, codecs: builtInCodecs)
        configuration.host = host
        configuration.port = port
        configuration.socketPath = socket
        do throws(FileFailure) {
            configuration.listeningDescriptor = try inheritedSocket(
                environment(["LISTEN_PID", "LISTEN_FDS"]))
        } catch {
            throw stop("\(error)")
        }
        try serving.apply(to: &configuration, environment(ServingArguments.secrets))
        do throws(ServerError) { try configuration.check() } catch { throw stop("\(error)") }
        return configuration
    }

    /// Counts the decoding processes that were stopped, by the reason.
    private static func countStops() -> @Sendable (DecoderSandbox.StopReason) -> Void {
        let pairs = DecoderSandbox.StopReason.allCases.map { reason in
            let dimensions = [("reason", reason.rawValue)]
            return (reason, Counter(label: "calotype.decoder.stops", dimensions: dimensions))
        }
        let counters = Dictionary(pairs) { first, _ in first }
        return { counters[$0]?.increment() }
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

    private var memoryPlan: MemoryPlan {
        MemoryPlan(keptByteCount: memory, sourceLimit: serving.sourceLimit)
    }

    /// The result of `--check-config`.
    private func checkedConfiguration() throws -> String {
        let host = memoryPlan.hostByteCount(loadsFromWeb: try serving.webSources() != nil)
        let workers = sandboxing.totalMemoryByteCount(
            workerCount: processorCount(), usual: .sandbox)
        return "configuration is valid; maximum memory: \(host >> 20) MiB for the server, "
            + "\(workers >> 20) MiB for all workers together\n"
    }

    /// How originals on the web are asked for, if they are.
    private func webAccess() throws -> (
        transport: AsyncHTTPTransport, signing: any HTTPTransport,
        configuration: HTTPLoader.Configuration
    )? {
        guard let sources = try serving.webSources() else { return nil }
        var configuration = HTTPLoader.Configuration()
        configuration.allows = { sources.allows($0) }
        // Of what --memory allows, so that bodies take no more than pictures; a single one half of it.
        configuration.bodyBudget = BodyBudget(byteLimit: memoryPlan.bodyByteCount)
        configuration.maximumBodyByteCount =
            serving.sourceLimit ?? configuration.bodyBudget.bodyByteLimit
        // No answer shows a part of an original.
        configuration.maximumPreviewByteCount = 0
        // Before the server gives up, so that the client is told whose fault it is.
        configuration.totalTimeout = .seconds(serving.requestTimeout * 0.75)
        let credentials = try serving.credentials(environment(ServingArguments.secrets))
        let transport = AsyncHTTPTransport(addressGuard: try serving.addressGuard())
        guard let store = sources.objectStore, let credentials else {
            return (transport, transport, configuration)
        }
        let signing = S3Transport(
            transport, endpoint: store.endpoint, buckets: store.buckets, region: serving.s3Region,
            credentials: credentials)
        return (transport, signing, configuration)
    }

    private func stop(_ message: String) -> ExitCode {
        writeToStandardError("calotype: \(message)\n")
        return ExitCode(1)
    }

    private func environment(_ names: [String]) -> [String: String] {
        var variables: [String: String] = [:]
        for name in names {
            if let value = unsafe getenv(name) { variables[name] = unsafe String(cString: value) }
        }
        return variables
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}

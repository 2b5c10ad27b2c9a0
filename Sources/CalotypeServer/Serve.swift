// SPDX-License-Identifier: Apache-2.0

internal import AssetCatalogs
internal import LoadScheduling
internal import ImageCommands
public import ArgumentParser
internal import Glibc
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
        abstract: "Serves a folder of images over HTTP, with a gallery page for browsers.",
        discussion: """
            Prints the URL of the gallery page. The page shows the images of DIRECTORY and its \
            subfolders; the server encodes each at the size at which it is displayed. DIRECTORY is \
            never modified: renditions are stored in a cache of limited size. Ctrl-C stops the \
            server.

            ACCESS
              By default the server accepts connections from this computer only (--host \
            127.0.0.1), without a password. It answers requests whose Host is localhost or that of \
            --public-address; --allow-origin lists the web origins that may read responses. A \
            socket passed by systemd (LISTEN_FDS) overrides --host, --port and --socket.

            EXAMPLES
              calotype serve ~/Pictures
              calotype serve /srv/photos --host 0.0.0.0 --port 80
              calotype serve /srv/photos --formats avif,webp --cache-size 20GB

            URLS
              /house/1.jpg               the original file
              /house/512x512/1.jpg       the image inside a box of 512x512 pixels
              /house/300x200@2x,fill,q70,webp/1.jpg
                                         cropped to the box, at twice the density
              /house/512x512,ssim0.95/1.jpg
                                         at the lowest quality whose SSIM is at least 0.95
              /house/300x,still/1.gif    the first frame of an animation
              /iiif/3/house%2F1.jpg/…    the IIIF Image API, 3.0 or 2.1
              /tiles/house/1.jpg.dzi     Deep Zoom tiles
              /card/article?title=Hello  a card from the template article.json of --cards
              /assets/Toolbar/Share?scale=2
                                         an image of the catalog of --assets
              /sprite/128x128,fill/house a sprite sheet; ?as=json returns its index
              /info/house/1.jpg          format, size and metadata as JSON
              /placeholder/house/1.jpg   a placeholder of about 25 bytes
              /-/login, /-/share         with --password: a login, and links for guests
              /healthz, /readyz          liveness and readiness
              /-/openapi.json            the OpenAPI description of the routes

            SETTINGS
              Every option can also be set in the file of --config or in the environment: \
            --cache-size 5GB is "cacheSize": "5GB" in the file and CALOTYPE_CACHE_SIZE=5GB in the \
            environment. The command line overrides the environment, which overrides the file. \
            Values of repeatable options are combined. --check-config validates all of them.

            SECRETS, environment variables only
              CALOTYPE_SIGNATURE_KEYS  comma-separated keys in hexadecimal; only URLs signed with \
            one of them are answered (see "calotype sign")
              CALOTYPE_IMGPROXY_KEYS, CALOTYPE_IMGPROXY_SALT
                                       the same for imgproxy URLs
              CALOTYPE_PURGE_TOKENS    comma-separated bearer tokens that authorize DELETE \
            requests, which purge all renditions of an image
              CALOTYPE_REDIS_PASSWORD  the password of --redis
            """)

    @Argument(help: "The folder of images.", completion: .directory)
    var directory: String

    @Option(help: "The IP address to listen on; 0.0.0.0 accepts connections from every network.")
    var host = "127.0.0.1"

    @Option(help: "The TCP port to listen on; 0 selects a free port.")
    var port = 8080

    @Option(
        help: "The path of a Unix domain socket to listen on instead of --host and --port.",
        completion: .file())
    var socket: String?

    @Option(
        help: """
            The folder of the cache (default: $XDG_CACHE_HOME/calotype or ~/.cache/calotype).
            """,
        completion: .directory)
    var cacheDirectory: String?

    @Option(
        help: "The maximum size of each cache on disk, such as 500MB or 2GiB (default: 2GB).",
        transform: parseByteCount)
    var cacheSize = 2_000_000_000

    @Option(
        help: """
            The maximum memory of cached images, tiles and responses, such as 1GiB (default: \
            256MiB).
            """,
        transform: parseByteCount)
    var memory = 256 << 20

    @Option(help: "The least severe messages to log: trace, debug, info, notice, warning or error.")
    var logLevel = Logger.Level.warning

    @Option(
        name: .customLong("config"),
        help: """
            A JSON file of settings, named like options in camel case, such as "cacheSize": "5GB". \
            The environment and the command line override it.
            """,
        completion: .file(extensions: ["json"]))
    var settingsFile: String?

    @Flag(help: "Validate the configuration, print the maximum memory use, and exit.")
    var checkConfig = false

    @OptionGroup var sandboxing: SandboxArguments
    @OptionGroup var serving: ServingArguments

    func validate() throws {
        guard 0...65_535 ~= port else {
            throw ValidationError("invalid port: \(port); use a number from 0 to 65535")
        }
    }

    func run() async throws {
        var logger = Logger(label: "calotype") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = logLevel
        do throws(FileFailure) { try checkFolder(directory) } catch { throw failure("\(error)") }
        var configuration = try serverConfiguration()
        if checkConfig {
            do throws(FileFailure) { _ = try serving.passwordHash() } catch {
                throw failure("\(error)")
            }
            _ = writeAll(Array(try checkedConfiguration().utf8), to: STDOUT_FILENO)
            return
        }
        if serving.metrics {
            let metrics = PrometheusMetrics()
            MetricsSystem.bootstrap(metrics)
            configuration.metrics = metrics
        }
        AllocatorLimits.set()
        // Before workers start: they get limits of their own.
        setLimits(of: &configuration, descriptorCount: DescriptorLimit.raise())
        let (codecs, sandbox) = try sandboxing.decoding(
            workerCount: processorCount(), isShort: false, drawsCards: serving.cards != nil,
            onStop: serving.metrics ? Self.stopCounter() : nil)
        defer { sandbox?.close() }
        try logMissingLayers(of: sandbox, logger)
        let web = try webAccess()
        configuration.redis = try serving.redisAddress(environment(ServingArguments.secrets)).map {
            RedisClient($0, logger: logger)
        }
        let results = try resultAccess(configuration.redis, logger)
        let result: Result<Void, ExitCode>
        do throws(ExitCode) {
            result = .success(try await serve(configuration, codecs, web, results, logger))
        } catch { result = .failure(error) }
        await web?.transport.close()
        await results?.transport.close()
        try result.get()
    }

    /// Serves until the server is stopped.
    ///
    /// - Throws: `ExitCode`, after the reason was written to standard error.
    private func serve(
        _ configuration: ImageServer.Configuration, _ codecs: CodecSet, _ web: WebAccess?,
        _ results: ResultAccess?, _ logger: Logger
    ) async throws(ExitCode) {
        var configuration = configuration
        let pipeline: ImagePipeline
        do throws(LoadError) {
            pipeline = try makePipeline(codecs, web, results, logger)
            configuration.tileStore = try FolderTileStore(
                directory: "\(cacheFolder)/tiles", byteLimit: cacheSize)
        } catch {
            throw failure("\(error)")
        }
        do throws(FileFailure) {
            configuration.watermark = try serving.watermark.map { path throws(FileFailure) in
                Watermark(try overlayImage(path, codecs))
            }
        } catch {
            throw failure("\(error)")
        }
        do throws(FileFailure) {
            configuration.access = try serving.accessControl(cacheFolder: cacheFolder)
        } catch {
            throw failure("\(error)")
        }
        configuration.linkDirectory = cacheFolder
        if !serving.noLibrary { configuration.libraryDirectory = cacheFolder }
        let server = ImageServer(configuration: configuration, pipeline: pipeline, logger: logger)
        let directory = directory
        do throws(ServerError) {
            try await server.run { url in
                // Unbuffered: a parent process that reads a pipe waits for this line.
                _ = writeAll(Array("Serving \(directory) at \(url)\n".utf8), to: STDOUT_FILENO)
            }
        } catch {
            throw failure("\(error)")
        }
    }

    /// The configuration of the command line, validated before anything is started.
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
            throw failure("\(error)")
        }
        try serving.apply(to: &configuration, environment(ServingArguments.secrets))
        do throws(ServerError) {
            configuration.cards = try serving.cards.map(CardTemplates.init(directory:))
            try configuration.check()
        } catch {
            throw failure("\(error)")
        }
        do throws(AssetCatalogError) {
            configuration.assets = try serving.assets.map(ServedCatalog.init(mapping:))
        } catch {
            throw failure("--assets: \(error)")
        }
        // Their codec is refused elsewhere.
        guard configuration.cards == nil || sandboxing.mode != .noSandbox else {
            throw failure("--cards requires the sandbox; omit --no-sandbox")
        }
        guard configuration.cards == nil || builtInCodecs.codec(named: "card") != nil else {
            throw failure("--cards requires the trait Drawing, which was not built in")
        }
        return configuration
    }

    /// Counts the stops of worker processes by reason, as a metric.
    private static func stopCounter() -> @Sendable (DecoderSandbox.StopReason) -> Void {
        let pairs = DecoderSandbox.StopReason.allCases.map { reason in
            let dimensions = [("reason", reason.rawValue)]
            return (reason, Counter(label: "calotype.decoder.stops", dimensions: dimensions))
        }
        let counters = Dictionary(pairs) { first, _ in first }
        return { counters[$0]?.increment() }
    }

    /// Logs the layers of the sandbox that the kernel does not support.
    private func logMissingLayers(of sandbox: DecoderSandbox?, _ logger: Logger) throws {
        guard let sandbox else {
            logger.notice("images are decoded without a sandbox")
            return
        }
        let missing = Set(SandboxLayer.allCases).subtracting(try sandbox.layers())
        if missing.isEmpty { return }
        logger.notice(
            "sandbox incomplete: the kernel does not permit all of its layers",
            metadata: ["sandbox.missing": "\(missing.map(\.rawValue).sorted())"])
    }

    /// Writes a message to standard error and returns the exit code of a failure.
    private func failure(_ message: String) -> ExitCode {
        writeToStandardError("calotype: \(message)\n")
        return ExitCode(1)
    }

    /// The variables of these names that are set.
    func environment(_ names: [String]) -> [String: String] {
        var variables: [String: String] = [:]
        for name in names {
            if let value = unsafe getenv(name) { variables[name] = unsafe String(cString: value) }
        }
        return variables
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}

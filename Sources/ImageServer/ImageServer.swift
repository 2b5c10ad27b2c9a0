// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif
public import EncodedImages
internal import HTTPCaching
internal import HTTPTypes
internal import HummingbirdCore
internal import HummingbirdHTTP2
public import ImageLoading
internal import LoadScheduling
public import Logging
internal import NIOCore
internal import ServiceLifecycle
internal import UnixSignals

/// Answers the pictures of a folder over HTTP, at any size, and a page to look at them.
///
/// - `GET /house/1.jpg`: the original, also in parts.
/// - `GET /house/512x512/1.jpg`: the picture fitted into 512×512 pixels, never enlarged. The size
///   stands before the file's name, also when a folder of that name exists.
/// - `GET /tiles/house/1.jpg.dzi`, `/info/house/1.jpg`, `/placeholder/house/1.jpg` and
///   `/sprite/64x64/house`: what else is made of pictures; `Documentation/serving.md` has it all.
/// - `GET /iiif/3/house%2F1.jpg/…`: as the IIIF Image API says.
/// - `GET /-/listing/house`: the folder's pictures with their sizes, as JSON.
/// - `GET /` and `GET /-/gallery/…`: the page.
/// - `GET /healthz`: whether the server runs, answered without waiting for any picture.
/// - `GET /readyz`: whether it takes work, answered in the same way.
/// - `GET /-/openapi.json`: what OpenAPI says of all of them.
///
/// A file or folder that is itself named `-`, `healthz`, `readyz`, `metrics`, `iiif`, `tiles`, `info`,
/// `placeholder` or `sprite`, directly in the folder that is served, is hidden by these. So are,
/// anywhere, names that begin with a dot or contain a backslash.
public struct ImageServer: Sendable {
    public struct Configuration: Sendable {
        /// The folder that is served.
        public var directory: String
        public var host = "127.0.0.1"
        /// 0 for any free one.
        public var port = 8080
        /// Where a socket of the file system is made to listen at in place of host and port, if
        /// anywhere; one that was left there is replaced.
        public var socketPath: String?
        /// A socket that listens already, in place of both; it is closed at the end.
        public var listeningDescriptor: CInt?
        /// By what the server shows who it is; without it connections are not encrypted.
        public var tls: TLSFiles?
        /// The largest width or height in pixels that a rendition may be asked for.
        public var maximumSide = 8_192
        /// The sizes that renditions are made in.
        public var sizes = SizeLadder.quarters
        /// The names of formats that clients get if they ask for them in `Accept`, the best first.
        ///
        /// Other clients get JPEG, PNG for what has alpha, or GIF for what moves.
        public var negotiatedFormatNames: [String] = []
        /// The `EncodedImages/EncodeOptions/targetSSIM` of pictures whose addresses say nothing of
        /// their quality; `nil` for the usual quality.
        public var targetSSIM: Double?
        /// Whether `Sec-CH-DPR`, `Sec-CH-Width`, `Sec-CH-Viewport-Width`, `ECT` and `Save-Data` have a
        /// say in what the address of a rendition leaves open.
        public var usesClientHints = false
        /// What keeps the tiles of large pictures; `nil` to keep those of the last pictures in memory.
        public var tileStore: (any TileStore)?
        /// Keys of at least 32 bytes; if there are any, only addresses that are signed with one of them
        /// are answered, and neither the page nor listings are.
        public var signatureKeys: [[UInt8]] = []
        /// Whether addresses in the form of imgproxy are answered, and how they are signed.
        public var imgproxy: ImgproxyKeys?
        /// Which originals on the web addresses in the form of imgproxy may name; `nil` for none.
        public var webSources: WebSources?
        /// Options by names that stand for them in an address, such as `512x512,fill,q70`.
        public var presets: [String: String] = [:]
        /// Options by the names of devices, such as `rgb565,fill`, which count where an address that
        /// names the device leaves them open.
        public var devices: [String: String] = [:]
        /// Whether renditions are made by presets alone.
        public var allowsPresetsOnly = false
        /// Secrets by which everything that was made of a picture may be removed.
        public var purgeTokens: [String] = []
        /// Pictures that one client may ask for each second; `nil` for any number.
        public var clientRate: Double?
        /// The origins whose pages may read answers, such as `https://viewer.example`, or `*` for all.
        ///
        /// Without one, those of all origins may if others than this computer can reach the server, or
        /// if it has a ``publicAddress``; otherwise those of none may.
        public var allowedOrigins: [String] = []
        /// Whether addresses of the server's own form are answered without a signature although
        /// those in the form of imgproxy are signed.
        public var allowsUnsigned = false
        /// The maximum number of connections of all clients together.
        public var maximumConnectionCount = 1_024
        /// The maximum number of bytes of answers that wait for clients to read them.
        public var outgoingByteLimit = 64 << 20
        /// The time after which a connection is closed whose client reads nothing.
        public var writeTimeout = Duration.seconds(30)
        /// The maximum number of pixels of a picture that is enlarged, unless the original has more.
        public var maximumEnlargedPixelCount = 8_400_000
        /// The maximum number of pixels of a picture with blur, with a quality that is searched for,
        /// or in AVIF, JPEG XL or WebP.
        public var maximumSlowPixelCount = 16_800_000
        /// The maximum number of names of files that are remembered, of all folders together.
        public var folderNameLimit = 250_000
        /// Bytes of renditions that are kept in memory as they were sent.
        public var hotByteLimit = 32 << 20
        /// Bytes of decoded tiles that are kept in memory.
        public var tileByteLimit = 64 << 20
        /// What `/metrics` answers; `nil` for nothing.
        public var metrics: PrometheusMetrics?
        /// Where the world finds the server, such as `https://pictures.example`; `nil` for where it
        /// was asked.
        public var publicAddress: String?
        /// The formats of the files that are served.
        let formats: [ImageFormat]
        /// Those of them that can be written.
        let writableFormats: [ImageFormat]
        /// The names of those of them whose files may move.
        let animationFormatNames: Set<String>
        /// Those in which whoever accepts them plays animations, too.
        ///
        /// Of AVIF and JPEG XL some browsers that accept them show the first frame.
        static let playedFormatNames: Set = ["webp"]
        /// How long requests in flight may take when the server is told to stop.
        public var stopTimeout = Duration.seconds(10)
        /// How long it may take until the answer to a request for a picture begins.
        public var requestTimeout = Duration.seconds(60)
        /// After how long without a request a connection is closed.
        public var idleTimeout = Duration.seconds(60)

        /// - Parameters:
        ///   - directory: the folder that is served.
        ///   - codecs: the formats of the files that are served.
        public init(directory: String, codecs: CodecSet) {
            self.directory = directory
            formats = codecs.codecs.map(\.format)
            writableFormats = codecs.codecs.filter { $0.encoder != nil }.map(\.format)
            animationFormatNames = Set(
                codecs.codecs.filter { $0.encoder is any AnimationEncoder }.map(\.format.name))
        }

        /// The names of formats that can be written, by themselves and by file name extensions.
        var formatNames: [String: String] {
            Dictionary(
                writableFormats.flatMap { format in
                    ([format.name] + format.extensions).map { ($0, format.name) }
                }, uniquingKeysWith: { first, _ in first })
        }

        /// The headers that may have a say in what a rendition is.
        var varyingNames: [HTTPField.Name] {
            (negotiatedFormats.isEmpty ? [] : [.accept])
                + (usesClientHints ? ClientHints.names.compactMap { HTTPField.Name($0) } : [])
        }

        /// Whether pictures can be written in a format, by its name or a file name extension.
        public func canWrite(format: String) -> Bool {
            writableFormats.contains { $0.isNamed(format) }
        }

        /// Whether there is a folder to serve, and all presets, devices and the certificate make sense;
        /// ``ImageServer`` asks, too.
        ///
        /// - Throws: ``ServerError`` with what does not.
        public func check() throws(ServerError) {
            _ = try PhotoDirectory(directory)
            _ = try presetOptions()
            _ = try tls?.read()
        }

        /// What the names of presets stand for, once it is known that devices make sense.
        func presetOptions() throws(ServerError) -> [String: PictureOptions] {
            for (name, text) in devices {
                _ = try segment("1x1,\(text)", of: "the device \(name)", devices: [:])
            }
            var options: [String: PictureOptions] = [:]
            for (name, text) in presets {
                guard
                    let segment = try segment(text, of: "the preset \(name)", devices: devices)
                else {
                    throw .malformedRequest(
                        reason: "the preset \(name) does not begin with a size: \(text)")
                }
                options[name] = segment.options
            }
            return options
        }

        private func segment(
            _ text: String, of setting: String, devices: [String: String]
        ) throws(ServerError) -> SizeSegment? {
            do throws(ServerError) {
                return try SizeSegment(
                    text, maximumSide: maximumSide, formats: formatNames, devices: devices)
            } catch {
                throw .malformedRequest(reason: "\(setting): \(error)")
            }
        }

        /// Whether pictures in a format, by its name, go into the memory of a display as they are.
        func isForDisplays(_ format: String?) -> Bool {
            writableFormats.contains { $0.isForDisplays && $0.name == format }
        }

        /// File name extensions, in lower case, of the files that a listing shows.
        var pictureExtensions: Set<String> { Set(formats.flatMap(\.extensions)) }

        var negotiatedFormats: [ImageFormat] {
            negotiatedFormatNames.compactMap { name in
                writableFormats.first { $0.isNamed(name) }
            }
        }
    }

    /// Where connections are taken.
    enum ListeningPlace: Sendable {
        case network(host: String, port: Int)
        case path(String)
        case descriptor(CInt)
    }

    private let configuration: Configuration
    private let pipeline: ImagePipeline
    private let tileImages: TileImages
    private let sheets: MemoryBudget
    private let limiter: ClientLimiter?
    private let hot: HotRenditions
    private let connections: OpenConnections
    private let outgoing: OutgoingBytes
    private let slowWork: FairQueue
    private let usualWork: FairQueue
    private let folderWork: FairQueue
    private let logger: Logger

    /// - Parameters:
    ///   - configuration: what is served, and where.
    ///   - pipeline: makes the renditions; ``run(onListening:)`` closes it at the end.
    ///   - logger: gets one line at `debug` for each request that is refused.
    public init(configuration: Configuration, pipeline: ImagePipeline, logger: Logger) {
        self.configuration = configuration
        self.pipeline = pipeline
        hot = HotRenditions(byteLimit: configuration.hotByteLimit)
        sheets = MemoryBudget(byteLimit: pipeline.budget.byteLimit / 4)
        limiter = configuration.clientRate.map {
            ClientLimiter(rate: $0, burst: max(1, Int($0 * 10)))
        }
        let count = max(1, configuration.maximumConnectionCount)
        connections = OpenConnections(limit: count, clientLimit: max(32, count / 4))
        // Half of what can run at a time, so that slow work leaves the other half to the rest.
        let half = max(1, System.coreCount / 2)
        slowWork = FairQueue(width: half, maximumWaitingCount: 256)
        usualWork = FairQueue(
            width: max(32, System.coreCount * 8), maximumWaitingCount: 4_096)
        folderWork = FairQueue(width: half, maximumWaitingCount: 256)
        outgoing = OutgoingBytes(
            byteLimit: configuration.outgoingByteLimit, streamLimit: count)
        tileImages = TileImages(
            pipeline.codecs, pipeline.limits, store: configuration.tileStore,
            byteLimit: configuration.tileByteLimit, pipeline.budget)
        self.logger = logger
    }

    /// Serves until the process gets SIGTERM or SIGINT; then requests in flight end, for at most
    /// ``Configuration/stopTimeout``, and the pipeline is closed.
    ///
    /// - Parameter onListening: gets the address, such as `http://127.0.0.1:8080/` or
    ///   `unix:/run/calotype/http.sock`, once connections are taken.
    /// - Throws: ``ServerError`` if it cannot listen, or if there is no folder to serve.
    public func run(
        onListening: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws(ServerError) {
        try await run(
            serviceGroup(stoppingOn: [.sigterm, .sigint], onListening: onListening))
    }

    /// Runs to the end of a group made by ``serviceGroup(stoppingOn:onListening:)``.
    func run(_ group: ServiceGroup) async throws(ServerError) {
        let memory = MemoryPressure { [pipeline, tileImages] in
            tileImages.respond(to: $0)
            pipeline.respond(to: $0)
        }
        defer { memory.stop() }
        let failure: (any Error)?
        do {
            try await group.run()
            failure = nil
        } catch {
            failure = error
        }
        await tileImages.close()
        await pipeline.close()
        if failure == nil, case .path(let path) = place { unsafe _ = unlink(path) }
        switch failure {
        // Stopped, if not in the time that it was given.
        case nil, is CancellationError: return
        case let error as ServerError: throw error
        case let error?: throw cannotListen(error)
        }
    }

    private func cannotListen(_ error: any Error) -> ServerError {
        let reason = Self.reason(error)
        switch place {
        case .network(let host, let port):
            return (error as? IOError)?.errnoCode == EADDRINUSE
                ? .addressInUse(host: host, port: port)
                : .cannotListen(host: host, port: port, reason: reason)
        case .path(let path): return .cannotListenAtSocket(path: path, reason: reason)
        case .descriptor:
            return .cannotListenAtSocket(path: "the socket that was handed on", reason: reason)
        }
    }

    private var place: ListeningPlace {
        if let descriptor = configuration.listeningDescriptor { return .descriptor(descriptor) }
        if let path = configuration.socketPath { return .path(path) }
        return .network(host: configuration.host, port: configuration.port)
    }

    /// What the system says, without the words of those in between.
    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as IOError:
            unsafe strerror(error.errnoCode).map { unsafe String(cString: $0) } ?? "\(error)"
        case let error as SocketAddressError.UnknownHost: error.errorDescription
        default: "\(error)"
        }
    }

    func serviceGroup(
        stoppingOn signals: [UnixSignal],
        onListening: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(ServerError) -> ServiceGroup {
        // What the services say of errors is thrown as well; once is enough.
        var logger = logger
        if logger.logLevel > .debug { logger.logLevel = .critical }
        let services = try services(responder(), logger, onListening)
        var group = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: signals, logger: logger)
        group.maximumGracefulShutdownDuration = configuration.stopTimeout
        return ServiceGroup(configuration: group)
    }

    /// What takes connections and hands their requests to `responder`.
    private func services(
        _ responder: ImageResponder, _ logger: Logger,
        _ onListening: @escaping @Sendable (String) -> Void
    ) throws(ServerError) -> [any Service] {
        let respond: HTTPChannelHandler.Responder = { [outgoing] request, writer, channel in
            var response = await responder.respond(to: request, over: channel)
            // An original comes in pieces, of which few are in memory.
            let isOriginal = response.headers[.acceptRanges] != nil
            let byteCount = isOriginal ? 0 : response.body.contentLength ?? 0
            var hold: OutgoingBytes.Hold?
            if byteCount > OutgoingBytes.freeByteCount {
                hold = outgoing.hold(byteCount)
                if hold == nil { response = ErrorResponse(LoadError.queueFull).response }
            }
            response.headers[.date] = HTTPDate.now.text
            let closes = response.headers[.connection] == "close"
            // HTTP/2 has no such field (RFC 9113, 8.2.2); there the stream belongs to a connection.
            if channel.parent?.parent != nil { response.headers[.connection] = nil }
            try await writer.write(response: response.head, body: response.body)
            if let hold { channel.whenSent { withExtendedLifetime(hold) {} } }
            if closes {
                try await channel.untilSent()
                throw ServerError.tooManyConnections
            }
        }
        let idleTimeout = TimeAmount(configuration.idleTimeout)
        let writeTimeout = TimeAmount(configuration.writeTimeout)
        let http1 = HTTP1Channel.Configuration(
            additionalChannelHandlers: [
                ConnectionHandler(
                    idleTimeout: idleTimeout, writeTimeout: writeTimeout,
                    answer: responder.readyAnswers()),
                HangUpHandler(),
            ])
        let listening = { @Sendable [place, isSecure = configuration.tls != nil] in
            onListening(Self.address(of: $0, at: place, isSecure: isSecure))
        }
        guard let files = configuration.tls else {
            let connection = HTTP1Channel(responder: respond, configuration: http1)
            return [
                Listener(
                    place: place, connection: connection, connections: self.connections,
                    onListening: listening, logger: logger)
            ]
        }
        let connections = try TLSConnections(
            files,
            HTTP2ChannelConfiguration(
                idleTimeout: configuration.idleTimeout,
                gracefulCloseTimeout: configuration.stopTimeout, streamConfiguration: http1),
            handshakeTimeout: idleTimeout, logger: self.logger, responder: respond)
        let listener = Listener(
            place: place, connection: connections, connections: self.connections,
            onListening: listening, logger: logger)
        return [connections, listener]
    }

    /// What to open in a browser, or where the socket is.
    private static func address(
        of channel: any Channel, at place: ListeningPlace, isSecure: Bool
    ) -> String {
        let local = channel.localAddress
        guard let port = local?.port else { return "unix:\(local?.pathname ?? "")" }
        let host =
            if case .network(let host, _) = place { host } else { local?.ipAddress ?? "" }
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(isSecure ? "https" : "http")://\(name):\(port)/"
    }

    /// What answers requests, without a network.
    func responder() throws(ServerError) -> ImageResponder {
        let photos = try PhotoDirectory(configuration.directory)
        let presets = try configuration.presetOptions()
        return ImageResponder(
            photos: photos,
            folders: FolderReader(
                photos, extensions: configuration.pictureExtensions,
                maximumNameCount: configuration.folderNameLimit),
            pipeline: pipeline, tileImages: tileImages, configuration: configuration,
            formatNames: configuration.formatNames, presets: presets, sheets: sheets,
            limiter: limiter, hot: hot, varyingNames: configuration.varyingNames, logger: logger,
            pageGuard: PageGuard(configuration), connections: connections, outgoing: outgoing,
            slowWork: slowWork, usualWork: usualWork, folderWork: folderWork)
    }
}

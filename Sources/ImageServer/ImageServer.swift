// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import HummingbirdCore
#if HTTPS
internal import HummingbirdHTTP2
#endif
public import ImageLoading
public import Logging
internal import NIOCore
internal import ServiceLifecycle
internal import UnixSignals

/// An HTTP server for the images of a folder in any size, with a gallery page.
///
/// - `GET /house/1.jpg`: an original, also in ranges.
/// - `GET /house/512x512/1.jpg`: the image fitted into 512×512 pixels, never enlarged. The segment
///   before the file name is a size even if a folder of that name exists.
/// - `GET /tiles/house/1.jpg.dzi`, `/info/house/1.jpg`, `/placeholder/house/1.jpg` and
///   `/sprite/64x64/house`: other data derived from images; see `Documentation/serving.md`.
/// - `GET /iiif/3/house%2F1.jpg/…`: the IIIF Image API.
/// - `GET /-/listing/house`: the images of a folder with their sizes, as JSON.
/// - `GET /` and `GET /-/gallery/…`: the gallery page.
/// - `GET /healthz`: whether the server runs; it never waits for images.
/// - `GET /readyz`: whether the server accepts work; it never waits for images.
/// - `GET /-/openapi.json`: the OpenAPI description of the routes.
///
/// Top-level files and folders named `-`, `healthz`, `readyz`, `metrics`, `iiif`, `tiles`, `info`,
/// `placeholder` or `sprite` are hidden. Names that begin with a dot or contain a backslash are hidden
/// everywhere.
public struct ImageServer: Sendable {
    private let configuration: Configuration
    private let pipeline: ImagePipeline
    private let state: ServerState
    private let logger: Logger

    /// Creates a server, which starts to listen in ``run(onListening:)``.
    ///
    /// - Parameters:
    ///   - configuration: the settings.
    ///   - pipeline: the pipeline that makes the renditions; ``run(onListening:)`` closes it at the end.
    ///   - logger: receives one line at `debug` for each rejected request.
    public init(configuration: Configuration, pipeline: ImagePipeline, logger: Logger) {
        self.configuration = configuration
        self.pipeline = pipeline
        self.logger = logger
        state = ServerState(configuration, pipeline)
    }

    /// Serves until SIGTERM or SIGINT, then completes the requests in flight, for at most
    /// ``Configuration/stopTimeout``, and closes the pipeline.
    ///
    /// - Parameter onListening: receives the URL, such as `http://127.0.0.1:8080/` or
    ///   `unix:/run/calotype/http.sock`, when the server accepts connections.
    /// - Throws: ``ServerError`` if the server cannot listen, or the configuration is invalid.
    public func run(
        onListening: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws(ServerError) {
        try await run(
            serviceGroup(stoppingOn: [.sigterm, .sigint], onListening: onListening))
    }

    /// Runs a group made by ``serviceGroup(stoppingOn:onListening:)`` to its end.
    func run(_ group: ServiceGroup) async throws(ServerError) {
        let memory = MemoryPressure { [pipeline, tileImages = state.tileImages] in
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
        await state.tileImages.close()
        await pipeline.close()
        if failure == nil, case .unixSocket(let path) = configuration.bindAddress {
            unsafe _ = unlink(path)
        }
        switch failure {
        // The requests in flight exceeded the stop timeout.
        case nil, is CancellationError: return
        case let error as ServerError: throw error
        case let error?: throw cannotListen(error)
        }
    }

    private func cannotListen(_ error: any Error) -> ServerError {
        let reason = Self.reason(error)
        switch configuration.bindAddress {
        case .network(let host, let port):
            return (error as? IOError)?.errnoCode == EADDRINUSE
                ? .addressInUse(host: host, port: port)
                : .cannotListen(host: host, port: port, reason: reason)
        case .unixSocket(let path): return .cannotListenAtSocket(path: path, reason: reason)
        case .descriptor:
            return .cannotListenAtSocket(path: "the inherited socket", reason: reason)
        }
    }

    /// The message of the system, without the prefixes that SwiftNIO adds.
    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as IOError:
            unsafe strerror(error.errnoCode).map { unsafe String(cString: $0) } ?? "\(error)"
        case let error as SocketAddressError.UnknownHost: error.errorDescription
        default: "\(error)"
        }
    }

    /// Returns the services of the server, which stop on `signals`.
    ///
    /// - Throws: ``ServerError`` if the configuration is invalid.
    func serviceGroup(
        stoppingOn signals: [UnixSignal],
        onListening: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(ServerError) -> ServiceGroup {
        // The services log their errors and throw them; logging them here would repeat them.
        var logger = logger
        if logger.logLevel > .debug { logger.logLevel = .critical }
        let parts = try parts()
        var services = try services(requestHandler(parts), logger, onListening)
        if let redis = configuration.redis {
            // First, since services stop in the reverse order.
            services.insert(RedisService(redis: redis, purging: parts.purging), at: 0)
        }
        if let library = parts.library { services.append(LibraryService(library: library)) }
        var group = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: signals, logger: logger)
        group.maximumGracefulShutdownDuration = configuration.stopTimeout
        return ServiceGroup(configuration: group)
    }

    /// Returns the services that accept connections and pass their requests to `handler`.
    private func services(
        _ handler: RequestHandler, _ logger: Logger,
        _ onListening: @escaping @Sendable (String) -> Void
    ) throws(ServerError) -> [any Service] {
        let respond = handler.responder
        let idleTimeout = TimeAmount(configuration.idleTimeout)
        let writeTimeout = TimeAmount(configuration.writeTimeout)
        let http1 = HTTP1Channel.Configuration(
            additionalChannelHandlers: [
                ConnectionHandler(
                    idleTimeout: idleTimeout, writeTimeout: writeTimeout,
                    readyResponse: handler.readyResponses()),
                HangUpHandler(),
            ])
        let address = configuration.bindAddress
        let listening = { @Sendable [isSecure = configuration.tls != nil] in
            onListening(Self.url(of: $0, at: address, isSecure: isSecure))
        }
        guard let files = configuration.tls else {
            let connection = HTTP1Channel(responder: respond, configuration: http1)
            return [
                Listener(
                    address: address, connection: connection, connections: state.connections,
                    onListening: listening, logger: logger)
            ]
        }
        #if HTTPS
        let connections = try TLSConnections(
            files,
            HTTP2ChannelConfiguration(
                idleTimeout: configuration.idleTimeout,
                gracefulCloseTimeout: configuration.stopTimeout, streamConfiguration: http1),
            handshakeTimeout: idleTimeout, logger: self.logger, responder: respond)
        let listener = Listener(
            address: address, connection: connections, connections: state.connections,
            onListening: listening, logger: logger)
        return [connections, listener]
        #else
        try files.check()
        return []
        #endif
    }

    /// The URL of a listening socket, or `unix:` with its path.
    private static func url(
        of channel: any Channel, at address: BindAddress, isSecure: Bool
    ) -> String {
        let local = channel.localAddress
        guard let port = local?.port else { return "unix:\(local?.pathname ?? "")" }
        let host =
            if case .network(let host, _) = address { host } else { local?.ipAddress ?? "" }
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(isSecure ? "https" : "http")://\(name):\(port)/"
    }

    /// Returns the handler of requests, which needs no network.
    ///
    /// - Throws: ``ServerError`` if the folder does not exist, or a preset or device is invalid.
    func requestHandler() throws(ServerError) -> RequestHandler {
        requestHandler(try parts())
    }

    /// Returns what the routes are made of.
    ///
    /// - Throws: ``ServerError`` if the folder does not exist, or a preset or device is invalid.
    func parts() throws(ServerError) -> ServerServices {
        try ServerServices(configuration, state, logger)
    }

    /// Returns the handler of requests with these parts.
    func requestHandler(_ services: ServerServices) -> RequestHandler {
        RequestHandler(
            routes: RouteTable(services),
            admission: RequestAdmission(
                pageGuard: services.pageGuard, signatures: configuration.signatureRule,
                access: configuration.access, links: services.links),
            connections: state.connections, limiter: state.limiter,
            timeout: configuration.requestTimeout, hot: state.hot, outgoing: state.outgoing,
            logger: logger)
    }
}

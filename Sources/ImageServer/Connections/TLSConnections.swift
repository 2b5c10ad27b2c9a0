// SPDX-License-Identifier: Apache-2.0

#if HTTPS
internal import EncodedImages
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import HummingbirdCore
internal import HummingbirdHTTP2
internal import Logging
internal import NIOCore
internal import NIOSSL
internal import NIOTLS
internal import ServiceLifecycle
internal import Synchronization
internal import UnixSignals

extension TLSFiles {
    /// Reads both files.
    ///
    /// - Returns: a configuration for TLS 1.2 and newer.
    /// - Throws: ``ServerError/badCertificate(path:reason:)`` for an unreadable or invalid file, or a
    ///   key that does not match the certificate.
    func read() throws(ServerError) -> TLSConfiguration {
        let chain = try? NIOSSLCertificate.fromPEMFile(certificates)
        guard let chain, !chain.isEmpty else {
            throw Self.unusable(certificates, "no PEM certificate in the file")
        }
        guard let key = try? NIOSSLPrivateKey(file: privateKey, format: .pem) else {
            throw Self.unusable(privateKey, "no PEM private key in the file")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        guard (try? NIOSSLContext(configuration: configuration)) != nil else {
            throw .badCertificate(
                path: privateKey,
                reason: "the private key does not match the certificate in \(certificates)")
        }
        return configuration
    }

    /// The error for an unusable file: the system's message, otherwise `reason`.
    private static func unusable(_ path: String, _ reason: String) -> ServerError {
        .badCertificate(
            path: path, reason: unsafe access(path, R_OK) == 0 ? reason : systemError(errno))
    }
}

/// Sets up TLS connections with HTTP/2 or HTTP/1.1, as negotiated with the client.
///
/// New connections use the certificate that was read last, so that it can be renewed without a
/// restart.
///
/// Lock: held while the current channel configuration is read or replaced.
final class TLSConnections: ServerChildChannel, Service {
    typealias Value = HTTP2UpgradeChannel.Value

    private let files: TLSFiles
    private let configuration: HTTP2UpgradeChannel.Configuration
    private let responder: HTTPChannelHandler.Responder
    private let handshakeTimeout: TimeAmount
    private let logger: Logger
    private let current: Mutex<HTTP2UpgradeChannel>

    init(
        _ files: TLSFiles, _ configuration: HTTP2UpgradeChannel.Configuration,
        handshakeTimeout: TimeAmount, logger: Logger,
        responder: @escaping HTTPChannelHandler.Responder
    ) throws(ServerError) {
        self.files = files
        self.configuration = configuration
        self.handshakeTimeout = handshakeTimeout
        self.responder = responder
        self.logger = logger
        current = Mutex(try Self.channel(files, configuration, responder))
    }

    private static func channel(
        _ files: TLSFiles, _ configuration: HTTP2UpgradeChannel.Configuration,
        _ responder: @escaping HTTPChannelHandler.Responder
    ) throws(ServerError) -> HTTP2UpgradeChannel {
        let read = try files.read()
        do {
            return try HTTP2UpgradeChannel(
                tlsConfiguration: read, configuration: configuration, responder: responder)
        } catch {
            throw .badCertificate(path: files.certificates, reason: "\(error)")
        }
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let connection = current.withLock(\.self).setup(channel: channel, logger: logger)
        do {
            let pipeline = channel.pipeline.syncOperations
            let encryption = try pipeline.handler(type: NIOSSLServerHandler.self)
            try pipeline.addHandler(
                HandshakeDeadline(handshakeTimeout), position: .after(encryption))
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return connection
    }

    func handle(value: Value, logger: Logger) async {
        await current.withLock(\.self).handle(value: value, logger: logger)
    }

    /// Reads the files again; keeps the current certificate if they are invalid.
    func renew() {
        do throws(ServerError) {
            let renewed = try Self.channel(files, configuration, responder)
            current.withLock { $0 = renewed }
            logger.notice("reloaded the certificate")
        } catch {
            logger.error("failed to reload the certificate", metadata: ["error": "\(error)"])
        }
    }

    /// Reads the files again on each SIGHUP.
    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        for await _ in signals.cancelOnGracefulShutdown() { renew() }
    }
}

/// Closes a connection whose TLS handshake does not complete in time.
///
/// The handlers with other timeouts are added after the handshake.
final class HandshakeDeadline: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let timeout: TimeAmount
    private var end: Scheduled<Void>?

    init(_ timeout: TimeAmount) { self.timeout = timeout }

    func handlerAdded(context: ChannelHandlerContext) {
        end = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) {
            context.close(promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { end?.cancel() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { end?.cancel() }
        context.fireUserInboundEventTriggered(event)
    }
}
#endif

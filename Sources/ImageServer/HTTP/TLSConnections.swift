// SPDX-License-Identifier: Apache-2.0

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

/// By what a server shows who it is, in two files of PEM.
public struct TLSFiles: Sendable, Hashable {
    /// The server's own certificate, then those of whoever signed it.
    public var certificates: String
    public var privateKey: String

    public init(certificates: String, privateKey: String) {
        self.certificates = certificates
        self.privateKey = privateKey
    }

    /// What is in the files.
    ///
    /// - Returns: settings that clients with TLS 1.2 or newer get on with.
    /// - Throws: ``ServerError/badCertificate(path:reason:)`` for a file that is none of its kind, or
    ///   a key of another certificate.
    func read() throws(ServerError) -> TLSConfiguration {
        let chain = try? NIOSSLCertificate.fromPEMFile(certificates)
        guard let chain, !chain.isEmpty else {
            throw Self.unusable(certificates, "no certificates in a file of PEM")
        }
        guard let key = try? NIOSSLPrivateKey(file: privateKey, format: .pem) else {
            throw Self.unusable(privateKey, "no private key in a file of PEM")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        guard (try? NIOSSLContext(configuration: configuration)) != nil else {
            throw .badCertificate(
                path: privateKey, reason: "not the key of the certificate in \(certificates)")
        }
        return configuration
    }

    /// What is wrong with a file: what the system says of it, else what is not in it.
    private static func unusable(_ path: String, _ lack: String) -> ServerError {
        .badCertificate(
            path: path, reason: unsafe access(path, R_OK) == 0 ? lack : systemError(errno))
    }
}

/// Connections over TLS, by HTTP/2 or HTTP/1.1 as the client likes.
///
/// New ones show the certificate that was read last: one that is renewed takes no stop of the server.
/// A lock: held while the connections' maker is read or replaced.
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

    /// Reads the files again; what makes no sense is not taken.
    func renew() {
        do throws(ServerError) {
            let renewed = try Self.channel(files, configuration, responder)
            current.withLock { $0 = renewed }
            logger.notice("the certificate was read again")
        } catch {
            logger.error("the certificate was not read again", metadata: ["error": "\(error)"])
        }
    }

    /// Reads the files again whenever the process gets SIGHUP.
    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        for await _ in signals.cancelOnGracefulShutdown() { renew() }
    }
}

/// Closes a connection on which nobody agrees on how to encrypt it; those behind know of none yet.
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

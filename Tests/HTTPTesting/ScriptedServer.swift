// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// A local server that sends the bytes a test specifies.
public final class ScriptedServer: Sendable {
    /// The state of the connection after a response.
    public enum End: Sendable {
        /// Stays open.
        case stays
        /// Closes the connection.
        case closes
        /// Closes without FIN, as a failing machine does.
        case resets
    }

    /// A scripted response.
    public struct Answer: Sendable {
        /// Head and body as sent over the network.
        public var bytes: [UInt8]
        /// The state of the connection afterwards.
        public var end = End.stays

        /// Creates a response from raw bytes.
        public init(_ bytes: [UInt8], _ end: End = .stays) {
            self.bytes = bytes
            self.end = end
        }

        /// Creates a response from text in UTF-8.
        public init(text: String, closes: Bool = false) {
            self.init(Array(text.utf8), closes ? .closes : .stays)
        }
    }

    private let group = MultiThreadedEventLoopGroup.singleton
    /// The base URL of the server.
    public let address: String
    private let channel: any Channel
    private let log: ServerLog

    /// Starts the server on a free port.
    ///
    /// - Parameter handler: returns the response to the head of a request and the number of earlier
    ///   requests; `nil` to send none.
    /// - Throws: the system's error if the server cannot listen.
    public init(_ handler: @escaping @Sendable (String, Int) -> Answer?) async throws {
        let log = ServerLog()
        self.log = log
        channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        ScriptedConnection(log: log, handler: handler))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        address = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)"
    }

    /// The heads of all requests.
    public var requests: [String] { log.requests.withLock { $0 } }
    /// The number of accepted connections.
    public var acceptedCount: Int { log.acceptedCount.withLock { $0 } }
    /// The number of open connections.
    public var openCount: Int { log.open.withLock { $0.count } }

    /// Sends bytes on all open connections.
    public func send(_ bytes: [UInt8]) {
        for channel in log.open.withLock({ Array($0.values) }) {
            channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
        }
    }

    /// Stops listening.
    public func close() async throws { try await channel.close() }
}

private final class ServerLog: Sendable {
    let requests = Mutex<[String]>([])
    let open = Mutex<[ObjectIdentifier: any Channel]>([:])
    let acceptedCount = Mutex(0)
}

private final class ScriptedConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let log: ServerLog
    private let handler: @Sendable (String, Int) -> ScriptedServer.Answer?
    private var received = ""

    init(log: ServerLog, handler: @escaping @Sendable (String, Int) -> ScriptedServer.Answer?) {
        self.log = log
        self.handler = handler
    }

    func channelActive(context: ChannelHandlerContext) {
        let channel = context.channel
        log.open.withLock { $0[ObjectIdentifier(channel)] = channel }
        log.acceptedCount.withLock { $0 += 1 }
    }

    func channelInactive(context: ChannelHandlerContext) {
        let channel = context.channel
        log.open.withLock { $0[ObjectIdentifier(channel)] = nil }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += String(buffer: unwrapInboundIn(data))
        guard received.hasSuffix("\r\n\r\n") else { return }
        let request = received
        received = ""
        let index = log.requests.withLock { requests in
            defer { requests.append(request) }
            return requests.count
        }
        guard let answer = handler(request, index) else { return }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: answer.bytes)), promise: nil)
        switch answer.end {
        case .stays: break
        case .closes: context.close(promise: nil)
        case .resets:
            // Discards unsent bytes, so that the peer is notified at once.
            let provider = context.channel as? any SocketOptionProvider
            _ = provider?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            context.close(promise: nil)
        }
    }
}

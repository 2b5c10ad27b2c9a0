// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// A server on this machine that sends, byte by byte, what a test wrote down.
public final class ScriptedServer: Sendable {
    /// What becomes of the connection after an answer.
    public enum End: Sendable {
        case stays
        case closes
        /// Without a proper end, as when a machine fails.
        case resets
    }

    public struct Answer: Sendable {
        /// Head and body as they go over the wire.
        public var bytes: [UInt8]
        public var end = End.stays

        public init(_ bytes: [UInt8], _ end: End = .stays) {
            self.bytes = bytes
            self.end = end
        }

        public init(text: String, closes: Bool = false) {
            self.init(Array(text.utf8), closes ? .closes : .stays)
        }
    }

    private let group = MultiThreadedEventLoopGroup.singleton
    public let address: String
    private let channel: any Channel
    private let log: ServerLog

    /// - Parameter handler: answers the head of a request, the number of those before it given;
    ///   `nil` never does.
    /// - Throws: what the system says if it cannot listen.
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
    /// Connections that anybody made.
    public var acceptedCount: Int { log.acceptedCount.withLock { $0 } }
    public var openCount: Int { log.open.withLock { $0.count } }

    /// Sends something more over every connection that is open.
    public func send(_ bytes: [UInt8]) {
        for channel in log.open.withLock({ Array($0.values) }) {
            channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
        }
    }

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
            // Nothing is left to be sent in the background, so that the other side is told at once.
            let provider = context.channel as? any SocketOptionProvider
            _ = provider?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            context.close(promise: nil)
        }
    }
}

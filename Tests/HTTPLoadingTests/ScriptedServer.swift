// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import Synchronization

/// A server on this machine that sends, byte by byte, what a test wrote down.
final class ScriptedServer: Sendable {
    struct Answer: Sendable {
        /// Head and body as they go over the wire.
        var text: String
        /// Closes the connection afterwards.
        var closes = false
    }

    private let group = MultiThreadedEventLoopGroup.singleton
    let address: String
    private let channel: any Channel
    private let log: ServerLog

    /// - Parameter handler: answers the head of a request, the number of those before it given;
    ///   `nil` never does.
    /// - Throws: what the system says if it cannot listen.
    init(_ handler: @escaping @Sendable (String, Int) -> Answer?) async throws {
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

    var requests: [String] { log.requests.withLock { $0 } }
    /// Connections that anybody made.
    var acceptedCount: Int { log.acceptedCount.withLock { $0 } }
    var openCount: Int { log.openCount.withLock { $0 } }

    func close() async throws { try await channel.close() }
}

private final class ServerLog: Sendable {
    let requests = Mutex<[String]>([])
    let openCount = Mutex(0)
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
        log.openCount.withLock { $0 += 1 }
        log.acceptedCount.withLock { $0 += 1 }
    }
    func channelInactive(context: ChannelHandlerContext) { log.openCount.withLock { $0 -= 1 } }

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
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer.text)), promise: nil)
        if answer.closes { context.close(promise: nil) }
    }
}

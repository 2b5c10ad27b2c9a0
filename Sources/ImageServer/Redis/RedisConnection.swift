// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOPosix

/// A connection to Redis whose credentials and database the server has accepted.
struct RedisConnection: Sendable {
    let channel: any Channel

    /// Connects and authenticates.
    ///
    /// - Parameters:
    ///   - address: the server.
    ///   - limits: the timeouts.
    ///   - onMessage: receives the messages of subscriptions on the connection's event loop.
    /// - Throws: ``RedisError``.
    init(
        _ address: RedisAddress, _ limits: RedisLimits,
        onMessage: (@Sendable ([UInt8]) -> Void)? = nil
    ) async throws(RedisError) {
        let patience = TimeAmount(limits.patience)
        do {
            channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connectTimeout(TimeAmount(limits.connectTimeout))
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandlers([
                            ByteToMessageHandler(RedisDecoder()),
                            RedisCommandHandler(patience: patience, onMessage: onMessage),
                        ])
                    }
                }
                .connect(host: address.host, port: address.port).get()
        } catch {
            throw .disconnected
        }
        do throws(RedisError) {
            if let password = address.password {
                let credentials = (address.user.map { [$0] } ?? []) + [password]
                _ = try await send(["AUTH"] + credentials, limits.connectTimeout)
            }
            _ = try await send(["SELECT", "\(address.database)"], limits.connectTimeout)
        } catch {
            channel.close(promise: nil)
            throw error
        }
    }

    /// Sends a command and waits for the reply.
    ///
    /// - Throws: ``RedisError``, at the latest after `timeout`.
    func send(_ arguments: [String], _ timeout: Duration) async throws(RedisError) -> RedisValue {
        do {
            return try await future(arguments, timeout).get()
        } catch {
            throw error as? RedisError ?? .disconnected
        }
    }

    /// Sends a command, without waiting.
    func future(_ arguments: [String], _ timeout: Duration) -> EventLoopFuture<RedisValue> {
        let reply = channel.eventLoop.makePromise(of: RedisValue.self)
        let command = RedisCommand(
            bytes: RedisValue.command(arguments), timeout: TimeAmount(timeout), reply: reply)
        // A closed channel has no handler any more.
        channel.writeAndFlush(command).whenFailure { _ in reply.fail(RedisError.disconnected) }
        return reply.futureResult
    }
}

/// The timeouts and the limits of a client.
struct RedisLimits: Sendable {
    /// The maximum time of connecting, of each command after it, and of a ping.
    var connectTimeout = Duration.seconds(1)
    /// The time without a reply after which a connection is closed.
    var patience = Duration.seconds(1)
    /// The delay before the second attempt to connect; it doubles with each further one.
    var firstDelay = Duration.milliseconds(50)
    /// The maximum delay between two attempts.
    var maximumDelay = Duration.seconds(2)
    /// The time between two pings of the subscription.
    var pingInterval = Duration.seconds(1)
    /// The maximum time of a request for a token of the shared rate limit.
    var rateTimeout = Duration.milliseconds(5)
    /// The maximum time of a request for a lock.
    var lockTimeout = Duration.milliseconds(50)
    /// The maximum time until a purge has been published.
    var purgeTimeout = Duration.milliseconds(500)
    /// The time after which a lock ends by itself, such as that of a server that has been killed.
    var lockLifetime = Duration.seconds(10)
    /// The time for which a released lock tells other servers that the rendition has been written.
    var writtenLifetime = Duration.seconds(2)
    /// The time between two requests for a lock that another server holds.
    var lockInterval = Duration.milliseconds(25)
    /// The maximum time for which a server waits for the lock of another one.
    var lockWait = Duration.seconds(1)
}

/// A command on its way to the server.
struct RedisCommand: Sendable {
    let bytes: ByteBuffer
    let timeout: TimeAmount
    let reply: EventLoopPromise<RedisValue>
}

/// Assigns replies to commands, which the server answers in order.
///
/// A command whose reply is late fails, as do all commands until that reply has arrived: a server that
/// has stopped is waited for once. After `patience` the connection is closed.
final class RedisCommandHandler: ChannelDuplexHandler {
    typealias InboundIn = RedisValue
    typealias OutboundIn = RedisCommand
    typealias OutboundOut = ByteBuffer

    /// A command without its reply.
    private final class Pending {
        let reply: EventLoopPromise<RedisValue>
        var timer: Scheduled<Void>?
        var isLate = false

        init(_ reply: EventLoopPromise<RedisValue>) { self.reply = reply }
    }

    private let patience: TimeAmount
    private let onMessage: (@Sendable ([UInt8]) -> Void)?
    private var pending = CircularBuffer<Pending>()
    /// The number of pending commands that have failed already.
    private var lateCount = 0

    init(patience: TimeAmount, onMessage: (@Sendable ([UInt8]) -> Void)?) {
        self.patience = patience
        self.onMessage = onMessage
    }

    func write(
        context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
        let command = unwrapOutboundIn(data)
        guard lateCount == 0 else {
            command.reply.fail(RedisError.timedOut)
            promise?.succeed()
            return
        }
        let entry = Pending(command.reply)
        pending.append(entry)
        entry.timer = context.eventLoop.assumeIsolated().scheduleTask(in: command.timeout) {
            entry.isLate = true
            self.lateCount += 1
            entry.reply.fail(RedisError.timedOut)
            entry.timer = context.eventLoop.assumeIsolated().scheduleTask(in: self.patience) {
                context.close(promise: nil)
            }
        }
        context.write(wrapOutboundOut(command.bytes), promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let value = unwrapInboundIn(data)
        if let onMessage, case .array(let parts) = value, parts.count == 3,
            parts[0] == .bytes(Array("message".utf8))
        {
            if case .bytes(let message) = parts[2] { onMessage(message) }
            return
        }
        guard let entry = pending.popFirst() else {
            context.close(promise: nil)
            return
        }
        entry.timer?.cancel()
        if entry.isLate {
            lateCount -= 1
        } else if case .error(let message) = value {
            entry.reply.fail(RedisError.refused(message: message))
        } else {
            entry.reply.succeed(value)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        failAll(.disconnected)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The decoder's errors are those of the peer; the others are those of the socket.
        let isProtocolError = error is RedisError || error is ByteToMessageDecoderError
        failAll(isProtocolError ? .invalidReply : .disconnected)
        context.close(promise: nil)
    }

    private func failAll(_ error: RedisError) {
        let all = pending
        pending = []
        lateCount = 0
        for entry in all {
            entry.timer?.cancel()
            if !entry.isLate { entry.reply.fail(error) }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Logging
import NIOCore
import NIOPosix
import Synchronization

@testable import ImageServer

/// A server on a loopback address that speaks the protocol of Redis as a test specifies.
///
/// It accepts credentials and subscriptions, and delivers published messages; `handler` answers the rest.
final class FakeRedis: Sendable {
    /// What follows a command.
    enum Answer: Sendable {
        /// Bytes, as sent over the network.
        case reply(String)
        /// No reply, as of a stopped process.
        case nothing
        /// The end of the connection.
        case closes
    }

    /// What all connections share.
    final class State: Sendable {
        let commands = Mutex<[[String]]>([])
        let open = Mutex<[ObjectIdentifier: any Channel]>([:])
        let subscribers = Mutex<[ObjectIdentifier: any Channel]>([:])
    }

    let address: RedisAddress
    private let state = State()
    private let channel: any Channel

    init(_ handler: @escaping @Sendable ([String]) -> Answer) async throws {
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { [state] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        ByteToMessageHandler(RedisDecoder()),
                        FakeRedisConnection(state: state, handler: handler),
                    ])
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        address = try RedisAddress("127.0.0.1:\(channel.localAddress?.port ?? 0)")
    }

    /// All commands of all connections.
    var commands: [[String]] { state.commands.withLock(\.self) }
    var openCount: Int { state.open.withLock(\.count) }
    var subscriberCount: Int { state.subscribers.withLock(\.count) }

    /// Sends bytes on all connections.
    func send(_ text: String) {
        for channel in state.open.withLock({ Array($0.values) }) {
            channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
        }
    }

    /// Sends a message to all subscribers.
    func publish(_ message: String) { FakeRedisConnection.publish(message, state) }

    /// Ends all connections, as a restart does.
    func endConnections() async {
        // The other end may have closed some meanwhile.
        for channel in state.open.withLock({ Array($0.values) }) { try? await channel.close() }
    }

    func close() async throws {
        try await channel.close()
        await endConnections()
    }

    /// Runs a client for the server while `body` runs.
    func withClient(
        _ change: (inout RedisLimits) -> Void = { _ in },
        _ body: (RedisClient) async throws -> Void
    ) async throws {
        var limits = RedisLimits()
        // No test depends on the time of the machine, except where it waits for a timeout.
        limits.connectTimeout = .seconds(100)
        limits.patience = .seconds(600)
        limits.firstDelay = .milliseconds(1)
        limits.maximumDelay = .milliseconds(10)
        limits.pingInterval = .seconds(600)
        limits.rateTimeout = .seconds(100)
        limits.lockTimeout = .seconds(100)
        limits.purgeTimeout = .seconds(100)
        limits.lockLifetime = .seconds(600)
        limits.writtenLifetime = .seconds(600)
        limits.lockInterval = .milliseconds(1)
        limits.lockWait = .seconds(600)
        change(&limits)
        let client = RedisClient(
            address, limits, Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await client.runCommands() }
            defer { group.cancelAll() }
            try await body(client)
        }
    }
}

extension FakeRedis.Answer {
    static let one = Self.reply(":1\r\n")
    static let zero = Self.reply(":0\r\n")
}

/// The locks of a Redis server, without expiry: what the two scripts of ``RenditionLocks`` do.
final class FakeLocks: Sendable {
    private let state = Mutex<[String: String]>([:])

    /// The values of all keys.
    var values: [String: String] { state.withLock { $0 } }

    func answer(_ command: [String]) -> FakeRedis.Answer {
        let (isRelease, key, token) = (command[1].contains("DEL"), command[3], command[4])
        return state.withLock { values in
            let value = values[key]
            if isRelease {
                guard value == token else { return .zero }
                values[key] = command[5] == "0" ? nil : "written"
                return .one
            }
            if value == "written" { return .reply(":2\r\n") }
            if let value, value != token { return .one }
            values[key] = token
            return .zero
        }
    }
}

private final class FakeRedisConnection: ChannelInboundHandler {
    typealias InboundIn = RedisValue
    typealias OutboundOut = ByteBuffer

    private let state: FakeRedis.State
    private let handler: @Sendable ([String]) -> FakeRedis.Answer

    init(state: FakeRedis.State, handler: @escaping @Sendable ([String]) -> FakeRedis.Answer) {
        self.state = state
        self.handler = handler
    }

    static func publish(_ message: String, _ state: FakeRedis.State) {
        let bytes = RedisValue.command(["message", "channel", message])
        for channel in state.subscribers.withLock({ Array($0.values) }) {
            channel.writeAndFlush(bytes, promise: nil)
        }
    }

    func channelActive(context: ChannelHandlerContext) {
        let channel = context.channel
        state.open.withLock { $0[ObjectIdentifier(channel)] = channel }
    }

    func channelInactive(context: ChannelHandlerContext) {
        let id = ObjectIdentifier(context.channel)
        state.open.withLock { $0[id] = nil }
        state.subscribers.withLock { $0[id] = nil }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .array(let parts) = unwrapInboundIn(data) else { return }
        let command = parts.map { part in
            if case .bytes(let bytes) = part { return String(decoding: bytes, as: UTF8.self) }
            return ""
        }
        state.commands.withLock { $0.append(command) }
        var answer = handler(command)
        if case .reply("") = answer { answer = usual(command, context.channel) }
        switch answer {
        case .reply(let text):
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
        case .nothing: break
        case .closes: context.close(promise: nil)
        }
    }

    /// What Redis answers to commands that `handler` leaves to it with an empty reply.
    private func usual(_ command: [String], _ channel: any Channel) -> FakeRedis.Answer {
        switch command.first {
        case "SUBSCRIBE":
            state.subscribers.withLock { $0[ObjectIdentifier(channel)] = channel }
            return .reply("*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n")
        case "PUBLISH":
            Self.publish(command[2], state)
            return .one
        default: return .reply("+OK\r\n")
        }
    }
}

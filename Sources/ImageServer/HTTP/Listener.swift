// SPDX-License-Identifier: Apache-2.0

internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOExtras
internal import NIOPosix
internal import ServiceLifecycle
#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Takes connections until it is told to stop, then waits for the requests in flight.
///
/// Hummingbird's own cannot be given a socket that listens already, as systemd hands one on.
struct Listener<Connection: ServerChildChannel>: Service {
    let place: ImageServer.ListeningPlace
    let connection: Connection
    let connections: OpenConnections
    let onListening: @Sendable (any Channel) -> Void
    let logger: Logger

    /// The bytes that the system takes of an answer before they can be sent.
    ///
    /// Without it, the system keeps up to `tcp_wmem` of memory for each client that does not read, 4 MiB,
    /// and the time to fill it delays other connections.
    private static var unsentLimit: (option: ChannelOptions.Types.SocketOption, value: Int) {
        (.init(level: .tcp, name: .init(rawValue: TCP_NOTSENT_LOWAT)), 512 << 10)
    }

    func run() async throws {
        let quiescing = ServerQuiescingHelper(group: MultiThreadedEventLoopGroup.singleton)
        let server = try await listen(quiescing)
        try await withGracefulShutdownHandler {
            onListening(server.channel)
            try await server.executeThenClose { accepted in
                try await withThrowingDiscardingTaskGroup { tasks in
                    for try await client in accepted {
                        tasks.addTask { await connection.handle(value: client, logger: logger) }
                    }
                }
            }
        } onGracefulShutdown: {
            quiescing.initiateShutdown(promise: nil)
        }
    }

    private func listen(
        _ quiescing: ServerQuiescingHelper
    ) async throws -> NIOAsyncChannel<Connection.Value, Never> {
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            // A burst of clients beyond it would wait for TCP to try again, for a second or more.
            .serverChannelOption(.backlog, value: 4096)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            // What a client that does not read costs in memory.
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 16 << 10, high: 32 << 10))
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptPause())
                    try channel.pipeline.syncOperations.addHandler(
                        quiescing.makeServerChannelHandler(channel: channel))
                }
            }
        let setUp = { @Sendable [connection, connections, logger] (channel: any Channel) in
            connections.add(channel)
            // Fails for a connection that is not one of TCP, whose buffers are small.
            channel.setOption(Self.unsentLimit.option, value: Self.unsentLimit.value)
                .whenFailure { _ in }
            return connection.setup(channel: channel, logger: logger)
        }
        switch place {
        case .network(let host, let port):
            return try await bootstrap.bind(host: host, port: port, childChannelInitializer: setUp)
        case .path(let path):
            return try await bootstrap.bind(
                unixDomainSocketPath: path, cleanupExistingSocketFile: true,
                childChannelInitializer: setUp)
        case .descriptor(let descriptor):
            return try await bootstrap.bind(descriptor, childChannelInitializer: setUp)
        }
    }
}

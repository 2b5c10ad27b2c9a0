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

/// Accepts connections until the graceful shutdown, then waits for the requests in flight.
///
/// Hummingbird's server cannot take over a listening socket, which systemd passes.
struct Listener<Connection: ServerChildChannel>: Service, CustomStringConvertible {
    let address: BindAddress
    let connection: Connection
    let connections: OpenConnections
    let onListening: @Sendable (any Channel) -> Void
    let logger: Logger

    /// The name of the service; without it, ServiceLifecycle reads and prints all properties at each start.
    var description: String { "listener" }

    /// The socket option that limits the unsent bytes in the system's buffer, with its value.
    ///
    /// Without it, the system buffers up to `tcp_wmem`, 4 MiB, for each client that does not read, and
    /// the time to fill the buffer delays other connections.
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
            // Clients beyond the backlog wait for a TCP retransmission, a second or more.
            .serverChannelOption(.backlog, value: 4096)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            // Limits the memory for a client that does not read.
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
            // Fails for Unix domain sockets, whose buffers are small.
            channel.setOption(Self.unsentLimit.option, value: Self.unsentLimit.value)
                .whenFailure { _ in }
            return connection.setup(channel: channel, logger: logger)
        }
        switch address {
        case .network(let host, let port):
            return try await bootstrap.bind(host: host, port: port, childChannelInitializer: setUp)
        case .unixSocket(let path):
            return try await bootstrap.bind(
                unixDomainSocketPath: path, cleanupExistingSocketFile: true,
                childChannelInitializer: setUp)
        case .descriptor(let descriptor):
            return try await bootstrap.bind(descriptor, childChannelInitializer: setUp)
        }
    }
}

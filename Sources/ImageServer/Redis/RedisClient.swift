// SPDX-License-Identifier: Apache-2.0

internal import CoreMetrics
public import Logging
internal import NIOCore
internal import Synchronization

/// What a server shares with others through Redis: a connection for commands, one for a subscription.
///
/// Both exist while `runCommands()` and `runSubscription(_:onMessage:)` run. Without a connection,
/// commands fail at once, so that no request waits for one.
///
/// Lock: held while the current connection is read or replaced.
public final class RedisClient: Sendable {
    /// What the server uses Redis for; a dimension of metrics.
    enum Use: String {
        case connection, lock, rate, purge
    }

    let address: RedisAddress
    let limits: RedisLimits
    /// The name of this server in locks and messages.
    let token = String(UInt64.random(in: .min ... .max), radix: 36)
    private let logger: Logger
    private let metrics = RedisMetrics()
    private let current = Mutex<RedisConnection?>(nil)

    /// Creates a client, which connects when the server runs.
    ///
    /// - Parameters:
    ///   - address: the Redis server.
    ///   - logger: receives a warning when a connection fails.
    public convenience init(_ address: RedisAddress, logger: Logger) {
        self.init(address, RedisLimits(), logger)
    }

    init(_ address: RedisAddress, _ limits: RedisLimits, _ logger: Logger) {
        self.address = address
        self.limits = limits
        self.logger = logger
    }

    /// Whether there is a connection for commands.
    var isConnected: Bool { current.withLock { $0 != nil } }

    /// Returns the name of a key or a channel of this deployment.
    ///
    /// Channels do not belong to a database, so that its number is a part of the name.
    func name(_ parts: String...) -> String {
        (["calotype", "\(address.database)"] + parts).joined(separator: ":")
    }

    /// Sends a command and waits for the reply; counts failures.
    ///
    /// - Throws: ``RedisError``, at the latest after `timeout`.
    func send(
        _ use: Use, _ arguments: [String], _ timeout: Duration
    ) async throws(RedisError) -> RedisValue {
        do throws(RedisError) {
            guard let connection = current.withLock(\.self) else { throw .disconnected }
            return try await connection.send(arguments, timeout)
        } catch {
            failed(use, error)
            throw error
        }
    }

    /// Sends a command without waiting for its reply; counts failures.
    func post(_ use: Use, _ arguments: [String]) {
        guard let connection = current.withLock(\.self) else { return failed(use, .disconnected) }
        connection.future(arguments, limits.connectTimeout).whenFailure { [self] error in
            failed(use, error as? RedisError ?? .disconnected)
        }
    }

    /// Counts a failed command; also one whose reply has an unexpected type.
    func failed(_ use: Use, _ error: RedisError) {
        metrics.failure(use, error)
        logger.debug("Redis failed", metadata: ["use": "\(use.rawValue)", "error": "\(error)"])
    }

    /// Keeps the connection for commands until the task is cancelled.
    func runCommands() async {
        await keepConnected { [self] () async throws(RedisError) in
            try await RedisConnection(address, limits)
        } use: { [self] connection in
            current.withLock { $0 = connection }
            defer { current.withLock { $0 = nil } }
            try? await connection.channel.closeFuture.get()
        }
    }

    /// Keeps a subscription until the task is cancelled.
    ///
    /// Messages that are published while there is no connection are lost; the metric
    /// `calotype_redis_gaps_total` counts these times.
    ///
    /// - Parameters:
    ///   - channel: the name of the channel.
    ///   - onMessage: receives the messages on an event loop; it must not block.
    func runSubscription(
        _ channel: String, onMessage: @escaping @Sendable ([UInt8]) -> Void
    ) async {
        var hasSubscribed = false
        await keepConnected { [self] () async throws(RedisError) in
            let connection = try await RedisConnection(address, limits, onMessage: onMessage)
            do throws(RedisError) {
                _ = try await connection.send(["SUBSCRIBE", channel], limits.connectTimeout)
            } catch {
                connection.channel.close(promise: nil)
                throw error
            }
            return connection
        } use: { [self] connection in
            if hasSubscribed { countGap() }
            hasSubscribed = true
            let interval = TimeAmount(limits.pingInterval)
            let socket = connection.channel
            let pings = socket.eventLoop.scheduleRepeatedAsyncTask(
                initialDelay: interval, delay: interval
            ) { [limits] _ in
                // Its failure ends the pings.
                let reply = connection.future(["PING"], limits.connectTimeout)
                reply.whenFailure { _ in socket.close(promise: nil) }
                return reply.map { _ in }
            }
            try? await socket.closeFuture.get()
            pings.cancel()
        }
    }

    /// Counts a time in which messages may have been lost.
    func countGap() { metrics.gaps.increment() }

    /// Connects, and connects again after each end of a connection, with a growing delay.
    private func keepConnected(
        _ connect: () async throws(RedisError) -> RedisConnection,
        use: (RedisConnection) async -> Void
    ) async {
        var delay = limits.firstDelay
        var wasConnected = true
        while !Task.isCancelled {
            do throws(RedisError) {
                let connection = try await connect()
                metrics.connections.increment()
                delay = limits.firstDelay
                wasConnected = true
                await withTaskCancellationHandler {
                    await use(connection)
                } onCancel: {
                    connection.channel.close(promise: nil)
                }
                connection.channel.close(promise: nil)
                if Task.isCancelled { return }
                logger.warning("the connection to Redis has ended; servers work alone")
            } catch {
                metrics.failure(.connection, error)
                logger.log(
                    level: wasConnected ? .warning : .debug,
                    "cannot connect to Redis; servers work alone",
                    metadata: ["error": "\(error)"])
                wasConnected = false
            }
            try? await Task.sleep(for: delay)
            delay = min(delay * 2, limits.maximumDelay)
        }
    }
}

/// The counters of a client.
private struct RedisMetrics: Sendable {
    let connections = Counter(label: "calotype.redis.connections")
    let gaps = Counter(label: "calotype.redis.gaps")

    /// Counts a failure of a use by its reason; the backend returns the same counter for the same dimensions.
    func failure(_ use: RedisClient.Use, _ error: RedisError) {
        Counter(
            label: "calotype.redis.failures",
            dimensions: [("use", use.rawValue), ("reason", error.reason)]
        ).increment()
    }
}

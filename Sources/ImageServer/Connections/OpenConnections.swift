// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import Synchronization

/// Limits the open connections, in total and for each client.
///
/// Connections beyond a limit are still accepted, ``spareLimit`` at a time, so that health checks
/// succeed; all other requests on them get 503. One more closes the oldest of them.
/// Clients on this machine are exempt from the limit for each client: a proxy is one client there.
///
/// Lock: held for a table lookup.
final class OpenConnections: Sendable {
    private struct State {
        var count = 0
        var countByClient: [String: Int] = [:]
        /// The spare connections, the oldest first.
        var spares: [any Channel] = []
    }

    /// The number of connections beyond the limits that are open at a time.
    static let spareLimit = 32

    private let limit: Int
    private let clientLimit: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - limit: the maximum number of connections of all clients.
    ///   - clientLimit: the maximum number of connections of one remote client.
    init(limit: Int, clientLimit: Int) {
        self.limit = limit
        self.clientLimit = clientLimit
    }

    /// Counts a connection until it is closed.
    func add(_ channel: any Channel) {
        let client = Self.limitedClient(channel.remoteAddress)
        let (isSpare, evicted) = state.withLock { state -> (Bool, (any Channel)?) in
            let clientCount = client.map { state.countByClient[$0] ?? 0 } ?? 0
            guard state.count >= limit || clientCount >= clientLimit else {
                state.count += 1
                if let client { state.countByClient[client] = clientCount + 1 }
                return (false, nil)
            }
            state.spares.append(channel)
            let isFull = state.spares.count > Self.spareLimit
            return (true, isFull ? state.spares.removeFirst() : nil)
        }
        evicted?.close(promise: nil)
        channel.closeFuture.whenComplete { [self] _ in
            isSpare ? removeSpare(channel) : remove(client)
        }
    }

    /// Whether a connection is beyond a limit, so that only health checks are accepted.
    ///
    /// - Parameter channel: the channel of the connection, or of one of its HTTP/2 streams.
    /// - Returns: `true` for a connection beyond a limit.
    func isSpare(_ channel: any Channel) -> Bool {
        state.withLock { state in
            !state.spares.isEmpty
                && state.spares.contains { $0 === channel || $0 === channel.parent }
        }
    }

    /// The number of connections within the limits.
    var count: Int { state.withLock { $0.count } }

    private func remove(_ client: String?) {
        state.withLock { state in
            state.count -= 1
            guard let client, let count = state.countByClient[client] else { return }
            state.countByClient[client] = count > 1 ? count - 1 : nil
        }
    }

    private func removeSpare(_ channel: any Channel) {
        state.withLock { $0.spares.removeAll { $0 === channel } }
    }

    /// The name of a client with a limit; `nil` for clients on this machine.
    private static func limitedClient(_ address: SocketAddress?) -> String? {
        guard let text = address?.ipAddress, !LoopbackAddress.isLoopback(text) else { return nil }
        return RateLimiter.name(of: address)
    }
}

/// Pauses accepting connections when the process or the system runs out of descriptors.
///
/// The socket stays readable meanwhile; without the pause the event loop would spin.
final class AcceptPause: ChannelInboundHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel

    private static let duration = TimeAmount.milliseconds(100)

    private var isPaused = false

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is IOError, !isPaused else { return }
        isPaused = true
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        // Deferred: the channel reads the next connection after it has handled this event.
        context.eventLoop.execute {
            bound.value.1.channel.setOption(.autoRead, value: false).whenFailure { _ in }
        }
        context.eventLoop.scheduleTask(in: Self.duration) {
            let (handler, context) = bound.value
            handler.isPaused = false
            context.channel.setOption(.autoRead, value: true).whenFailure { _ in }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix

/// A minimal HTTP client over a real socket.
struct HTTPConnection {
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private var received = ByteBuffer()

    /// Connects to a URL such as `http://127.0.0.1:8080/` or `unix:/tmp/socket`, and closes the
    /// connection at the end of `body`.
    static func with<Result: Sendable>(
        _ address: String, _ body: (inout HTTPConnection) async throws -> Result
    ) async throws -> Result {
        let open:
            @Sendable (any Channel) -> EventLoopFuture<NIOAsyncChannel<ByteBuffer, ByteBuffer>> =
                { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try NIOAsyncChannel(wrappingChannelSynchronously: channel)
                    }
                }
        let client = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        let channel =
            address.hasPrefix("unix:")
            ? try await client.connect(
                unixDomainSocketPath: String(address.dropFirst("unix:".count)),
                channelInitializer: open)
            : try await client.connect(
                host: "127.0.0.1", port: port(of: address), channelInitializer: open)
        return try await channel.executeThenClose { inbound, outbound in
            var connection = HTTPConnection(
                outbound: outbound, inbound: inbound.makeAsyncIterator())
            return try await body(&connection)
        }
    }

    static func port(of address: String) -> Int {
        address.split(separator: ":").last.flatMap { Int($0.dropLast()) } ?? 0
    }

    func send(_ request: String) async throws {
        try await outbound.write(ByteBuffer(string: request + "\r\nHost: localhost\r\n\r\n"))
    }

    /// Reads the head of the next response, and its body by `Content-Length`.
    mutating func answer(hasBody: Bool = true) async throws -> (head: String, body: [UInt8]) {
        var head = ""
        while !head.hasSuffix("\r\n\r\n") {
            head += try await read(1).map { String(decoding: $0, as: UTF8.self) } ?? "\r\n\r\n"
        }
        let length = head.lowercased().split(separator: "\r\n")
            .first { $0.hasPrefix("content-length: ") }
            .flatMap { Int($0.dropFirst("content-length: ".count)) }
        return (head, hasBody ? try await read(length ?? 0) ?? [] : [])
    }

    /// Whether the server has closed the connection without further bytes.
    mutating func isAtEnd() async throws -> Bool { try await read(1) == nil }

    /// Returns `nil` if the connection ends before that many bytes have been received.
    private mutating func read(_ count: Int) async throws -> [UInt8]? {
        while received.readableBytes < count {
            guard var more = try await inbound.next(isolation: #isolation) else { return nil }
            received.writeBuffer(&more)
        }
        return received.readBytes(length: count)
    }
}

// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import Testing

@testable import ImageServer

@Suite("Connections") struct OpenConnectionsTests {
    private func channel(_ client: String) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        let address = try SocketAddress(ipAddress: client, port: 1)
        channel.remoteAddress = address
        try channel.connect(to: address).wait()
        channel.remoteAddress = address
        return channel
    }

    @Test("beyond the limit are spare; a new one closes the oldest") func limit() throws {
        let connections = OpenConnections(limit: 2, clientLimit: 2)
        let served = [try channel("127.0.0.1"), try channel("127.0.0.1")]
        for channel in served { connections.add(channel) }
        #expect(served.allSatisfy { !connections.isSpare($0) })
        let spares = try (0...OpenConnections.spareLimit).map { _ in try channel("127.0.0.1") }
        for channel in spares { connections.add(channel) }
        spares[0].embeddedEventLoop.run()
        #expect(!spares[0].isActive)
        for channel in spares.dropFirst() {
            #expect(channel.isActive)
            #expect(connections.isSpare(channel))
        }
        #expect(connections.count == 2)

        try served[0].close().wait()
        served[0].embeddedEventLoop.run()
        #expect(connections.count == 1)
        let next = try channel("127.0.0.1")
        connections.add(next)
        #expect(!connections.isSpare(next))
    }

    @Test("of one remote client have a separate limit") func clients() throws {
        let connections = OpenConnections(limit: 10, clientLimit: 1)
        var channels: [EmbeddedChannel] = []
        for (client, isSpare) in [
            ("192.0.2.1", false), ("192.0.2.1", true), ("192.0.2.2", false), ("127.0.0.1", false),
            ("127.0.0.1", false), ("::1", false), ("2001:db8:1:2::3", false),
            ("2001:db8:1:2::4", true),
        ] {
            let channel = try channel(client)
            connections.add(channel)
            #expect(connections.isSpare(channel) == isSpare, "\(client)")
            channels.append(channel)
        }
        try channels[0].close().wait()
        channels[0].embeddedEventLoop.run()
        let again = try channel("192.0.2.1")
        connections.add(again)
        #expect(!connections.isSpare(again))
    }

    @Test("share the limit of unsent bytes") func bytes() {
        let outgoing = OutgoingBytes(byteLimit: 1_000, streamLimit: 2)
        var first = outgoing.hold(900)
        #expect(first != nil)
        #expect(outgoing.hold(200) == nil)
        #expect(outgoing.hold(100) != nil)
        first = nil
        // A single response may have any size.
        let large = outgoing.hold(5_000)
        #expect(large != nil)
        #expect(outgoing.hold(1) == nil)
        withExtendedLifetime(large) {}
    }

    @Test("get smaller pieces of originals with a growing number of streams") func pieces() {
        let outgoing = OutgoingBytes(byteLimit: 8 << 20, streamLimit: 100)
        var streams: [OutgoingBytes.Stream] = []
        for count in 1...100 {
            guard let stream = outgoing.stream() else {
                Issue.record("no stream \(count)")
                return
            }
            streams.append(stream)
            #expect(stream.pieceByteCount * count <= 1 << 20 || stream.pieceByteCount == 8 << 10)
            if count <= 8 { #expect(stream.pieceByteCount == 128 << 10) }
        }
        #expect(outgoing.stream() == nil)
        streams.removeLast()
        #expect(outgoing.stream() != nil)
    }
}

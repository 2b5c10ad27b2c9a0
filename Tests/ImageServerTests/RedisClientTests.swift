// SPDX-License-Identifier: Apache-2.0

import ImageTesting
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import ImageServer

@Suite("A Redis client", .timeLimit(.minutes(2))) struct RedisClientTests {
    @Test(
        "parses addresses",
        arguments: [
            ("cache", "cache", 6_379, 0), ("10.0.0.1:7000", "10.0.0.1", 7_000, 0),
            ("[::1]", "::1", 6_379, 0), ("[::1]:7000", "::1", 7_000, 0),
            ("redis://cache/3", "cache", 6_379, 3), ("redis://cache:7000/", "cache", 7_000, 0),
        ])
    func addresses(text: String, host: String, port: Int, database: Int) throws {
        let address = try RedisAddress(text)
        #expect(address.host == host && address.port == port && address.database == database)
        #expect(address.user == nil && address.password == nil)
    }

    @Test("parses credentials") func credentials() throws {
        let address = try RedisAddress("redis://me:a%3Ab%40%2F@cache:1/2")
        #expect(address.user == "me" && address.password == "a:b@/" && address.database == 2)
        let password = try RedisAddress("redis://:secret@cache")
        #expect(password.user == nil && password.password == "secret")
        let user = try RedisAddress("redis://me@cache")
        #expect(user.user == "me" && user.password == nil)
    }

    @Test(
        "rejects invalid addresses without a password in the message",
        arguments: [
            "", ":1", "cache:", "cache:0", "cache:65536", "cache:x", "::1", "[::1", "a b",
            "redis://:secret@cache/x", "redis://:secret@cache:x", "redis://:secret%2@cache",
            "rediss://:secret@cache", "http://:secret@cache", "redis://:secret@", "cache/-1",
        ])
    func invalidAddresses(text: String) {
        do throws(RedisError) {
            _ = try RedisAddress(text)
            Issue.record("accepted")
        } catch {
            #expect(!error.description.contains("secret"))
        }
    }

    @Test(
        "decodes replies in any parts",
        arguments: [
            ("+OK\r\n", RedisValue.text("OK")), ("-ERR no\r\n", .error("ERR no")),
            (":-12\r\n", .integer(-12)), ("$3\r\na\r\n\r\n", .bytes([0x61, 0x0D, 0x0A])),
            ("$0\r\n\r\n", .bytes([])), ("$-1\r\n", .null), ("*-1\r\n", .null),
            ("*0\r\n", .array([])),
            (
                "*2\r\n:1\r\n*1\r\n$1\r\na\r\n",
                .array([.integer(1), .array([.bytes([0x61])])])
            ),
        ])
    func decoding(text: String, value: RedisValue) throws {
        let channel = EmbeddedChannel(handler: ByteToMessageHandler(RedisDecoder()))
        for byte in text.utf8 {
            #expect(try channel.readInbound(as: RedisValue.self) == nil)
            try channel.writeInbound(ByteBuffer(bytes: [byte]))
        }
        #expect(try channel.readInbound(as: RedisValue.self) == value)
        #expect(try channel.readInbound(as: RedisValue.self) == nil)
    }

    @Test(
        "rejects replies that are none",
        arguments: [
            "HTTP/1.1 400\r\n", "\r\n", "+OK\n", ":1x\r\n", ":\r\n", "$x\r\n", "$-2\r\n",
            "$65537\r\n", "$9223372036854775808\r\n", "$1\r\nabc", "*17\r\n", "*-2\r\n",
            "*1\r\n*1\r\n*1\r\n", "+" + String(repeating: "a", count: 1_024),
        ])
    func invalidReplies(text: String) {
        let channel = EmbeddedChannel(handler: ByteToMessageHandler(RedisDecoder()))
        #expect(throws: (any Error).self) { try channel.writeInbound(ByteBuffer(string: text)) }
    }

    @Test("encodes the lengths of arguments in bytes") func encoding() {
        #expect(
            String(buffer: RedisValue.command(["GET", "é"])) == "*2\r\n$3\r\nGET\r\n$2\r\né\r\n")
    }

    @Test("authenticates, selects the database, and receives replies in order")
    func replies() async throws {
        let server = try await FakeRedis { command in
            .reply(command[0] == "ECHO" ? "$1\r\n\(command[1])\r\n" : "")
        }
        try await server.withClient { client in
            await eventually { client.isConnected }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for digit in 0..<10 {
                    group.addTask {
                        let reply = try await client.send(
                            .rate, ["ECHO", "\(digit)"], .seconds(100))
                        #expect(reply == .bytes(Array("\(digit)".utf8)))
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(server.commands.first == ["SELECT", "0"])
        try await server.close()
    }

    @Test("fails at once while a reply is late, and not after it has arrived")
    func lateReply() async throws {
        let server = try await FakeRedis { $0[0] == "SLOW" ? .nothing : .reply("") }
        try await server.withClient { client in
            await eventually { client.isConnected }
            await #expect(throws: RedisError.timedOut) {
                try await client.send(.rate, ["SLOW"], .milliseconds(1))
            }
            // It would take longer than the test if it waited for its own timeout.
            await #expect(throws: RedisError.timedOut) {
                try await client.send(.rate, ["GET"], .seconds(600))
            }
            #expect(!server.commands.contains(["GET"]))
            server.send("+late\r\n")
            await eventually {
                (try? await client.send(.rate, ["GET"], .seconds(100))) == .text("OK")
            }
        }
        try await server.close()
    }

    @Test("closes a connection whose reply does not arrive, and connects again")
    func stoppedServer() async throws {
        let slowCount = Mutex(0)
        let server = try await FakeRedis { command in
            guard command[0] == "SLOW" else { return .reply("") }
            return slowCount.withLock { count in
                count += 1
                return count == 1 ? .nothing : .reply("")
            }
        }
        try await server.withClient {
            $0.patience = .milliseconds(1)
        } _: { client in
            await eventually { client.isConnected }
            await #expect(throws: RedisError.timedOut) {
                try await client.send(.rate, ["SLOW"], .milliseconds(1))
            }
            await eventually {
                (try? await client.send(.rate, ["SLOW"], .seconds(100))) == .text("OK")
            }
        }
        #expect(server.commands.count { $0[0] == "SELECT" } == 2)
        try await server.close()
    }

    @Test(
        "reports what a server answers instead of a reply",
        arguments: [
            ("-NOPERM no\r\n", RedisError.refused(message: "NOPERM no")),
            ("HTTP/1.1 400 Bad Request\r\n", .invalidReply),
        ])
    func lies(reply: String, error: RedisError) async throws {
        let server = try await FakeRedis { .reply($0[0] == "LIE" ? reply : "") }
        try await server.withClient { client in
            await eventually { client.isConnected }
            await #expect(throws: error) { try await client.send(.rate, ["LIE"], .seconds(100)) }
            await eventually {
                (try? await client.send(.rate, ["GET"], .seconds(100))) == .text("OK")
            }
        }
        try await server.close()
    }

    @Test("has no connection until its credentials are accepted") func credentialsRefused()
        async throws
    {
        let attempts = Mutex(0)
        let server = try await FakeRedis { command in
            guard command[0] == "SELECT" else { return .reply("") }
            return attempts.withLock { count in
                count += 1
                return .reply(count < 3 ? "-NOAUTH Authentication required.\r\n" : "")
            }
        }
        try await server.withClient { client in
            if attempts.withLock({ $0 < 3 }) {
                await #expect(throws: RedisError.disconnected) {
                    try await client.send(.rate, ["GET"], .seconds(600))
                }
            }
            await eventually { client.isConnected }
            let count = attempts.withLock { $0 }
            #expect(count == 3)
        }
        try await server.close()
    }

    @Test("connects and subscribes again after the server has restarted") func restart()
        async throws
    {
        let server = try await FakeRedis { _ in .reply("") }
        try await server.withClient { client in
            let (stream, sink) = AsyncStream<String>.makeStream()
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    await client.runSubscription("c") {
                        sink.yield(String(decoding: $0, as: UTF8.self))
                    }
                }
                defer { group.cancelAll() }
                var iterator = stream.makeAsyncIterator()
                for round in 0..<3 {
                    await eventually { client.isConnected && server.subscriberCount == 1 }
                    server.publish("\(round)")
                    #expect(await iterator.next() == "\(round)")
                    await server.endConnections()
                    await eventually { server.commands.count { $0[0] == "SUBSCRIBE" } == round + 2 }
                }
            }
        }
        try await server.close()
    }

    @Test("subscribes again if a ping is not answered") func stoppedSubscription() async throws {
        let server = try await FakeRedis { $0[0] == "PING" ? .nothing : .reply("") }
        try await server.withClient {
            $0.connectTimeout = .milliseconds(200)
            $0.patience = .milliseconds(1)
            $0.pingInterval = .milliseconds(1)
        } _: { client in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await client.runSubscription("c") { _ in } }
                defer { group.cancelAll() }
                await eventually { server.commands.count { $0[0] == "SUBSCRIBE" } > 1 }
            }
        }
        try await server.close()
    }
}

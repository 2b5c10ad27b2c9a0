// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ImageLoading
import ImageTesting
import Testing

@testable import ImageServer

@Suite("Servers that share a Redis server", .timeLimit(.minutes(2))) struct SharedServersTests {
    @Test("reject a request for which no server has a token left") func sharedRate() async throws {
        let server = try await FakeRedis { command in
            .reply(command[0] == "EVAL" ? ":2500000\r\n" : "")
        }
        try await server.withClient { client in
            await eventually { client.isConnected }
            let limit = ClientRateLimit(rate: 2, sharedIn: client)
            await #expect(throws: ServerError.tooManyRequests(seconds: 3)) {
                try await limit.take("192.0.2.1")
            }
            limit.charge("192.0.2.1", 0.5)
            await eventually { server.commands.count { $0[0] == "EVAL" } == 2 }
            // One token in half a second, 20 at once; the charge is taken in any case.
            let arguments = server.commands.filter { $0[0] == "EVAL" }.map { Array($0[3...]) }
            let key = "calotype:0:rate:192.0.2.1"
            #expect(arguments[0] == [key, "500000.0", "20", "1.0", "0"])
            #expect(arguments[1] == [key, "500000.0", "20", "0.5", "1"])
        }
        try await server.close()
    }

    @Test(
        "limit rates alone without an answer",
        arguments: ["", ":-1\r\n", "+OK\r\n", "-ERR\r\n", "lies\r\n", "nothing"])
    func localRate(reply: String) async throws {
        let server = try await FakeRedis { command in
            guard command[0] == "EVAL" else { return .reply("") }
            return reply.isEmpty ? .closes : reply == "nothing" ? .nothing : .reply(reply)
        }
        try await server.withClient {
            if reply == "nothing" { $0.rateTimeout = .milliseconds(1) }
        } _: { client in
            await eventually { client.isConnected }
            let limit = ClientRateLimit(rate: 0.001, sharedIn: client)
            try await limit.take("a")
            await #expect(throws: ServerError.self) { try await limit.take("a") }
            try await limit.take("b")
        }
        try await server.close()
    }

    @Test("take the locks of renditions in turn") func locks() async throws {
        let fake = FakeLocks()
        let server = try await FakeRedis { $0[0] == "EVAL" ? fake.answer($0) : .reply("") }
        try await server.withClient { first in
            try await server.withClient { second in
                await eventually { first.isConnected && second.isConnected }
                let (one, other) = (RenditionLocks(first), RenditionLocks(second))
                #expect(await one.take("a") == .make)
                // Another request of the same server does not wait for its own lock.
                #expect(await one.take("a") == .make)
                #expect(await other.take("b") == .make)
                async let waiting = other.take("a")
                await eventually { server.commands.count { $0[0] == "EVAL" } > 10 }
                #expect(!other.handOver("a"))
                #expect(one.handOver("a") && !one.handOver("a"))
                one.release("a", isWritten: false)
                #expect(await waiting == .lookUp)
                #expect(other.handOver("a"))
                other.release("a", isWritten: true)
                await eventually { fake.values["calotype:0:lock:a"] == "written" }
                #expect(await one.take("a") == .lookUp)
                #expect(!one.handOver("a"))
            }
        }
        try await server.close()
    }

    @Test("wait for the lock of another server for a bounded time") func boundedWait() async throws
    {
        let server = try await FakeRedis { $0[0] == "EVAL" ? .one : .reply("") }
        try await server.withClient {
            $0.lockWait = .milliseconds(20)
        } _: { client in
            await eventually { client.isConnected }
            let locks = RenditionLocks(client)
            #expect(await locks.take("a") == .lookUp)
            #expect(!locks.handOver("a"))
        }
        try await server.close()
    }

    @Test(
        "make renditions without locks if there is no answer", arguments: ["", ":7\r\n", "nothing"])
    func noLocks(reply: String) async throws {
        let server = try await FakeRedis { command in
            guard command[0] == "EVAL" else { return .reply("") }
            return reply.isEmpty ? .closes : reply == "nothing" ? .nothing : .reply(reply)
        }
        try await server.withClient {
            if reply == "nothing" { $0.lockTimeout = .milliseconds(1) }
        } _: { client in
            await eventually { client.isConnected }
            let locks = RenditionLocks(client)
            #expect(await locks.take("a") == .make)
            #expect(!locks.handOver("a"))
        }
        try await server.close()
    }

    /// Runs `body` with a gallery that follows the purges of others, and has a rendition of an image.
    private func withGallery(
        _ server: FakeRedis, _ body: (TestGallery, RedisClient) async throws -> Void
    ) async throws {
        try await server.withClient { client in
            await eventually { client.isConnected }
            let gallery = try TestGallery(keepsRenditions: true) {
                $0.redis = client
                $0.purgeTokens = ["secret"]
            }
            try gallery.image("été & 1/1.png")
            #expect(try await gallery.get("/%C3%A9t%C3%A9%20&%201/20x20/1.png").status == 200)
            #expect(gallery.store?.statistics.entryCount == 1)
            let purging = try gallery.server.parts().purging
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await purging.follow(client) }
                defer { group.cancelAll() }
                await eventually { server.subscriberCount > 0 }
                try await body(gallery, client)
            }
        }
    }

    @Test("remove what one of them purges") func purge() async throws {
        let server = try await FakeRedis { _ in .reply("") }
        try await withGallery(server) { other, _ in
            try await withGallery(server) { gallery, client in
                let answer = try await gallery.request(
                    .delete, "/%C3%A9t%C3%A9%20&%201/1.png", [.authorization: "Bearer secret"])
                #expect(answer.status == 204)
                #expect(answer.headers[named: "X-Purge-Warning"] == nil)
                #expect(gallery.store?.statistics.entryCount == 0)
                await eventually { other.store?.statistics.entryCount == 0 }
                let message = try #require(server.commands.first { $0[0] == "PUBLISH" })
                #expect(
                    message[1...] == [
                        "calotype:0:purge", "\(client.token) /%C3%A9t%C3%A9%20&%201/1.png",
                    ])
            }
        }
        try await server.close()
    }

    @Test("ignore messages without a path of an original") func invalidMessages() async throws {
        let server = try await FakeRedis { _ in .reply("") }
        try await withGallery(server) { gallery, client in
            let path = "/%C3%A9t%C3%A9%20&%201/1.png"
            for message in [
                "", " ", path, "x", "x y", "x /", "x /../1.png", "x /%", "x /none/1.png",
                "x /" + String(repeating: "a", count: 20_000), "\(client.token) \(path)",
            ] { server.publish(message) }
            server.publish("x /%C3%A9t%C3%A9%20&%201/2.png")
            #expect(gallery.store?.statistics.entryCount == 1)
            server.publish("x \(path)")
            await eventually { gallery.store?.statistics.entryCount == 0 }
        }
        try await server.close()
    }

    @Test("report a purge that does not reach the others", arguments: ["-ERR\r\n", "closed"])
    func unpublished(reply: String) async throws {
        let server = try await FakeRedis { command in
            guard command[0] == "PUBLISH" else { return .reply("") }
            return reply == "closed" ? .closes : .reply(reply)
        }
        try await withGallery(server) { gallery, _ in
            let answer = try await gallery.request(
                .delete, "/%C3%A9t%C3%A9%20&%201/1.png", [.authorization: "Bearer secret"])
            #expect(answer.status == 204)
            #expect(
                answer.headers[named: "X-Purge-Warning"]
                    == "other servers were not reached; repeat the request")
            #expect(gallery.store?.statistics.entryCount == 0)
        }
        try await server.close()
    }
}

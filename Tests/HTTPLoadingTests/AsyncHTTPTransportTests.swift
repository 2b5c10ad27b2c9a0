// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import HTTPCaching
import HTTPTesting
import HTTPTypes
import LoadScheduling
import Logging
import Testing

@testable import HTTPLoading

@Suite("The transport over AsyncHTTPClient", .timeLimit(.minutes(10)))
struct AsyncHTTPTransportTests {
    private static func withServer(
        connectTimeout: Duration = .seconds(10), readTimeout: Duration = .seconds(60),
        _ handler: @escaping @Sendable (String, Int) -> ScriptedServer.Answer?,
        _ body: (ScriptedServer, AsyncHTTPTransport) async throws -> Void
    ) async throws {
        let server = try await ScriptedServer(handler)
        let transport = AsyncHTTPTransport(
            connectTimeout: connectTimeout, readTimeout: readTimeout)
        do {
            try await body(server, transport)
        } catch {
            await transport.close()
            throw error
        }
        await transport.close()
        try await server.close()
    }

    private static func request(
        _ server: ScriptedServer, _ path: String = "/a?b=c", _ fields: HTTPFields = [:]
    ) -> HTTPRequest {
        HTTPRequest(
            method: .get, scheme: "http", authority: String(server.address.dropFirst(7)),
            path: path, headerFields: fields)
    }

    private static func loader(
        _ transport: AsyncHTTPTransport,
        _ change: (inout HTTPLoader.Configuration) -> Void = { _ in }
    ) -> HTTPLoader {
        var configuration = HTTPLoader.Configuration()
        configuration.maximumRetryCount = 0
        change(&configuration)
        return HTTPLoader(
            transport: transport, store: nil, codecs: CodecSet([]), configuration: configuration,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test("sends path, query and fields, and returns status, fields and body unchanged")
    func exchange() async throws {
        try await Self.withServer { _, _ in
            ScriptedServer.Answer(
                text: "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nX-Name: Grüße\r\n"
                    + "Vary: a\r\nVary: b\r\nContent-Encoding: gzip\r\n\r\nbody")
        } _: { server, transport in
            let response = try await transport.send(
                Self.request(server, "/a?b=c", [.accept: "image/png", .range: "bytes=1-"]))
            #expect(response.head.status.code == 404)
            #expect(response.head.headerFields[try #require(HTTPField.Name("X-Name"))] == "Grüße")
            #expect(response.head.headerFields[values: .vary] == ["a", "b"])
            var body: [UInt8] = []
            for try await piece in response.body { body += piece }
            #expect(body == Array("body".utf8), "and not decompressed")
            let request = try #require(server.requests.first)
            #expect(request.hasPrefix("GET /a?b=c HTTP/1.1\r\n"))
            #expect(request.lowercased().contains("\r\naccept: image/png\r\n"))
            #expect(request.lowercased().contains("\r\nrange: bytes=1-\r\n"))
        }
    }

    @Test("follows no redirects")
    func redirect() async throws {
        try await Self.withServer { _, _ in
            ScriptedServer.Answer(
                text: "HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n")
        } _: { server, transport in
            let response = try await transport.send(Self.request(server))
            #expect(response.head.status.code == 302)
            #expect(response.head.headerFields[.location] == "/other")
            #expect(server.requests.count == 1)
        }
    }

    @Test("reports a failed connection")
    func refused() async throws {
        let server = try await ScriptedServer { _, _ in nil }
        let request = Self.request(server)
        try await server.close()
        let transport = AsyncHTTPTransport(connectTimeout: .seconds(5))
        let error = await #expect(throws: LoadError.self) { try await transport.send(request) }
        await transport.close()
        guard case .connectionFailed(let url, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(url == "\(server.address)/a?b=c")
    }

    @Test("reports that a connection closed before or in the body", arguments: [true, false])
    func broken(hasHead: Bool) async throws {
        try await Self.withServer { _, _ in
            ScriptedServer.Answer(
                text: hasHead ? "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nbody" : "",
                closes: true)
        } _: { server, transport in
            let error = await #expect(throws: LoadError.self) {
                let response = try await transport.send(Self.request(server))
                for try await _ in response.body {}
            }
            guard case .connectionFailed = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test("reports a timeout")
    func silent() async throws {
        try await Self.withServer(readTimeout: .milliseconds(50)) { _, _ in
            nil
        } _: {
            server, transport in
            await #expect(throws: LoadError.timedOut(url: "\(server.address)/a?b=c")) {
                try await transport.send(Self.request(server))
            }
        }
    }

    @Test("closes the connection of a cancelled task, before the head and in the body")
    func cancelled() async throws {
        try await Self.withServer { _, index in
            index == 0
                ? nil
                : ScriptedServer.Answer(text: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nbody")
        } _: { server, transport in
            let request = Self.request(server)
            for count in 1...2 {
                let task = Task {
                    let response = try await transport.send(request)
                    for try await _ in response.body {}
                }
                while server.requests.count < count { await Task.yield() }
                task.cancel()
                await #expect(throws: LoadError.cancelled) { try await task.value }
                while server.openCount > 0 { await Task.yield() }
            }
        }
    }

    @Test("closes the connection when the loader rejects the body")
    func refusedBody() async throws {
        try await Self.withServer { _, _ in
            ScriptedServer.Answer(
                text: "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nbody")
        } _: { server, transport in
            let loader = Self.loader(transport) { $0.maximumBodyByteCount = 1000 }
            let url = try HTTPURL("\(server.address)/a")
            await #expect(
                throws: LoadError.decodingFailed(
                    path: "\(url)", .limitExceeded(.byteCount, needed: 100_000, allowed: 1000))
            ) { try await loader.load(HTTPLoadRequest(url: url)) }
            while server.openCount > 0 { await Task.yield() }
        }
    }

    @Test("serves a loader through a redirect, an interruption and a resumed body")
    func resumed() async throws {
        let head = "Content-Type: image/png\r\nAccept-Ranges: bytes\r\nETag: \"a\"\r\n"
        try await Self.withServer { request, index in
            switch index {
            case 0:
                ScriptedServer.Answer(
                    text: "HTTP/1.1 301 Moved\r\nLocation: b\r\nContent-Length: 0\r\n\r\n")
            case 1:
                ScriptedServer.Answer(
                    text: "HTTP/1.1 200 OK\r\n\(head)Content-Length: 10\r\n\r\n0123", closes: true)
            default:
                ScriptedServer.Answer(
                    text: "HTTP/1.1 206 Partial Content\r\n\(head)Content-Length: 6\r\n"
                        + "Content-Range: bytes 4-9/10\r\n\r\n456789")
            }
        } _: { server, transport in
            let loader = Self.loader(transport) {
                $0.maximumRetryCount = 1
                $0.retryDelay = .milliseconds(1)
            }
            let response = try await loader.load(
                HTTPLoadRequest(url: HTTPURL("\(server.address)/a")))
            #expect(response.bytes == Array("0123456789".utf8))
            #expect("\(response.url)" == "\(server.address)/b")
            let last = try #require(server.requests.last).lowercased()
            #expect(last.contains("range: bytes=4-\r\n"))
            #expect(last.contains("if-range: \"a\"\r\n"))
        }
    }
}

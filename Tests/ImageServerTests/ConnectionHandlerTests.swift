// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOTLS
import Testing

@testable import ImageServer

@Suite("ConnectionHandler") struct ConnectionHandlerTests {
    /// Responds to requests for `/ready`, and forwards all others.
    private func channel() throws -> EmbeddedChannel {
        let handler = ConnectionHandler(idleTimeout: .seconds(60)) { request in
            guard request.path == "/ready" else { return nil }
            return .init(
                head: HTTPResponse(status: .ok), body: ByteBuffer(string: "there already"))
        }
        let channel = EmbeddedChannel(handler: handler)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    private func head(
        _ path: String, _ method: HTTPRequest.Method = .get, _ fields: HTTPFields = [:]
    ) -> HTTPRequestPart {
        .head(
            HTTPRequest(
                method: method, scheme: "http", authority: "localhost", path: path,
                headerFields: fields))
    }

    private func handedOn(_ channel: EmbeddedChannel) throws -> [HTTPRequestPart] {
        var parts: [HTTPRequestPart] = []
        while let part = try channel.readInbound(as: HTTPRequestPart.self) { parts.append(part) }
        return parts
    }

    private func sent(_ channel: EmbeddedChannel) throws -> [HTTPResponsePart] {
        var parts: [HTTPResponsePart] = []
        while let part = try channel.readOutbound(as: HTTPResponsePart.self) { parts.append(part) }
        return parts
    }

    private let answer: [HTTPResponsePart] = [
        .head(HTTPResponse(status: .ok)), .body(ByteBuffer(string: "there already")), .end(nil),
    ]

    @Test("sends cached responses in the order of the requests") func ready() throws {
        let channel = try channel()
        for _ in 0..<2 {
            try channel.writeInbound(head("/ready"))
            try channel.writeInbound(HTTPRequestPart.end(nil))
            #expect(try sent(channel) == answer)
        }
        #expect(try handedOn(channel).isEmpty)
    }

    @Test("sends heads that were encoded in advance with the date") func encoded() throws {
        let body = ByteBuffer(repeating: 7, count: 100_000)
        let handler = ConnectionHandler(idleTimeout: .seconds(60)) { _ in
            .init(
                head: HTTPResponse(status: .ok, headerFields: [.eTag: "1"]),
                encodedHead: ByteBuffer(string: "HTTP/1.1 200 OK\r\nETag: 1\r\n"), body: body,
                date: .init(HTTPDate(seconds: 784_111_777)))
        }
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let channel = EmbeddedChannel(handlers: [
            HTTPResponseEncoder(), HTTP1ToHTTPServerCodec(secure: false), handler,
        ])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        for _ in 0..<2 {
            try channel.writeInbound(
                HTTPServerRequestPart.head(
                    .init(version: .http1_1, method: .GET, uri: "/", headers: ["Host": "a"])))
            try channel.writeInbound(HTTPServerRequestPart.end(nil))
            var sent = ByteBuffer()
            while case .byteBuffer(var bytes)? = try channel.readOutbound(as: IOData.self) {
                sent.writeBuffer(&bytes)
            }
            let head = "HTTP/1.1 200 OK\r\nETag: 1\r\nDate: \(date)\r\n\r\n"
            #expect(sent.readString(length: head.utf8.count) == head)
            #expect(sent == body)
        }
        // HTTP/2 has no such encoder.
        let stream = EmbeddedChannel(
            handler: ConnectionHandler(idleTimeout: .seconds(60)) { _ in
                .init(
                    head: HTTPResponse(status: .ok),
                    encodedHead: ByteBuffer(string: "HTTP/1.1 200 OK\r\n"), body: body,
                    date: .init(HTTPDate(seconds: 784_111_777)))
            })
        try stream.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try stream.writeInbound(head("/ready"))
        try stream.writeInbound(HTTPRequestPart.end(nil))
        #expect(
            try sent(stream).first
                == .head(HTTPResponse(status: .ok, headerFields: [.date: date])))
    }

    @Test("forwards other requests unchanged") func others() throws {
        let close: HTTPFields = [.connection: "close"]
        let requests: [[HTTPRequestPart]] = [
            [head("/other"), .end(nil)],
            [head("/ready", .post), .body(ByteBuffer(string: "a")), .end(nil)],
            // An unexpected body.
            [head("/ready"), .body(ByteBuffer(string: "a")), .end(nil)],
            [head("/ready", .head), .end(nil)],
            // Hummingbird closes the connection.
            [head("/ready", .get, close), .end(nil)],
        ]
        for request in requests {
            let channel = try channel()
            for part in request { try channel.writeInbound(part) }
            #expect(try handedOn(channel) == request)
            #expect(try sent(channel).isEmpty)
        }
    }

    @Test("never sends a response before that of an earlier request") func order() throws {
        let channel = try channel()
        for part in [head("/other"), .end(nil), head("/ready"), .end(nil)] {
            try channel.writeInbound(part)
        }
        #expect(try handedOn(channel).count == 4)
        #expect(try sent(channel).isEmpty)
        for _ in 0..<2 {
            try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .notFound)))
            try channel.writeOutbound(HTTPResponsePart.end(nil))
        }
        #expect(try sent(channel).count == 4)
        try channel.writeInbound(head("/ready"))
        try channel.writeInbound(HTTPRequestPart.end(nil))
        #expect(try sent(channel) == answer)
    }

    @Test("forwards the requests of clients that do not read") func slowReader() throws {
        let channel = try channel()
        channel.isWritable = false
        try channel.writeInbound(head("/ready"))
        try channel.writeInbound(HTTPRequestPart.end(nil))
        #expect(try handedOn(channel).count == 2)
        #expect(try sent(channel).isEmpty)
    }

    @Test("closes idle connections, but not those with slow responses")
    func idle() throws {
        let used = try channel()
        used.embeddedEventLoop.advanceTime(by: .seconds(59))
        try used.writeInbound(head("/ready"))
        try used.writeInbound(HTTPRequestPart.end(nil))
        used.embeddedEventLoop.advanceTime(by: .seconds(59))
        #expect(used.isActive)
        used.embeddedEventLoop.advanceTime(by: .seconds(2))
        #expect(!used.isActive)

        let answering = try channel()
        try answering.writeInbound(head("/other"))
        try answering.writeInbound(HTTPRequestPart.end(nil))
        answering.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(answering.isActive)
        try answering.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
        try answering.writeOutbound(HTTPResponsePart.end(nil))
        answering.embeddedEventLoop.advanceTime(by: .seconds(121))
        #expect(!answering.isActive)

        // A response that the client does not read.
        let stalled = try channel()
        try stalled.pipeline.syncOperations.addHandler(SlowWriter(), position: .first)
        try stalled.writeInbound(head("/ready"))
        try stalled.writeInbound(HTTPRequestPart.end(nil))
        stalled.embeddedEventLoop.advanceTime(by: .seconds(61))
        #expect(!stalled.isActive)

        // A request that never ends, with more bytes now and then.
        let reading = try channel()
        try reading.writeInbound(head("/other", .post))
        for _ in 0..<59 {
            reading.embeddedEventLoop.advanceTime(by: .seconds(1))
            try reading.writeInbound(HTTPRequestPart.body(ByteBuffer(string: "a")))
        }
        #expect(reading.isActive)
        reading.embeddedEventLoop.advanceTime(by: .seconds(2))
        #expect(!reading.isActive)
    }

    @Test("closes connections whose client reads nothing for 30 s, but not slow ones")
    func slowAnswer() throws {
        let channel = try channel()
        let slow = SlowWriter()
        try channel.pipeline.syncOperations.addHandler(slow, position: .first)
        try channel.writeInbound(head("/other"))
        try channel.writeInbound(HTTPRequestPart.end(nil))
        channel.write(HTTPResponsePart.head(HTTPResponse(status: .ok)), promise: nil)
        let body = ByteBuffer(repeating: 1, count: 1 << 20)
        channel.write(HTTPResponsePart.body(body), promise: nil)
        channel.writeAndFlush(HTTPResponsePart.end(nil), promise: nil)
        let sent = channel.embeddedEventLoop.makePromise(of: Void.self)
        channel.triggerUserOutboundEvent(ConnectionHandler.WhenSent(), promise: sent)
        let hasEnded = NIOLoopBoundBox(Bool?.none, eventLoop: channel.embeddedEventLoop)
        sent.futureResult.whenComplete { result in
            hasEnded.value = if case .success = result { true } else { false }
        }
        // Pieces of 64 KiB, and the end.
        #expect(slow.count == 17)
        for _ in 0..<16 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(29))
            #expect(channel.isActive)
            #expect(hasEnded.value == nil)
            slow.finishFirst()
        }
        channel.embeddedEventLoop.advanceTime(by: .seconds(31))
        #expect(!channel.isActive)
        #expect(hasEnded.value == false)
        slow.finish()
    }

    @Test("fulfils a promise when all bytes have been sent") func sent() throws {
        let channel = try channel()
        let slow = SlowWriter()
        try channel.pipeline.syncOperations.addHandler(slow, position: .first)
        let none = channel.embeddedEventLoop.makePromise(of: Void.self)
        channel.triggerUserOutboundEvent(ConnectionHandler.WhenSent(), promise: none)
        try none.futureResult.wait()
        try channel.writeInbound(head("/other"))
        try channel.writeInbound(HTTPRequestPart.end(nil))
        channel.writeAndFlush(
            HTTPResponsePart.body(ByteBuffer(repeating: 1, count: 10_000)), promise: nil)
        let sent = channel.embeddedEventLoop.makePromise(of: Void.self)
        channel.triggerUserOutboundEvent(ConnectionHandler.WhenSent(), promise: sent)
        slow.finish()
        try sent.futureResult.wait()
    }

    @Test("closes connections without a TLS handshake in time") func handshake() throws {
        for isAgreed in [false, true] {
            let channel = EmbeddedChannel(handler: HandshakeDeadline(.seconds(60)))
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            channel.embeddedEventLoop.advanceTime(by: .seconds(59))
            #expect(channel.isActive)
            if isAgreed {
                channel.pipeline.fireUserInboundEventTriggered(
                    TLSUserEvent.handshakeCompleted(negotiatedProtocol: "h2"))
            }
            channel.embeddedEventLoop.advanceTime(by: .seconds(2))
            #expect(channel.isActive == isAgreed)
        }
    }

    @Test("completes pending writes before a graceful shutdown") func stop() throws {
        let channel = try channel()
        let behind = EventCounter()
        let slow = SlowWriter()
        try channel.pipeline.syncOperations.addHandler(slow, position: .first)
        try channel.pipeline.syncOperations.addHandler(behind)
        try channel.writeInbound(head("/ready"))
        try channel.writeInbound(HTTPRequestPart.end(nil))
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        #expect(behind.count == 0)
        slow.finish()
        #expect(behind.count == 1)
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        #expect(behind.count == 2)
    }
}

/// Delays the completion of writes until released.
private final class SlowWriter: ChannelOutboundHandler {
    typealias OutboundIn = HTTPResponsePart

    private var promises: [EventLoopPromise<Void>] = []

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if let promise { promises.append(promise) }
    }

    var count: Int { promises.count }

    func finishFirst() {
        if !promises.isEmpty { promises.removeFirst().succeed() }
    }

    func finish() {
        for promise in promises { promise.succeed() }
        promises = []
    }
}

private final class EventCounter: ChannelInboundHandler {
    typealias InboundIn = HTTPRequestPart

    private(set) var count = 0

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent { count += 1 }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes

/// Sends cached responses on the connection's event loop, and closes connections without progress.
///
/// All other requests go to Hummingbird, which runs a task for each request and hops back to the
/// event loop for each part of the response. The hops cost more than a cached response.
///
/// Unlike Hummingbird's idle handler, it also counts the requests that it responds to itself.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// A response from the cache.
    struct ReadyResponse {
        /// The head without `Date`.
        var head: HTTPResponse
        /// The same for HTTP/1, encoded in advance and without the empty line at its end.
        var encodedHead: ByteBuffer?
        var body: ByteBuffer?
        var date: DateField?
        /// The reservation of the body's bytes, kept until the body has been sent.
        var hold: OutgoingBytes.Hold?
    }

    /// A value of the header field `Date`, shared by all responses of a second.
    final class DateField {
        let date: HTTPDate
        let text: String
        /// The field as the end of a head of HTTP/1.
        let endOfHead: ByteBuffer

        init(_ date: HTTPDate) {
            self.date = date
            text = date.text
            endOfHead = ByteBuffer(string: "Date: \(text)\r\n\r\n")
        }
    }

    /// An outbound event whose promise succeeds when the system has taken all bytes written before.
    ///
    /// At that time the client has read most of them.
    struct WhenSent: Sendable {}

    /// The number of bytes of a body in one write, so that slow clients show progress.
    private static let pieceByteCount = 64 << 10

    private let idleTimeout: TimeAmount
    private let writeTimeout: TimeAmount
    private let readyResponse: (HTTPRequest) -> ReadyResponse?
    private var idleCheck: Scheduled<Void>?
    private var lastUse = NIODeadline.distantPast
    /// The head of a request that may get a cached response once its end has been read.
    private var held: HTTPRequest?
    private var isReading = false
    /// The number of forwarded requests whose responses are incomplete.
    private var forwardedCount = 0
    /// The number of writes that the system has not taken yet.
    private var writingCount = 0
    /// The time of the last completed write, or of the first pending one.
    private var lastProgress = NIODeadline.distantPast
    /// The time at which the current request began.
    private var readingStart = NIODeadline.distantPast
    /// The promises of pending ``WhenSent`` events.
    private var sentPromises: [EventLoopPromise<Void>] = []
    private var isStopping = false
    /// The encoder of HTTP/1, which encoded heads skip; `nil` for a stream of HTTP/2.
    private var encoder: ChannelHandlerContext?
    private var isSendingReady = false
    /// Whether the channel was writable when the following handlers were last notified.
    private var wasWritable = true

    /// - Parameters:
    ///   - idleTimeout: the time after which a connection is closed that has no request, or one that
    ///     is incomplete.
    ///   - writeTimeout: the time after which a connection is closed whose client reads nothing.
    ///   - readyResponse: returns the cached response to a request without a body, or `nil`.
    init(
        idleTimeout: TimeAmount, writeTimeout: TimeAmount = .seconds(30),
        readyResponse: @escaping (HTTPRequest) -> ReadyResponse?
    ) {
        self.idleTimeout = idleTimeout
        self.writeTimeout = writeTimeout
        self.readyResponse = readyResponse
    }

    func handlerAdded(context: ChannelHandlerContext) {
        lastUse = context.eventLoop.now
        encoder = try? context.pipeline.syncOperations.context(
            handlerType: HTTPResponseEncoder.self)
        check(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        idleCheck?.cancel()
        encoder = nil
        failSentPromises()
    }

    func channelInactive(context: ChannelHandlerContext) {
        failSentPromises()
        context.fireChannelInactive()
    }

    private func failSentPromises() {
        let promises = sentPromises
        sentPromises = []
        for promise in promises { promise.fail(ChannelError.ioOnClosedChannel) }
    }

    func triggerUserOutboundEvent(
        context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
    ) {
        guard event is WhenSent else {
            context.triggerUserOutboundEvent(event, promise: promise)
            return
        }
        guard let promise else { return }
        if writingCount == 0 {
            promise.succeed()
        } else if context.channel.isActive {
            sentPromises.append(promise)
        } else {
            promise.fail(ChannelError.ioOnClosedChannel)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastUse = context.eventLoop.now
        switch unwrapInboundIn(data) {
        case .head(let head):
            isReading = true
            readingStart = lastUse
            // Responses keep the order of the requests. Clients that do not read take the slow path.
            if forwardedCount == 0, context.channel.isWritable, head.method == .get,
                head.keepsConnection
            {
                held = head
                return
            }
            forwardedCount += 1
        case .body: forwardHead(context)
        case .end:
            isReading = false
            if let head = held, let response = readyResponse(head) {
                held = nil
                write(response, context)
                return
            }
            forwardHead(context)
        }
        context.fireChannelRead(data)
    }

    /// Forwards the head that was held back.
    private func forwardHead(_ context: ChannelHandlerContext) {
        guard let head = held else { return }
        held = nil
        forwardedCount += 1
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    private func write(_ response: ReadyResponse, _ context: ChannelHandlerContext) {
        isSendingReady = true
        let promise = context.eventLoop.makePromise(of: Void.self)
        if let hold = response.hold {
            promise.futureResult.whenComplete { _ in withExtendedLifetime(hold) {} }
        }
        if let encoder, let date = response.date, var head = response.encodedHead,
            let body = response.body
        {
            head.writeImmutableBuffer(date.endOfHead)
            encoder.write(NIOAny(IOData.byteBuffer(head)), promise: nil)
            write(body, context, promise) {
                encoder.write(NIOAny(IOData.byteBuffer($0)), promise: $1)
            }
            encoder.flush()
        } else {
            var head = response.head
            head.headerFields[.date] = response.date?.text
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            if let body = response.body { write(body, context, nil) }
            track(promise, context)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: promise)
        }
        isSendingReady = false
        notifyOfWritability(context)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        // Most cached responses exceed the limit of unsent bytes for the duration of the system call.
        if !isSendingReady { notifyOfWritability(context) }
    }

    private func notifyOfWritability(_ context: ChannelHandlerContext) {
        guard context.channel.isWritable != wasWritable else { return }
        wasWritable = !wasWritable
        context.fireChannelWritabilityChanged()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .body(let body) where body.readableBytes >= OutgoingBytes.pieces.lowerBound:
            write(body, context, promise)
        case .end:
            forwardedCount -= 1
            lastUse = context.eventLoop.now
            let promise = promise ?? context.eventLoop.makePromise()
            track(promise, context)
            context.write(data, promise: promise)
        default:
            context.write(data, promise: promise)
        }
    }

    /// Writes a body in pieces that share its storage.
    private func write(
        _ body: ByteBuffer, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?
    ) {
        write(body, context, promise) {
            context.write(wrapOutboundOut(.body($0)), promise: $1)
        }
    }

    /// Writes a body in pieces by `send`.
    private func write(
        _ body: ByteBuffer, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?,
        send: (ByteBuffer, EventLoopPromise<Void>) -> Void
    ) {
        var rest = body
        while rest.readableBytes > Self.pieceByteCount,
            let piece = rest.readSlice(length: Self.pieceByteCount)
        {
            let sent = context.eventLoop.makePromise(of: Void.self)
            track(sent, context)
            send(piece, sent)
        }
        let sent = promise ?? context.eventLoop.makePromise()
        track(sent, context)
        send(rest, sent)
    }

    /// Counts a write until its promise completes.
    private func track(_ promise: EventLoopPromise<Void>, _ context: ChannelHandlerContext) {
        if writingCount == 0 { lastProgress = context.eventLoop.now }
        writingCount += 1
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        promise.futureResult.whenComplete { _ in
            let (handler, context) = bound.value
            handler.writeCompleted(context)
        }
    }

    private func writeCompleted(_ context: ChannelHandlerContext) {
        lastUse = context.eventLoop.now
        lastProgress = lastUse
        writingCount -= 1
        guard writingCount == 0 else { return }
        let promises = sentPromises
        sentPromises = []
        for promise in promises { promise.succeed() }
        if isStopping { context.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The following handlers would close the connection as idle and lose the pending writes.
        if event is ChannelShouldQuiesceEvent, writingCount > 0 {
            isStopping = true
            return
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// Closes the connection if it made no progress; otherwise schedules the next check.
    private func check(_ context: ChannelHandlerContext) {
        let now = context.eventLoop.now
        let end: NIODeadline
        if writingCount > 0 {
            end = lastProgress + writeTimeout
        } else if isReading {
            end = readingStart + idleTimeout
        } else if forwardedCount > 0 {
            // The requests in progress have their own deadline.
            end = now + idleTimeout
        } else {
            end = lastUse + idleTimeout
        }
        guard now < end else {
            context.close(promise: nil)
            return
        }
        let next = min(end, now + writeTimeout)
        idleCheck = context.eventLoop.assumeIsolated().scheduleTask(deadline: next) { [self] in
            check(context)
        }
    }
}

extension Channel {
    /// Waits until the system has taken all written bytes.
    ///
    /// - Throws: `ChannelError.ioOnClosedChannel` if the connection closes first.
    func untilSent() async throws { try await sent().get() }

    /// Calls `work` when the system has taken all written bytes, or the connection has closed.
    func whenSent(_ work: @escaping @Sendable () -> Void) {
        sent().whenComplete { _ in work() }
    }

    private func sent() -> EventLoopFuture<Void> {
        let promise = eventLoop.makePromise(of: Void.self)
        triggerUserOutboundEvent(ConnectionHandler.WhenSent(), promise: promise)
        return promise.futureResult
    }
}

extension HTTPRequest {
    /// Whether the request allows further requests on the connection.
    fileprivate var keepsConnection: Bool {
        guard let value = headerFields[.connection] else { return true }
        return value.lowercased() == "keep-alive"
    }
}

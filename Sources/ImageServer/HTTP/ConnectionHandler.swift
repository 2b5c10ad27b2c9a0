// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes

/// Answers what needs no wait as soon as it is read, and closes connections that make no progress.
///
/// Everything else goes on to Hummingbird, which hands each request to a task and each part of an
/// answer back to this thread: that costs more than an answer that is there already.
///
/// It knows of all requests, which Hummingbird's own handler for idle connections does not.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// An answer that is there already.
    struct ReadyAnswer {
        var head: HTTPResponse
        var body: ByteBuffer?
        /// Accounts for the body until it is sent.
        var hold: OutgoingBytes.Hold?
    }

    /// Sent down the channel; its promise is fulfilled when everything written before has been taken
    /// by the system, which is when the client has read most of it.
    struct WhenSent: Sendable {}

    /// The largest part of a body that is written at once, so that a client that reads slowly is
    /// seen to read.
    private static let pieceByteCount = 64 << 10

    private let idleTimeout: TimeAmount
    private let writeTimeout: TimeAmount
    private let answer: (HTTPRequest) -> ReadyAnswer?
    private var idleCheck: Scheduled<Void>?
    private var lastUse = NIODeadline.distantPast
    /// A request that may be answered here once it is read to its end.
    private var held: HTTPRequest?
    private var isReading = false
    /// Requests that went on and have not been answered to the end.
    private var forwardedCount = 0
    /// Parts of answers that are not with the system yet.
    private var writingCount = 0
    /// When the system last took one of them, or the first of them was written.
    private var lastProgress = NIODeadline.distantPast
    /// When the request that is being read began.
    private var readingStart = NIODeadline.distantPast
    /// Continuations that wait until nothing is being written.
    private var sentPromises: [EventLoopPromise<Void>] = []
    private var isStopping = false

    /// - Parameters:
    ///   - idleTimeout: the time after which a connection without requests, or with one that is not
    ///     sent to its end, is closed.
    ///   - writeTimeout: the time after which a connection is closed whose client reads nothing.
    ///   - answer: the answer to a request without a body, if it is there already.
    init(
        idleTimeout: TimeAmount, writeTimeout: TimeAmount = .seconds(30),
        answer: @escaping (HTTPRequest) -> ReadyAnswer?
    ) {
        self.idleTimeout = idleTimeout
        self.writeTimeout = writeTimeout
        self.answer = answer
    }

    func handlerAdded(context: ChannelHandlerContext) {
        lastUse = context.eventLoop.now
        check(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        idleCheck?.cancel()
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
            // In the order of the requests; and who does not read may wait in line.
            if forwardedCount == 0, context.channel.isWritable, head.method == .get,
                head.keepsConnection
            {
                held = head
                return
            }
            forwardedCount += 1
        case .body: goOn(context)
        case .end:
            isReading = false
            if let head = held, let answer = answer(head) {
                held = nil
                write(answer, context)
                return
            }
            goOn(context)
        }
        context.fireChannelRead(data)
    }

    /// Hands on what was held of a request.
    private func goOn(_ context: ChannelHandlerContext) {
        guard let head = held else { return }
        held = nil
        forwardedCount += 1
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    private func write(_ answer: ReadyAnswer, _ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.head(answer.head)), promise: nil)
        if let body = answer.body { write(body, context, nil) }
        let promise = context.eventLoop.makePromise(of: Void.self)
        if let hold = answer.hold {
            promise.futureResult.whenComplete { _ in withExtendedLifetime(hold) {} }
        }
        track(promise, context)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: promise)
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

    /// Writes a body in pieces, which share its bytes.
    private func write(
        _ body: ByteBuffer, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?
    ) {
        var rest = body
        while rest.readableBytes > Self.pieceByteCount,
            let piece = rest.readSlice(length: Self.pieceByteCount)
        {
            let sent = context.eventLoop.makePromise(of: Void.self)
            track(sent, context)
            context.write(wrapOutboundOut(.body(piece)), promise: sent)
        }
        let sent = promise ?? context.eventLoop.makePromise()
        track(sent, context)
        context.write(wrapOutboundOut(.body(rest)), promise: sent)
    }

    /// Notes when a part that is about to be written has been sent.
    private func track(_ promise: EventLoopPromise<Void>, _ context: ChannelHandlerContext) {
        if writingCount == 0 { lastProgress = context.eventLoop.now }
        writingCount += 1
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        promise.futureResult.whenComplete { _ in
            let (handler, context) = bound.value
            handler.wrote(context)
        }
    }

    private func wrote(_ context: ChannelHandlerContext) {
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
        // Those behind close a connection that they think of as idle, with what is on its way.
        if event is ChannelShouldQuiesceEvent, writingCount > 0 {
            isStopping = true
            return
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// Closes the connection if it makes no progress; else looks again when it may have made none.
    private func check(_ context: ChannelHandlerContext) {
        let now = context.eventLoop.now
        let end: NIODeadline
        if writingCount > 0 {
            end = lastProgress + writeTimeout
        } else if isReading {
            end = readingStart + idleTimeout
        } else if forwardedCount > 0 {
            // The work on an answer has a deadline of its own.
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
    /// Waits until the system has taken everything that was written.
    func untilSent() async throws { try await sent().get() }

    /// Calls `work` when the system has taken everything that was written, or never will.
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
    /// Whether another request may come over the same connection.
    fileprivate var keepsConnection: Bool {
        guard let value = headerFields[.connection] else { return true }
        return value.lowercased() == "keep-alive"
    }
}

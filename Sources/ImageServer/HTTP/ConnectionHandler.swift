// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes

/// Answers what needs no wait as soon as it is read, and closes connections that nobody uses.
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
    }

    private let idleTimeout: TimeAmount
    private let answer: (HTTPRequest) -> ReadyAnswer?
    private var idleCheck: Scheduled<Void>?
    private var lastUse = NIODeadline.distantPast
    /// A request that may be answered here once it is read to its end.
    private var held: HTTPRequest?
    private var isReading = false
    /// Requests that went on and have not been answered to the end.
    private var forwardedCount = 0
    /// Answers from here that are not with the system yet.
    private var writingCount = 0
    private var isStopping = false

    /// - Parameters:
    ///   - idleTimeout: after how long without use the connection is closed.
    ///   - answer: the answer to a request without a body, if it is there already.
    init(idleTimeout: TimeAmount, answer: @escaping (HTTPRequest) -> ReadyAnswer?) {
        self.idleTimeout = idleTimeout
        self.answer = answer
    }

    func handlerAdded(context: ChannelHandlerContext) {
        lastUse = context.eventLoop.now
        checkLater(context, lastUse)
    }

    func handlerRemoved(context: ChannelHandlerContext) { idleCheck?.cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastUse = context.eventLoop.now
        switch unwrapInboundIn(data) {
        case .head(let head):
            isReading = true
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
        if let body = answer.body { context.write(wrapOutboundOut(.body(body)), promise: nil) }
        writingCount += 1
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
            let (handler, context) = bound.value
            handler.lastUse = context.eventLoop.now
            handler.writingCount -= 1
            if handler.writingCount == 0, handler.isStopping {
                context.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
            }
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) {
            forwardedCount -= 1
            lastUse = context.eventLoop.now
        }
        context.write(data, promise: promise)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // Those behind close a connection that they think of as idle, with what is on its way.
        if event is ChannelShouldQuiesceEvent, writingCount > 0 {
            isStopping = true
            return
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func checkLater(_ context: ChannelHandlerContext, _ start: NIODeadline) {
        idleCheck = context.eventLoop.assumeIsolated().scheduleTask(deadline: start + idleTimeout) {
            [self] in
            let now = context.eventLoop.now
            // Whoever does not read what was answered here is not waited for.
            if forwardedCount > 0, !isReading {
                checkLater(context, now)
            } else if lastUse + idleTimeout <= now {
                context.close(promise: nil)
            } else {
                checkLater(context, lastUse)
            }
        }
    }
}

extension HTTPRequest {
    /// Whether another request may come over the same connection.
    fileprivate var keepsConnection: Bool {
        guard let value = headerFields[.connection] else { return true }
        return value.lowercased() == "keep-alive"
    }
}

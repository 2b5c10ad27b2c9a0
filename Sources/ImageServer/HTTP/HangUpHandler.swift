// SPDX-License-Identifier: Apache-2.0

internal import HummingbirdCore
internal import NIOCore
internal import NIOHTTPTypes

/// Tells the work on a request that its client has hung up.
///
/// Hummingbird notices a closed connection only when it next reads or writes, which is after the
/// work is done. Its `consumeWithCancellationOnInboundClose` notices earlier, but ends every
/// connection after one answer; a gallery fetches hundreds of pictures over a few connections.
///
/// A client that closes only its own direction and still listens counts as gone too: TCP shows
/// no difference until something is sent.
final class HangUpHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart

    /// Sent down the channel when work on a request begins; with `nil` when it has ended.
    struct Watch: Sendable {
        let onHangUp: (@Sendable () -> Void)?
    }

    private var onHangUp: (@Sendable () -> Void)?
    private var hasHungUp = false

    func triggerUserOutboundEvent(
        context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
    ) {
        guard let watch = event as? Watch else {
            context.triggerUserOutboundEvent(event, promise: promise)
            return
        }
        onHangUp = watch.onHangUp
        if hasHungUp { watch.onHangUp?() }
        promise?.succeed()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { hangUp() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        hangUp()
        context.fireChannelInactive()
    }

    private func hangUp() {
        hasHungUp = true
        onHangUp?()
    }
}

/// Runs `work` and cancels it as soon as the client at the other end of `channel` hangs up.
func withCancellationOnHangUp(
    of channel: any Channel, _ work: @escaping @Sendable () async -> Response
) async -> Response {
    let task = Task { await work() }
    channel.triggerUserOutboundEvent(HangUpHandler.Watch { task.cancel() }, promise: nil)
    defer { channel.triggerUserOutboundEvent(HangUpHandler.Watch(onHangUp: nil), promise: nil) }
    return await withTaskCancellationHandler {
        await task.value
    } onCancel: {
        task.cancel()
    }
}

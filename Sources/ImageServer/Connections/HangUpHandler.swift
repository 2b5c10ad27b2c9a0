// SPDX-License-Identifier: Apache-2.0

internal import HummingbirdCore
internal import NIOCore
internal import NIOHTTPTypes

/// Cancels the work on a request when its client closes the connection.
///
/// Hummingbird detects a closed connection only at its next read or write, after the work is done.
/// Its `consumeWithCancellationOnInboundClose` detects it earlier, but closes every connection after
/// one response; a gallery loads hundreds of images over a few connections.
///
/// A client that closes only its sending direction counts as gone too: TCP does not show the
/// difference until bytes are sent.
final class HangUpHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart

    /// The outbound event at the beginning of the work on a request, and with `nil` at its end.
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

/// Runs `work` and cancels it when the client of `channel` closes the connection.
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

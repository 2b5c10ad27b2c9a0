// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The client of a request.
struct RequestClient: Sendable {
    /// The channel of the connection, or of the HTTP/2 stream; `nil` for requests without a network.
    let channel: (any Channel)?
    /// The name under which limits and queues count the client, by ``RateLimiter/name(of:)``.
    let name: String

    init(channel: (any Channel)?) {
        self.channel = channel
        name = RateLimiter.name(of: channel?.remoteAddress)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The client whose request a task works on.
struct RequestClient: Sendable {
    /// The client of the current task; one without a name for a request that came over no network.
    @TaskLocal static var current = RequestClient(channel: nil)

    /// The connection of the request, or its stream.
    let channel: (any Channel)?
    /// The name for limits and turns, by ``ClientLimiter/name(of:)``.
    let name: String

    init(channel: (any Channel)?) {
        self.channel = channel
        name = ClientLimiter.name(of: channel?.remoteAddress)
    }
}

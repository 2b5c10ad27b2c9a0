// SPDX-License-Identifier: Apache-2.0

/// The address that a server listens on.
enum BindAddress: Sendable {
    /// A host name or IP address and a port; port 0 selects a free one.
    case network(host: String, port: Int)
    /// The path of a Unix domain socket.
    case unixSocket(path: String)
    /// The descriptor of a socket that listens already.
    case descriptor(CInt)
}

// SPDX-License-Identifier: Apache-2.0

internal import ImageCommands
internal import Glibc

/// Returns the listening socket that the parent process passed, as systemd does for socket
/// activation.
///
/// Worker processes do not inherit it.
///
/// - Parameter environment: The variables `LISTEN_PID` and `LISTEN_FDS`.
/// - Returns: The file descriptor; `nil` if no socket was passed to this process.
/// - Throws: ``FileFailure`` if several sockets were passed or the descriptor is closed.
/// - SeeAlso: The manual page `sd_listen_fds(3)`.
func inheritedSocket(_ environment: [String: String]) throws(FileFailure) -> CInt? {
    guard environment["LISTEN_PID"] == "\(getpid())",
        let count = environment["LISTEN_FDS"].flatMap({ Int($0) }), count > 0
    else { return nil }
    guard count == 1 else {
        throw FileFailure("LISTEN_FDS", "\(count) sockets were passed; pass one")
    }
    let descriptor: CInt = 3
    guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
        throw FileFailure("LISTEN_FDS", "descriptor 3 is not open")
    }
    return descriptor
}

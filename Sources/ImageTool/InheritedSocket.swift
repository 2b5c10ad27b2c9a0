// SPDX-License-Identifier: Apache-2.0

internal import PictureCommands
#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The socket that whoever started this process has made to listen, as systemd does.
///
/// Workers that this process starts do not get it.
///
/// - Parameter environment: `LISTEN_PID` and `LISTEN_FDS` of it.
/// - Returns: its descriptor; `nil` if there is none for this process.
/// - Throws: ``FileFailure`` if there are several.
/// - SeeAlso: the manual page `sd_listen_fds(3)`.
func inheritedSocket(_ environment: [String: String]) throws(FileFailure) -> CInt? {
    guard environment["LISTEN_PID"] == "\(getpid())",
        let count = environment["LISTEN_FDS"].flatMap({ Int($0) }), count > 0
    else { return nil }
    guard count == 1 else {
        throw FileFailure("LISTEN_FDS", "one socket is listened at, not \(count)")
    }
    let descriptor: CInt = 3
    guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
        throw FileFailure("LISTEN_FDS", "there is no socket")
    }
    return descriptor
}

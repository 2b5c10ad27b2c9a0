// SPDX-License-Identifier: Apache-2.0

/// An error that keeps the server from running, or the reason why it rejects a request.
///
/// The first six cases are for the operator; the others become HTTP responses.
public enum ServerError: Error, Hashable, Sendable {
    /// Another program listens on the port.
    case addressInUse(host: String, port: Int)
    /// The system does not allow listening on the port; `reason` is the system's message.
    case cannotListen(host: String, port: Int, reason: String)
    /// The system does not allow listening at a Unix domain socket; `reason` is its message.
    case cannotListenAtSocket(path: String, reason: String)
    /// A certificate or its private key is unusable.
    case badCertificate(path: String, reason: String)
    /// A template of cards cannot be read, or is not valid.
    case invalidTemplate(path: String, reason: String)
    /// The folder to serve does not exist, is no folder, or is unreadable.
    case notAFolder(path: String)

    /// No resource has this URL (404). The same for missing, hidden and non-image files.
    case notFound
    /// The path or the query is invalid (400); `reason` states the valid form.
    case malformedRequest(reason: String)
    /// The URL does not support the method (405).
    case methodNotAllowed
    /// Path and query have more than 8,192 bytes (414).
    case pathTooLong
    /// The range starts at or after the end of a file of `byteCount` bytes (416).
    case rangeNotSatisfiable(byteCount: Int)
    /// The signature is missing or matches no key (403).
    case badSignature
    /// The request has no token in `Authorization` (401).
    case unauthorized
    /// The client has not logged in (401).
    case loginRequired
    /// The signed expiry time has passed (410).
    case expired
    /// The link of the guest has been withdrawn, or has expired (410).
    case linkEnded
    /// The configuration of the server does not allow the request (403).
    case forbidden(reason: String)
    /// The `Host` header names another server (421). The operator can add the name with
    /// `--public-address`.
    case misdirected(host: String)
    /// The number of open connections exceeds the limit (503).
    case tooManyConnections
    /// The client exceeds its request rate and must wait `seconds` (429).
    case tooManyRequests(seconds: Int)
    /// The response did not begin within ``ImageServer/Configuration/requestTimeout`` (503).
    case deadlineExceeded
    /// The original was written to while it was read (503).
    case originalChanged
}

extension ServerError: CustomStringConvertible {
    /// A message in one line, without file system paths in the cases that become responses.
    public var description: String {
        switch self {
        case .addressInUse(let host, let port):
            "port \(port) on \(host) is already in use; choose another with --port"
        case .cannotListen(let host, let port, let reason):
            "cannot listen on port \(port) of \(host): \(reason)"
        case .cannotListenAtSocket(let path, let reason): "cannot listen at \(path): \(reason)"
        case .badCertificate(let path, let reason): "\(path): \(reason)"
        case .invalidTemplate(let path, let reason): "\(path): \(reason)"
        case .notAFolder(let path): "\(path): not a readable folder"
        case .notFound: "not found"
        case .malformedRequest(let reason): reason
        case .methodNotAllowed: "method not allowed"
        case .pathTooLong: "the URL is too long"
        case .rangeNotSatisfiable(let byteCount):
            "range not satisfiable: the file has \(byteCount) bytes"
        case .badSignature: "invalid signature"
        case .unauthorized: "a bearer token is required"
        case .loginRequired: "a login is required: /-/login"
        case .expired: "the URL has expired"
        case .linkEnded: "the link has been withdrawn or has expired; ask for another one"
        case .forbidden(let reason): reason
        case .tooManyConnections: "too many connections; retry later"
        case .misdirected(let host):
            "unknown host \(host): this server responds to localhost and to the host of "
                + "--public-address"
        case .tooManyRequests(let seconds): "too many requests; retry in \(seconds) seconds"
        case .deadlineExceeded: "timeout while producing the image; retry later"
        case .originalChanged: "the original changed while it was read; retry"
        }
    }
}

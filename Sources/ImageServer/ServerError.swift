// SPDX-License-Identifier: Apache-2.0

/// Why the server cannot run, or why it refuses a request.
public enum ServerError: Error, Hashable, Sendable {
    /// Another program listens there. Whoever started us, by choosing another port.
    case addressInUse(host: String, port: Int)
    /// The system does not let us listen there. Whoever started us; `reason` is the system's.
    case cannotListen(host: String, port: Int, reason: String)
    /// The system does not let us listen at a socket in the file system. Whoever started us;
    /// `reason` is the system's.
    case cannotListenAtSocket(path: String, reason: String)
    /// A certificate or its key cannot be used. Whoever started us; `reason` says why.
    case badCertificate(path: String, reason: String)
    /// What should be served is no folder that can be read. Whoever started us.
    case notAFolder(path: String)

    /// Nothing that is served has this address, whatever else may be there.
    case notFound
    /// The address or its query makes no sense. The client; `reason` says what would.
    case malformedRequest(reason: String)
    /// Only `GET` and `HEAD` are answered. The client.
    case methodNotAllowed
    /// The address is longer than `ImageResponder/maximumAddressByteCount`. The client.
    case addressTooLong
    /// The range starts behind the end of a file of `byteCount` bytes. The client.
    case rangeNotSatisfiable(byteCount: Int)
    /// The address is not signed by anybody who may. The client, by asking whoever hands them out.
    case badSignature
    /// The request has no token. The client, by sending one in `Authorization`.
    case unauthorized
    /// The address was signed until a moment that has passed.
    case expired
    /// The address asks for more than those of this server may.
    case forbidden(reason: String)
    /// The request is for a server of another name, which this one does not answer as. The operator,
    /// with `--public-address`.
    case misdirected(host: String)
    /// More connections are open than the server serves. The client, by asking again later.
    case tooManyConnections
    /// The client asks for more than others do, and has to wait so many seconds.
    case tooManyRequests(seconds: Int)
    /// The picture could not be made in ``ImageServer/Configuration/requestTimeout``. The client, by
    /// asking again when the server is less busy.
    case tookTooLong
    /// Someone wrote to the original while it was looked at. The client, by asking again.
    case changedMeanwhile
}

extension ServerError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .addressInUse(let host, let port):
            "port \(port) on \(host) is already in use; choose another with --port"
        case .cannotListen(let host, let port, let reason):
            "cannot listen on port \(port) of \(host): \(reason)"
        case .cannotListenAtSocket(let path, let reason): "cannot listen at \(path): \(reason)"
        case .badCertificate(let path, let reason): "\(path): \(reason)"
        case .notAFolder(let path): "\(path): not a folder that can be read"
        case .notFound: "not found"
        case .malformedRequest(let reason): reason
        case .methodNotAllowed: "only GET and HEAD are answered"
        case .addressTooLong: "the address is too long"
        case .rangeNotSatisfiable(let byteCount): "the file has only \(byteCount) bytes"
        case .badSignature: "the address is not signed as it should be"
        case .unauthorized: "only those who have a token may do this"
        case .expired: "the address is not valid any more"
        case .forbidden(let reason): reason
        case .tooManyConnections: "too many connections; try again later"
        case .misdirected(let host):
            "this server is not \(host): it answers to localhost and to the host of --public-address"
        case .tooManyRequests(let seconds): "too many requests; wait for \(seconds) seconds"
        case .tookTooLong: "the picture takes too long; try again later"
        case .changedMeanwhile: "the picture is being changed; try again"
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The address of a Redis server, with the credentials and the database.
public struct RedisAddress: Hashable, Sendable {
    /// The host name or IP address.
    public let host: String
    /// The TCP port.
    public let port: Int
    /// The name of the user; `nil` for the default user.
    public let user: String?
    /// The password; `nil` if the server requires none.
    public var password: String?
    /// The number of the database, which separates the servers of one deployment from others.
    public let database: Int

    /// Parses `HOST:PORT`, `HOST`, or `redis://[USER][:PASSWORD@]HOST[:PORT][/DATABASE]`.
    ///
    /// IPv6 addresses are in brackets; user and password are percent-decoded.
    ///
    /// - Throws: ``RedisError/invalidAddress(reason:)``, whose reason contains no password.
    public init(_ text: String) throws(RedisError) {
        var rest = text[...]
        if let scheme = rest.firstRange(of: "://") {
            switch rest[..<scheme.lowerBound] {
            case "redis": rest = rest[scheme.upperBound...]
            case "rediss":
                throw .invalidAddress(
                    reason: "TLS is not supported; use a private network or a tunnel")
            default: throw .invalidAddress(reason: "use HOST:PORT or redis://HOST:PORT/DATABASE")
            }
        }
        if let at = rest.lastIndex(of: "@") {
            let parts = rest[..<at].split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            user = parts[0].isEmpty ? nil : try Self.decoded(parts[0])
            password = parts.count > 1 ? try Self.decoded(parts[1]) : nil
            rest = rest[rest.index(after: at)...]
        } else {
            user = nil
        }
        if let slash = rest.firstIndex(of: "/") {
            let digits = rest[rest.index(after: slash)...]
            guard digits.isEmpty || 0...1_000_000 ~= (Int(digits) ?? -1) else {
                throw .invalidAddress(reason: "invalid database: \(digits); use a number")
            }
            database = Int(digits) ?? 0
            rest = rest[..<slash]
        } else {
            database = 0
        }
        var digits = "6379"[...]
        let bracket = rest.first == "[" ? rest.firstIndex(of: "]") : nil
        if let colon = rest[(bracket ?? rest.startIndex)...].lastIndex(of: ":") {
            digits = rest[rest.index(after: colon)...]
            rest = rest[..<colon]
        }
        guard let port = Int(digits), 1...65_535 ~= port else {
            throw .invalidAddress(reason: "invalid port: \(digits); use a number from 1 to 65535")
        }
        self.port = port
        if bracket != nil { rest = rest.dropFirst().prefix { $0 != "]" } }
        guard !rest.isEmpty, !rest.contains(where: { "[]/@ ".contains($0) }),
            bracket != nil || !rest.contains(":")
        else {
            throw .invalidAddress(
                reason: "invalid host: \(rest); use a name, or an IPv6 address in brackets")
        }
        host = String(rest)
    }

    private static func decoded(_ text: Substring) throws(RedisError) -> String {
        guard let text = RequestPath.decoded(text.utf8) else {
            throw .invalidAddress(reason: "invalid percent-encoding of the user or the password")
        }
        return text
    }
}

/// Why a command has no result.
///
/// Requests for images continue without it.
public enum RedisError: Error, Hashable, Sendable {
    /// The address is invalid; the operator can correct `--redis`.
    case invalidAddress(reason: String)
    /// There is no connection; the client connects again by itself.
    case disconnected
    /// The server has not answered in time, or an earlier command is still unanswered.
    case timedOut
    /// The server has refused a command; the operator can correct the credentials or the rights of the user.
    case refused(message: String)
    /// The server does not answer in the protocol, or not with the expected type.
    case invalidReply

    /// The value of the dimension `reason` of metrics.
    var reason: String {
        switch self {
        case .invalidAddress: "address"
        case .disconnected: "disconnected"
        case .timedOut: "timeout"
        case .refused: "refused"
        case .invalidReply: "invalid"
        }
    }
}

extension RedisError: CustomStringConvertible {
    /// A message in one line, without credentials.
    public var description: String {
        switch self {
        case .invalidAddress(let reason): reason
        case .disconnected: "there is no connection to Redis"
        case .timedOut: "Redis does not answer in time"
        case .refused(let message): "Redis refuses a command: \(message)"
        case .invalidReply: "the reply is not that of a Redis server"
        }
    }
}

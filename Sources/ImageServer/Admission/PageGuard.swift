// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes

/// Protects a local server against requests of web pages from other sites.
///
/// A server on a loopback address is reachable by every page that its user opens. It therefore rejects
/// requests to foreign host names, since a page can resolve its own name to 127.0.0.1 (DNS rebinding),
/// and requests that the browser marks as cross-site.
struct PageGuard: Sendable {
    /// Whether only this machine can reach the server.
    let isLocal: Bool
    /// The accepted host names in lower case, in addition to those of the loopback interface.
    private let names: Set<String>
    /// The origins whose pages may read responses, such as `https://viewer.example`.
    private let origins: Set<String>
    /// Whether pages of all origins may read responses.
    private let allowsAllOrigins: Bool

    /// - Parameters:
    ///   - address: the address that the server listens on.
    ///   - host: the configured host name or IP address.
    ///   - publicURL: the public base URL, if there is one.
    ///   - allowedOrigins: the origins whose pages may read responses; `*` stands for all.
    init(address: BindAddress, host: String, publicURL: String?, allowedOrigins: [String]) {
        let host = host.lowercased()
        isLocal =
            switch address {
            case .network: host == "localhost" || LoopbackAddress.isLoopback(host)
            case .unixSocket: false
            case .descriptor(let descriptor): LoopbackAddress.isLoopback(descriptor)
            }
        names = Set([publicURL.flatMap(Self.host(ofURL:)), host].compactMap { $0 })
        origins = Set(allowedOrigins.map { $0.lowercased() })
        // A public URL opens the server to pages of all sites.
        allowsAllOrigins =
            origins.contains("*") || (origins.isEmpty && (!isLocal || publicURL != nil))
    }

    /// Checks `Host`, `Sec-Fetch-Site` and `Origin`.
    ///
    /// - Throws: ``ServerError/misdirected(host:)``, or ``ServerError/forbidden(reason:)`` for a
    ///   request by a page of another site.
    func check(_ request: HTTPRequest) throws(ServerError) {
        guard isLocal else { return }
        // Only clients older than HTTP/1.1, hence no browsers, omit the host.
        // A second `Host` stays among the header fields.
        for authority in [request.authority, request.headerFields[named: "Host"]] {
            guard let authority, !authority.isEmpty, !isOwn(authority) else { continue }
            throw .misdirected(host: String(authority.prefix(255)))
        }
        guard !allowsAllOrigins, request.headerFields[named: "Sec-Fetch-Site"] == "cross-site",
            request.headerFields[named: "Sec-Fetch-Dest"] != "document",
            !isAllowed(request.headerFields[named: "Origin"])
        else { return }
        throw .forbidden(
            reason: "cross-site requests are rejected; allow the origin with --allow-origin")
    }

    /// The value of `Access-Control-Allow-Origin` for a request; `nil` to omit the header.
    func allowedOrigin(_ request: HTTPRequest) -> String? {
        if allowsAllOrigins { return "*" }
        let origin = request.headerFields[named: "Origin"]
        return isAllowed(origin) ? origin : nil
    }

    /// Whether `Access-Control-Allow-Origin` depends on the request.
    var variesByOrigin: Bool { !allowsAllOrigins && !origins.isEmpty }

    /// Adds the headers that allow pages of other origins to read the response to a request.
    func addCORSHeaders(to headers: inout HTTPFields, _ request: HTTPRequest) {
        if variesByOrigin { headers[.vary] = headers[.vary].map { "\($0), Origin" } ?? "Origin" }
        guard let origin = allowedOrigin(request) else { return }
        headers[.accessControlAllowOrigin] = origin
        headers[.accessControlExposeHeaders] = "ETag, Link"
    }

    /// The value of `Cross-Origin-Resource-Policy`, for browsers that send no `Sec-Fetch-Site`.
    var resourcePolicy: String? {
        isLocal && !allowsAllOrigins && origins.isEmpty ? "same-site" : nil
    }

    private func isAllowed(_ origin: String?) -> Bool {
        origin.map { origins.contains($0.lowercased()) } ?? false
    }

    private func isOwn(_ authority: String) -> Bool {
        guard let name = Self.host(ofAuthority: authority.lowercased()) else { return false }
        return name == "localhost" || name.hasSuffix(".localhost")
            || LoopbackAddress.isLoopback(name) || names.contains(name)
    }

    /// The host in `https://images.example:8443/path`.
    private static func host(ofURL url: String) -> String? {
        guard let scheme = url.firstRange(of: "://") else { return nil }
        return host(ofAuthority: url[scheme.upperBound...].prefix { $0 != "/" }.lowercased())
    }

    /// The host in `images.example:8443` or `[::1]:8080`, without brackets.
    ///
    /// - Returns: `nil` for an invalid authority (RFC 3986, 3.2, without user information).
    private static func host(ofAuthority authority: String) -> String? {
        let isBracketed = authority.hasPrefix("[")
        let host = authority.dropFirst(isBracketed ? 1 : 0).prefix {
            $0 != (isBracketed ? "]" : ":")
        }
        var rest = authority[host.endIndex...]
        if isBracketed {
            guard rest.popFirst() == "]" else { return nil }
        }
        guard rest.isEmpty || (rest.popFirst() == ":" && rest.utf8.allSatisfy(\.isDigit)) else {
            return nil
        }
        return String(host)
    }
}

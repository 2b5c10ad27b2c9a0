// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif
internal import CNIOLinux
internal import HTTPTypes

/// Which web pages may use the server.
///
/// A server that only this computer can reach is still reached by every page that its user opens. It
/// therefore answers only requests to its own names, since a page can let its own name resolve to
/// 127.0.0.1 (DNS rebinding), and no requests that a browser marks as sent by a page of another site.
struct PageGuard: Sendable {
    /// Whether only this computer can reach the server.
    let isLocal: Bool
    /// The host names, in lower case, by which it is reached besides those of this computer.
    private let names: Set<String>
    /// The origins whose pages may read its answers, such as `https://viewer.example`.
    private let origins: Set<String>
    /// Whether pages of all origins may.
    private let allowsAllOrigins: Bool

    init(_ configuration: ImageServer.Configuration) {
        let host = configuration.host.lowercased()
        let publicHost = configuration.publicAddress.flatMap(Self.host(ofAddress:))
        if let descriptor = configuration.listeningDescriptor {
            isLocal = Self.isLoopback(descriptor)
        } else {
            isLocal =
                configuration.socketPath == nil && (host == "localhost" || Self.isLoopback(host))
        }
        names = Set([publicHost, host].compactMap { $0 })
        origins = Set(configuration.allowedOrigins.map { $0.lowercased() })
        // A public address is one for the pages of all sites.
        allowsAllOrigins =
            origins.contains("*")
            || (origins.isEmpty && (!isLocal || configuration.publicAddress != nil))
    }

    /// Checks the names and marks that browsers send.
    ///
    /// - Throws: ``ServerError/misdirected(host:)``, or ``ServerError/forbidden(reason:)`` for a
    ///   request that a page of another site makes.
    func check(_ request: HTTPRequest) throws(ServerError) {
        guard isLocal else { return }
        // Only clients that are older than HTTP/1.1, hence no browsers, send none.
        // A second name stays among the fields.
        for authority in [request.authority, request.headerFields[named: "Host"]] {
            guard let authority, !authority.isEmpty, !isOwn(authority) else { continue }
            throw .misdirected(host: String(authority.prefix(255)))
        }
        guard !allowsAllOrigins, request.headerFields[named: "Sec-Fetch-Site"] == "cross-site",
            request.headerFields[named: "Sec-Fetch-Dest"] != "document",
            !isAllowed(request.headerFields[named: "Origin"])
        else { return }
        throw .forbidden(
            reason: "requests by pages of other sites are refused; allow them with --allow-origin")
    }

    /// What `Access-Control-Allow-Origin` is for a request; `nil` for none.
    func allowedOrigin(_ request: HTTPRequest) -> String? {
        if allowsAllOrigins { return "*" }
        let origin = request.headerFields[named: "Origin"]
        return isAllowed(origin) ? origin : nil
    }

    /// Whether `Access-Control-Allow-Origin` depends on the request.
    var variesByOrigin: Bool { !allowsAllOrigins && !origins.isEmpty }

    /// The value of `Cross-Origin-Resource-Policy`, for browsers that send no `Sec-Fetch-Site`.
    var resourcePolicy: String? {
        isLocal && !allowsAllOrigins && origins.isEmpty ? "same-site" : nil
    }

    private func isAllowed(_ origin: String?) -> Bool {
        origin.map { origins.contains($0.lowercased()) } ?? false
    }

    private func isOwn(_ authority: String) -> Bool {
        guard let name = Self.host(ofAuthority: authority.lowercased()) else { return false }
        return name == "localhost" || name.hasSuffix(".localhost") || Self.isLoopback(name)
            || names.contains(name)
    }

    /// The host in `https://pictures.example:8443/path`.
    private static func host(ofAddress address: String) -> String? {
        guard let scheme = address.firstRange(of: "://") else { return nil }
        return host(ofAuthority: address[scheme.upperBound...].prefix { $0 != "/" }.lowercased())
    }

    /// The host in `pictures.example:8443` or `[::1]:8080`, without brackets; `nil` if that is no
    /// authority of a server (RFC 3986, 3.2, without user information).
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

    /// Whether a numeric address is one of this computer alone: 127.0.0.0/8 or ::1.
    static func isLoopback(_ text: String) -> Bool {
        let mapped = text.hasPrefix("::ffff:") ? String(text.dropFirst("::ffff:".count)) : text
        var four = in_addr()
        if unsafe inet_pton(AF_INET, mapped, &four) == 1 {
            return UInt32(bigEndian: four.s_addr) >> 24 == 127
        }
        return text == "::1"
    }

    /// Whether a socket listens at such an address.
    private static func isLoopback(_ descriptor: CInt) -> Bool {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let isNumber = unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            guard let address = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                unsafe getsockname(descriptor, address, &length) == 0,
                unsafe [sa_family_t(AF_INET), sa_family_t(AF_INET6)]
                    .contains(address.pointee.sa_family)
            else { return false }
            return unsafe getnameinfo(
                address, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
        }
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return isNumber && isLoopback(String(decoding: bytes, as: UTF8.self))
    }
}

// SPDX-License-Identifier: Apache-2.0

public import ImageLoading

/// Which originals on the web are served.
///
/// Names are compared here; what numbers stand behind them is for the transport to check, which
/// connects to the very number that it has looked at.
public struct WebSources: Sendable, Hashable {
    /// Names of hosts, with a port if it is not the scheme's own.
    ///
    /// `*.photos.example` stands for every name that ends so.
    public var hosts: [String]
    public var schemes: Set<HTTPURL.Scheme>

    /// - Parameters:
    ///   - hosts: names of hosts, or ends of names after `*.`.
    ///   - schemes: how they are asked.
    public init(hosts: [String], schemes: Set<HTTPURL.Scheme> = [.https]) {
        self.hosts = hosts.map { $0.lowercased() }
        self.schemes = schemes
    }

    /// Whether an original is served; redirects lead to nothing else either.
    public func allows(_ url: HTTPURL) -> Bool {
        // Another port is another server.
        guard schemes.contains(url.scheme) else { return false }
        return hosts.contains { host in
            if host.contains(":") { return url.authority == host }
            guard url.port == nil else { return false }
            return host.hasPrefix("*.")
                ? url.host.hasSuffix(host.dropFirst()) && url.host.count > host.count - 1
                : url.host == host
        }
    }
}

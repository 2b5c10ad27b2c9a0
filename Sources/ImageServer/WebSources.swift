// SPDX-License-Identifier: Apache-2.0

public import HTTPCaching
internal import ImageLoading
internal import LoadScheduling

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
    /// Where addresses that begin with `s3://` lead; `nil` if they are not served.
    public var objectStore: ObjectStore?

    /// - Parameters:
    ///   - hosts: names of hosts, or ends of names after `*.`.
    ///   - schemes: how they are asked.
    public init(hosts: [String], schemes: Set<HTTPURL.Scheme> = [.https]) {
        self.hosts = hosts.map { $0.lowercased() }
        self.schemes = schemes
    }

    /// Where an original is asked for.
    ///
    /// - Throws: ``LoadError/addressRefused(url:reason:)`` if it is not served.
    func url(of address: String) throws(LoadError) -> HTTPURL {
        if let url = try objectStore?.url(of: address) { return url }
        let url = try HTTPURL(address)
        guard allows(url) else {
            throw .addressRefused(url: "\(url)", reason: "its host is not served")
        }
        return url
    }

    /// Whether an original is served; redirects lead to nothing else either.
    public func allows(_ url: HTTPURL) -> Bool {
        if let objectStore, objectStore.allows(url) { return true }
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

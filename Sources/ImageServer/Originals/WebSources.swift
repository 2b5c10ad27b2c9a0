// SPDX-License-Identifier: Apache-2.0

public import HTTPCaching
internal import LoadScheduling

/// The allow list of remote originals.
///
/// It compares host names. The transport checks the IP addresses that they resolve to, and connects
/// to the checked address.
public struct WebSources: Sendable, Hashable {
    /// Host names, with a port if it is not the default port of the scheme.
    ///
    /// `*.photos.example` matches all subdomains.
    public var hosts: [String]
    /// The allowed URL schemes.
    public var schemes: Set<HTTPURL.Scheme>
    /// The store that serves `s3://` URLs; `nil` to reject them.
    public var objectStore: ObjectStore?

    /// Creates an allow list.
    ///
    /// - Parameters:
    ///   - hosts: host names, or parent domains after `*.`.
    ///   - schemes: the allowed URL schemes.
    public init(hosts: [String], schemes: Set<HTTPURL.Scheme> = [.https]) {
        self.hosts = hosts.map { $0.lowercased() }
        self.schemes = schemes
    }

    /// Returns the URL that an original is loaded from.
    ///
    /// - Throws: ``LoadError/addressRefused(url:reason:)`` if it is not allowed.
    func url(of text: String) throws(LoadError) -> HTTPURL {
        if let url = try objectStore?.url(of: text) { return url }
        let url = try HTTPURL(text)
        guard allows(url) else {
            throw .addressRefused(url: "\(url)", reason: "host not allowed")
        }
        return url
    }

    /// Whether an original may be loaded from `url`; redirects are checked too.
    public func allows(_ url: HTTPURL) -> Bool {
        if let objectStore, objectStore.allows(url) { return true }
        // Another port may be another server.
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

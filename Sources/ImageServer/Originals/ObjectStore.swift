// SPDX-License-Identifier: Apache-2.0

public import HTTPCaching
internal import LoadScheduling

/// An S3-compatible object store with the buckets that are served.
///
/// `s3://BUCKET/KEY` maps to `ENDPOINT/BUCKET/KEY`; the transport signs the requests.
public struct ObjectStore: Sendable, Hashable {
    /// The base URL of the store.
    public let endpoint: HTTPURL
    /// The names of the served buckets.
    public let buckets: Set<String>

    /// Creates a store with path-style URLs.
    public init(endpoint: HTTPURL, buckets: Set<String>) {
        self.endpoint = endpoint
        self.buckets = buckets
    }

    /// Returns the HTTP URL of an object.
    ///
    /// - Parameter text: `s3://BUCKET/KEY` with an unescaped key.
    /// - Returns: `nil` for another scheme.
    /// - Throws: ``LoadError/addressRefused(url:reason:)`` for a bucket that is not served, or a key
    ///   that no URL can have.
    func url(of text: some StringProtocol) throws(LoadError) -> HTTPURL? {
        guard text.lowercased().hasPrefix("s3://") else { return nil }
        let parts = text.dropFirst(5).split(
            separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let bucket = String(parts[0])
        guard buckets.contains(bucket) else {
            throw .addressRefused(url: String(text), reason: "bucket not allowed")
        }
        let segments = parts.dropFirst().joined().split(
            separator: "/", omittingEmptySubsequences: false)
        // URL normalization removes such segments.
        guard segments.contains(where: { !$0.isEmpty }),
            !segments.contains(where: { $0 == "." || $0 == ".." })
        else { throw .addressRefused(url: String(text), reason: "invalid object key") }
        let key = segments.map(\.percentEncoded).joined(separator: "/")
        return try HTTPURL("\(endpoint.scheme.rawValue)://\(endpoint.authority)/\(bucket)/\(key)")
    }

    /// Whether `url` is the URL of an object in a served bucket.
    func allows(_ url: HTTPURL) -> Bool {
        guard url.hasSameOrigin(as: endpoint), !url.path.contains("?"),
            !url.hasEscapedDotSegments
        else { return false }
        let parts = url.path.dropFirst().split(
            separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 && !parts[1].isEmpty && buckets.contains(String(parts[0]))
    }
}

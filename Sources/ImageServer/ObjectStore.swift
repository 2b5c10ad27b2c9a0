// SPDX-License-Identifier: Apache-2.0

public import HTTPCaching
internal import ImageLoading
internal import LoadScheduling

/// A store of objects that speaks S3, and which of its buckets are served.
///
/// `s3://BUCKET/KEY` stands for `ENDPOINT/BUCKET/KEY`; who signs the requests is the transport.
public struct ObjectStore: Sendable, Hashable {
    public let endpoint: HTTPURL
    public let buckets: Set<String>

    public init(endpoint: HTTPURL, buckets: Set<String>) {
        self.endpoint = endpoint
        self.buckets = buckets
    }

    /// Where an object is asked for.
    ///
    /// - Parameter address: `s3://BUCKET/KEY`; the key stands for itself, nothing in it is escaped.
    /// - Returns: `nil` for another scheme.
    /// - Throws: ``LoadError/addressRefused(url:reason:)`` for a bucket that is not served, or a key
    ///   that no address can have.
    func url(of address: some StringProtocol) throws(LoadError) -> HTTPURL? {
        guard address.lowercased().hasPrefix("s3://") else { return nil }
        let parts = address.dropFirst(5).split(
            separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let bucket = String(parts[0])
        guard buckets.contains(bucket) else {
            throw .addressRefused(url: String(address), reason: "its bucket is not served")
        }
        let segments = parts.dropFirst().joined().split(
            separator: "/", omittingEmptySubsequences: false)
        // Addresses lose such segments, and would lead elsewhere.
        guard segments.contains(where: { !$0.isEmpty }),
            !segments.contains(where: { $0 == "." || $0 == ".." })
        else { throw .addressRefused(url: String(address), reason: "not the key of an object") }
        let key = segments.map(escaped).joined(separator: "/")
        return try HTTPURL("\(endpoint.scheme.rawValue)://\(endpoint.authority)/\(bucket)/\(key)")
    }

    /// Whether an address is that of an object in a bucket that is served.
    func allows(_ url: HTTPURL) -> Bool {
        guard url.hasSameOrigin(as: endpoint), !url.path.contains("?"),
            !url.hasEscapedDotSegments
        else { return false }
        let parts = url.path.dropFirst().split(
            separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 && !parts[1].isEmpty && buckets.contains(String(parts[0]))
    }

    /// As signatures want it: everything in percent but letters, digits and four signs.
    private func escaped(_ text: some StringProtocol) -> String {
        text.utf8.map { byte in
            let character = Character(UnicodeScalar(byte))
            if byte < 0x80, character.isLetter || character.isNumber || "-._~".contains(character) {
                return String(character)
            }
            let digits = String(byte, radix: 16, uppercase: true)
            return byte < 16 ? "%0\(digits)" : "%\(digits)"
        }.joined()
    }
}

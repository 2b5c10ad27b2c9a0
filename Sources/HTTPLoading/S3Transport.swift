// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
public import HTTPCaching
public import HTTPTypes
public import LoadScheduling
internal import MessageDigests

/// A transport that signs requests to an S3 object store and forwards all requests.
///
/// Requests are signed when they are sent, retries, resumed downloads and conditional requests
/// included.
/// - SeeAlso: AWS Signature Version 4, with the headers and the body signed.
public struct S3Transport: HTTPTransport {
    /// The access key of the client.
    public struct Credentials: Sendable {
        /// The access key ID.
        public let keyID: String
        /// The secret access key.
        public let secret: String
        /// The session token of temporary credentials.
        public let sessionToken: String?

        /// Creates credentials.
        public init(keyID: String, secret: String, sessionToken: String? = nil) {
            self.keyID = keyID
            self.secret = secret
            self.sessionToken = sessionToken
        }
    }

    private let transport: any HTTPTransport
    private let endpoint: HTTPURL
    private let buckets: Set<String>?
    private let region: String
    private let credentials: Credentials
    private let now: @Sendable () -> Date

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - transport: sends the requests.
    ///   - endpoint: the URL of the object store; requests to other servers are not signed.
    ///   - buckets: the buckets for whose objects requests are signed, `nil` for all requests; other requests
    ///     to the store are sent without a signature, those after redirects included. Queries are sent as they
    ///     are: percent-encoded, and sorted by name.
    ///   - region: the region, such as `eu-central-1`.
    ///   - credentials: the access key.
    public init(
        _ transport: any HTTPTransport, endpoint: HTTPURL, buckets: Set<String>?, region: String,
        credentials: Credentials
    ) {
        self.init(transport, endpoint, buckets, region, credentials) { Date() }
    }

    init(
        _ transport: any HTTPTransport, _ endpoint: HTTPURL, _ buckets: Set<String>? = nil,
        _ region: String, _ credentials: Credentials, now: @escaping @Sendable () -> Date
    ) {
        self.transport = transport
        self.endpoint = endpoint
        self.buckets = buckets
        self.region = region
        self.credentials = credentials
        self.now = now
    }

    /// Signs the request if it is for an object, and sends it.
    public func send(
        _ request: HTTPRequest
    ) async throws(LoadError) -> HTTPTransportResponse {
        try await transport.send(forStore(request, body: []))
    }

    /// Signs the request and its body if it is for an object, and sends both.
    public func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(LoadError) -> HTTPTransportResponse {
        try await transport.send(forStore(request, body: body), body: body)
    }

    /// Returns the request as it is sent: signed if it is for an object.
    private func forStore(
        _ request: HTTPRequest, body: [UInt8]
    ) throws(LoadError) -> HTTPRequest {
        guard request.scheme == endpoint.scheme.rawValue, request.authority == endpoint.authority
        else { return request }
        let url = try HTTPURL(
            "\(endpoint.scheme.rawValue)://\(endpoint.authority)\(request.path ?? "/")")
        // The store may resolve the path to another bucket than the one that was checked.
        guard !url.hasEscapedDotSegments else {
            throw .addressRefused(url: "\(url)", reason: "the path is not a valid object key")
        }
        var request = request
        request.path = url.path
        return isSigned(url) ? signed(request, body) : request
    }

    /// Returns whether a URL is that of an object in a signed bucket; with all buckets signed, any is.
    private func isSigned(_ url: HTTPURL) -> Bool {
        guard let buckets else { return true }
        // A query could list a bucket.
        guard !url.path.contains("?") else { return false }
        let parts = url.path.dropFirst().split(
            separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 && !parts[1].isEmpty && buckets.contains(String(parts[0]))
    }

    private func signed(_ request: HTTPRequest, _ body: [UInt8]) -> HTTPRequest {
        // 20130524T000000Z
        let date: String = now().formatted(.iso8601)
        let time = date.filter { !"-:".contains($0) }
        var request = request
        var fields = [
            "host": request.authority ?? "", "x-amz-date": time,
            "x-amz-content-sha256": MessageDigest(sha256: body).hexadecimal,
        ]
        fields["x-amz-security-token"] = credentials.sessionToken
        for (name, value) in fields where name != "host" {
            if let name = HTTPField.Name(name) { request.headerFields[name] = value }
        }
        fields["range"] = request.headerFields[.range]
        for field in request.headerFields where field.name.canonicalName.hasPrefix("x-amz-meta-") {
            fields[field.name.canonicalName] = field.value
        }
        let names = fields.keys.sorted()
        let signedNames = names.joined(separator: ";")
        let parts = (request.path ?? "/").split(
            separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        // The caller percent-encodes the query, and sorts it by name.
        var lines = [
            request.method.rawValue, String(parts[0]), parts.count > 1 ? String(parts[1]) : "",
        ]
        for name in names { lines.append("\(name):\(fields[name] ?? "")") }
        lines += ["", signedNames, fields["x-amz-content-sha256"] ?? ""]
        let day = String(time.prefix(8))
        let scope = "\(day)/\(region)/s3/aws4_request"
        let text = [
            "AWS4-HMAC-SHA256", time, scope,
            MessageDigest(sha256: Array(lines.joined(separator: "\n").utf8)).hexadecimal,
        ].joined(separator: "\n")
        let key = [day, region, "s3", "aws4_request"]
            .reduce(Array("AWS4\(credentials.secret)".utf8)) { key, part in
                MessageDigest(hmacSHA256: Array(part.utf8), key: key).bytes
            }
        let signature = MessageDigest(hmacSHA256: Array(text.utf8), key: key).hexadecimal
        request.headerFields[.authorization] =
            "AWS4-HMAC-SHA256 Credential=\(credentials.keyID)/\(scope), "
            + "SignedHeaders=\(signedNames), Signature=\(signature)"
        return request
    }
}

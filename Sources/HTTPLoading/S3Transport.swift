// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
public import HTTPCaching
public import HTTPTypes
public import LoadScheduling
internal import MessageDigests

/// Signs what is asked of a store of objects that speaks S3, and sends everything on.
///
/// It signs at the last moment, so that trying again, going on where a download broke off and asking
/// whether something has changed are signed as they are sent.
/// - SeeAlso: AWS Signature Version 4, with the headers signed and no body.
public struct S3Transport: HTTPTransport {
    /// Who asks.
    public struct Credentials: Sendable {
        public let keyID: String
        public let secret: String
        /// Goes with keys that are lent for a while.
        public let sessionToken: String?

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

    /// - Parameters:
    ///   - transport: carries the requests.
    ///   - endpoint: the store; requests to other servers are not signed.
    ///   - buckets: the first names of the paths that are signed, `nil` for all; other requests to the
    ///     store are sent without a signature, wherever a redirect leads.
    ///   - region: where it stands, such as `eu-central-1`.
    ///   - credentials: who asks.
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

    public func send(
        _ request: HTTPRequest
    ) async throws(LoadError) -> HTTPTransportResponse {
        guard request.scheme == endpoint.scheme.rawValue, request.authority == endpoint.authority
        else { return try await transport.send(request) }
        let url = try HTTPURL(
            "\(endpoint.scheme.rawValue)://\(endpoint.authority)\(request.path ?? "/")")
        // The store may take it for a path in another bucket than the one that was checked.
        guard !url.hasEscapedDotSegments else {
            throw .addressRefused(url: "\(url)", reason: "not the key of an object")
        }
        var request = request
        request.path = url.path
        return try await transport.send(isSigned(url) ? signed(request) : request)
    }

    /// Whether an address is that of an object that may be asked for with the credentials.
    private func isSigned(_ url: HTTPURL) -> Bool {
        // The signature covers a path without a query, such as one that lists a bucket.
        guard !url.path.contains("?") else { return false }
        guard let buckets else { return true }
        let parts = url.path.dropFirst().split(
            separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 && !parts[1].isEmpty && buckets.contains(String(parts[0]))
    }

    private func signed(_ request: HTTPRequest) -> HTTPRequest {
        // 20130524T000000Z
        let date: String = now().formatted(.iso8601)
        let time = date.filter { !"-:".contains($0) }
        var request = request
        var fields = [
            "host": request.authority ?? "", "x-amz-date": time,
            "x-amz-content-sha256": MessageDigest(sha256: []).hexadecimal,
        ]
        fields["x-amz-security-token"] = credentials.sessionToken
        for (name, value) in fields where name != "host" {
            if let name = HTTPField.Name(name) { request.headerFields[name] = value }
        }
        fields["range"] = request.headerFields[.range]
        let names = fields.keys.sorted()
        let signedNames = names.joined(separator: ";")
        // The address of an object has no query.
        var lines = [request.method.rawValue, request.path ?? "/", ""]
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

// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore

/// A request with its client and its parsed path.
struct IncomingRequest: Sendable {
    let http: Request
    let client: RequestClient
    /// The percent-encoded path without the query.
    let encodedPath: String
    /// The decoded segments of the path; `nil` for a path that no served file can have.
    let path: RequestPath?
    /// What the client may see.
    var permission = Permission.everything

    init(_ http: Request, from client: RequestClient) {
        self.http = http
        self.client = client
        encodedPath = http.uri.path
        path = RequestPath(encodedPath)
    }

    var method: HTTPRequest.Method { http.method }
    var headers: HTTPFields { http.headers }
    /// Whether the method is `GET` or `HEAD`.
    var isRead: Bool { method == .get || method == .head }
    /// The decoded segments of the path; none for an invalid path.
    var segments: [String] { path?.segments ?? [] }

    /// The segments of the path without percent-decoding.
    var encodedSegments: [Substring.UTF8View] {
        encodedPath.utf8.dropFirst()
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    }

    /// Returns the decoded value of a query parameter.
    func query(_ name: String) -> Substring? { http.uri.queryParameters[Substring(name)] }

    /// The maximum length of a JSON body in bytes.
    private static let maximumBodyByteCount = 1 << 20

    /// Decodes the JSON body.
    ///
    /// - Parameter expected: what is expected, for the message.
    /// - Returns: the decoded value.
    /// - Throws: ``ServerError/malformedRequest(reason:)``.
    func body<Value: Decodable>(_ expected: String) async throws(ServerError) -> Value {
        guard let body = try? await http.body.collect(upTo: Self.maximumBodyByteCount),
            let value = try? JSONDecoder().decode(Value.self, from: Data(body.readableBytesView))
        else { throw .malformedRequest(reason: "invalid body; expected \(expected)") }
        return value
    }

    /// Whether a browser says that a page of another origin made the request.
    var isFromOtherSite: Bool {
        let site = headers[named: "Sec-Fetch-Site"]
        return site != nil && site != "same-origin" && site != "none"
    }

    /// Checks that a request which changes something was made by a page of this server, or by a program.
    ///
    /// Pages of other sites can send forms, but no JSON: that needs a permission which the server does not
    /// give.
    ///
    /// - Throws: ``ServerError/forbidden(reason:)``.
    func checkIsOwn() throws(ServerError) {
        let type = headers[.contentType]?.prefix { $0 != ";" && $0 != " " }.lowercased()
        guard !isFromOtherSite, type == "application/json" else {
            throw .forbidden(reason: "expected a JSON request of a page of this server")
        }
    }

    /// Returns the value of an integer query parameter.
    ///
    /// - Throws: ``ServerError/malformedRequest(reason:)`` if the value is out of range.
    func number(
        _ name: String, _ range: PartialRangeFrom<Int>, default: Int
    ) throws(ServerError) -> Int {
        guard let text = query(name) else { return `default` }
        guard let number = Int(text), range.contains(number) else {
            throw .malformedRequest(
                reason: "invalid \(name); expected an integer of at least \(range.lowerBound)")
        }
        return number
    }
}

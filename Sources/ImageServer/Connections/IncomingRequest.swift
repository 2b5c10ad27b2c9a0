// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore

/// A request with its client and its parsed path.
struct IncomingRequest: Sendable {
    let http: Request
    let client: RequestClient
    /// The percent-encoded path without the query.
    let encodedPath: String
    /// The decoded segments of the path; `nil` for a path that no served file can have.
    let path: RequestPath?

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

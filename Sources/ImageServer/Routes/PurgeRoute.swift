// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import MessageDigests

/// `DELETE /house/1.jpg`: removes everything derived from an original; the file stays.
///
/// It requires `Authorization: Bearer …` with one of the tokens, and no signature.
struct PurgeRoute: Route {
    /// The top-level names without originals.
    private static let reservedNames: Set = ["healthz", "iiif", "metrics", "readyz"]

    let purging: Purging
    let grammar: OptionGrammar
    /// The accepted tokens.
    let tokens: [String]
    /// Whether paths in the syntax of imgproxy are served.
    let hasImgproxy: Bool
    /// The prefixes of the other routes, whose resources cannot be purged.
    let prefixes: Set<String>

    let methods: [HTTPRequest.Method] = [.delete]
    var steps: RequestSteps { [.connectionLimit, .pageGuard, .pathLength] }

    func matches(_ request: IncomingRequest) -> Bool {
        let names = request.segments
        guard let first = names.first, first != "-" else { return false }
        if names.count == 1 { return !Self.reservedNames.contains(first) }
        if prefixes.contains(first) { return false }
        if hasImgproxy, ImgproxyPath.matches(request.encodedPath) { return false }
        return !grammar.isSize(names[names.count - 2])
    }

    func response(to request: IncomingRequest) async throws -> Response {
        guard let sent = request.headers[.authorization] else { throw ServerError.unauthorized }
        let isAllowed = tokens.contains { token in
            // Digests have equal lengths, so that the comparison takes constant time.
            MessageDigest(sha256: Array("Bearer \(token)".utf8))
                == MessageDigest(sha256: Array(sent.utf8))
        }
        guard isAllowed else { throw ServerError.forbidden(reason: "invalid bearer token") }
        let warning = try await purging.purge(request)
        var headers: HTTPFields = [.cacheControl: "no-store"]
        headers[named: "X-Purge-Warning"] = warning
        return Response(status: .noContent, headers: headers)
    }
}

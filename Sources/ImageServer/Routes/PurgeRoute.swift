// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import ImageLoading
internal import MessageDigests

extension ImageResponder {
    /// Whether an address is that of an original, and somebody may purge.
    func isPurged(_ names: [String], _ request: Request) -> Bool {
        guard !configuration.purgeTokens.isEmpty, let first = names.first, first != "-" else {
            return false
        }
        if names.count == 1 { return !["healthz", "readyz", "metrics"].contains(first) }
        if first == "iiif" || Derivative(rawValue: first) != nil { return false }
        if configuration.imgproxy != nil, ImgproxyAddress.isOne(request.uri.path) { return false }
        do throws(ServerError) {
            return try sizeOptions(names[names.count - 2]) == nil
        } catch {
            return false
        }
    }

    /// What `Allow` says beside the answer that a method is not answered.
    func allowedMethods(_ request: Request) -> String {
        if request.uri.path.hasPrefix("/iiif/") { return "GET, HEAD, OPTIONS" }
        guard let path = RequestPath(request.uri.path) else { return "GET, HEAD" }
        switch path.segments.first {
        case "sprite" where path.segments.count > 1: return "GET, HEAD, POST"
        default: return isPurged(path.segments, request) ? "GET, HEAD, DELETE" : "GET, HEAD"
        }
    }

    /// `DELETE /house/1.jpg` forgets everything that was made of a picture; the file stays.
    ///
    /// It needs `Authorization: Bearer …` with a token that the server was started with.
    func purge(_ names: [String], _ request: Request) async throws -> Response {
        guard let sent = request.headers[.authorization] else { throw ServerError.unauthorized }
        let isAllowed = configuration.purgeTokens.contains { token in
            // Digests of equal length, so that the time tells nothing of where they differ.
            MessageDigest(sha256: Array("Bearer \(token)".utf8))
                == MessageDigest(sha256: Array(sent.utf8))
        }
        guard isAllowed else {
            throw ServerError.forbidden(reason: "only those who have a token may do this")
        }
        let identity = try await disk { [photos] in try photos.original(names) }
        try await disk { [tileImages] in try tileImages.remove(identity) }
        try await pipeline.removeAll(of: identity.path)
        hot.removeAll(of: identity.path)
        return Response(status: .noContent, headers: [.cacheControl: "no-store"])
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import HTTPTypes
internal import Hummingbird
internal import ImageLoading

extension ImageResponder {
    /// `DELETE /house/1.jpg` forgets everything that was made of a picture; the file stays.
    ///
    /// It needs `Authorization: Bearer …` with a token that the server was started with.
    func purge(_ names: [String], _ request: Request) async throws -> Response {
        let sent = request.headers[.authorization] ?? ""
        let isAllowed = configuration.purgeTokens.contains { token in
            // Digests of equal length, so that the time tells nothing of where they differ.
            SHA256.hash(data: Array("Bearer \(token)".utf8)) == SHA256.hash(data: Array(sent.utf8))
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

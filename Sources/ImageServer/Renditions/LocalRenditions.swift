// SPDX-License-Identifier: Apache-2.0

internal import HummingbirdCore

/// Renditions of originals in the served folder, with a cache of complete responses.
struct LocalRenditions: Sendable {
    let responder: RenditionResponder
    let negotiation: ContentNegotiation
    let hot: HotResponder

    /// Responds with a rendition, from the cache if the original is unchanged.
    ///
    /// - Parameters:
    ///   - names: the names of folders and of the file.
    ///   - requested: the options in the path.
    ///   - request: the request.
    /// - Returns: 200 with the rendition, or 304.
    /// - Throws: ``ServerError`` or ``ImageLoading/LoadError``.
    func response(
        _ names: [String], _ requested: RenditionOptions, _ request: IncomingRequest
    ) async throws -> Response {
        let (options, varying) = negotiation.negotiated(requested, request.headers)
        return try await hot.response(names, request) { identity, keep in
            try await responder.response(
                identity, options, request, varying: varying, keep: keep)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore

/// Renditions of originals in the served folder, with a cache of complete responses.
struct LocalRenditions: Sendable {
    let originals: Originals
    let responder: RenditionResponder
    let negotiation: ContentNegotiation
    let hot: HotRenditions
    let pageGuard: PageGuard

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
        let time = ContinuousClock.now
        let identity = try await originals.identity(names)
        guard let key = hot.key(for: request.http.head) else {
            return try await responder.response(identity, options, request, varying: varying)
        }
        if let cached = hot.response(key, of: identity, checked: time) {
            return cached.validators.isNotModified(request.headers)
                ? .notModified(cached.headers) : .ok(cached.body, cached.headers)
        }
        return try await responder.response(identity, options, request, varying: varying) {
            validators, headers, body in
            // The headers that RequestHandler and Hummingbird add to other responses.
            var complete = headers.with(.xContentTypeOptions, "nosniff")
                .with(.contentLength, "\(body.readableBytes)")
            complete[named: "Cross-Origin-Resource-Policy"] = pageGuard.resourcePolicy
            hot.insert(
                .init(original: identity, validators: validators, headers: complete, body: body),
                key, checked: time)
        }
    }
}

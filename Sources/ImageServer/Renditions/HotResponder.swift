// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import ImageLoading
internal import NIOCore

/// Responds to requests for resources derived from originals in the served folder, with a cache of
/// complete responses.
struct HotResponder: Sendable {
    /// Stores a 200 response before it is returned.
    typealias Keep = (Validators, HTTPFields, ByteBuffer) -> Void

    let originals: Originals
    let hot: HotRenditions
    let pageGuard: PageGuard

    /// Responds from the cache if the original is unchanged, and otherwise with the result of `make`.
    ///
    /// - Parameters:
    ///   - names: the names of folders and of the file.
    ///   - request: the request.
    ///   - hasCORS: whether ``RequestSteps/cors`` applies to the response.
    ///   - make: makes the response for an original.
    /// - Returns: 200, or 304.
    /// - Throws: ``ServerError/notFound``, or the error of `make`.
    func response(
        _ names: [String], _ request: IncomingRequest, hasCORS: Bool = false,
        make: (FileIdentity, Keep) async throws -> Response
    ) async throws -> Response {
        let time = ContinuousClock.now
        let identity = try await originals.identity(names, for: request)
        let head = request.http.head
        guard !hasCORS || !pageGuard.variesByOrigin, let key = hot.key(for: head) else {
            return try await make(identity) { _, _, _ in }
        }
        if let cached = hot.response(key, of: identity, checked: time) {
            return cached.validators.isNotModified(request.headers)
                ? .notModified(cached.headers) : .ok(cached.body, cached.headers)
        }
        return try await make(identity) { validators, headers, body in
            // The headers that RequestHandler and Hummingbird add to other responses.
            var complete = headers.with(.xContentTypeOptions, "nosniff")
                .with(.contentLength, "\(body.readableBytes)")
            complete[named: "Cross-Origin-Resource-Policy"] = pageGuard.resourcePolicy
            if hasCORS { pageGuard.addCORSHeaders(to: &complete, head) }
            hot.insert(
                .init(original: identity, validators: validators, headers: complete, body: body),
                key, checked: time)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes

/// The checks of a request's head that decide whether it is processed at all.
struct RequestAdmission: Sendable {
    /// The signatures that URLs must have.
    enum SignatureRule: Sendable {
        /// URLs need no signature.
        case none
        /// URLs end in a signature made with one of the keys.
        case query(PathSignature)
        /// Only imgproxy paths, which contain their own signature, are accepted.
        case imgproxyOnly
    }

    /// The maximum number of bytes of path and query.
    static let maximumPathByteCount = 8_192

    let pageGuard: PageGuard
    let signatures: SignatureRule
    /// Who may see the images; `nil` for everyone.
    let access: AccessControl?
    /// The links of guests; `nil` if there are none.
    let links: SharedLinks?

    /// Checks all of the following, for requests that get a cached response.
    ///
    /// - Throws: ``ServerError``.
    func check(_ request: HTTPRequest) throws(ServerError) {
        try pageGuard.check(request)
        try checkLength(request)
        try checkSignature(request)
        // Cached responses are not sorted by what clients may see.
        if access != nil { throw .loginRequired }
    }

    /// Returns what the client of a request may see.
    ///
    /// - Parameters:
    ///   - headers: the header fields.
    ///   - segments: the decoded segments of the path; none for an invalid one.
    ///   - isPage: whether the path is that of the gallery page.
    ///   - isForSelections: whether the route shows guests of a selection nothing but its images.
    /// - Returns: the permission, which includes the request.
    /// - Throws: ``ServerError/loginRequired``, ``ServerError/linkEnded``, or ``ServerError/notFound`` for what
    ///   a guest may not see.
    func permission(
        _ headers: HTTPFields, for segments: [String], isPage: Bool, isForSelections: Bool
    ) async throws -> Permission {
        guard let access else { return .everything }
        let permission: Permission
        switch access.credential(headers) {
        case .login: permission = .everything
        case .link(let id):
            guard let found = try await links?.permission(id) else { throw ServerError.linkEnded }
            permission = found
        case nil: throw ServerError.loginRequired
        }
        guard
            permission.allows(
                requestFor: segments, isPage: isPage, isForSelections: isForSelections)
        else { throw ServerError.notFound }
        return permission
    }

    /// - Throws: ``ServerError/pathTooLong``.
    func checkLength(_ request: HTTPRequest) throws(ServerError) {
        guard (request.path ?? "").utf8.count <= Self.maximumPathByteCount else {
            throw .pathTooLong
        }
    }

    /// - Throws: ``ServerError/badSignature``, ``ServerError/expired`` or
    ///   ``ServerError/forbidden(reason:)``.
    func checkSignature(_ request: HTTPRequest) throws(ServerError) {
        switch signatures {
        case .none: return
        case .query(let signature):
            try signature.check(request.path ?? "", now: HTTPDate.now.seconds)
        case .imgproxyOnly:
            throw .forbidden(reason: "only signed imgproxy URLs are accepted")
        }
    }
}

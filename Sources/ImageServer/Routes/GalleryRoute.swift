// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import ServedFiles

/// `GET /`: the gallery page; `GET /-/gallery/NAME`: one of its files.
struct GalleryRoute: Route {
    let usesClientHints: Bool
    /// Who may see the images; `nil` for everyone.
    let access: AccessControl?

    var steps: RequestSteps { .light }

    func matches(_ request: IncomingRequest) -> Bool { request.path != nil && name(request) != nil }

    func response(to request: IncomingRequest) throws -> Response {
        guard let name = name(request), let file = BuiltInFile.gallery[name] else {
            throw ServerError.notFound
        }
        if name == "index.html", let access, access.credential(request.headers) == nil {
            return Response(
                status: .seeOther, headers: [.location: "/-/login", .cacheControl: "no-store"])
        }
        var response = file.response(to: request)
        if name == "index.html", usesClientHints {
            response.headers[named: "Accept-CH"] = ClientHints.acceptCH
        }
        // It keeps the page, which is above its folder.
        if name == "service-worker.js" {
            response.headers[named: "Service-Worker-Allowed"] = "/"
        }
        return response
    }

    private func name(_ request: IncomingRequest) -> String? {
        let segments = request.segments
        if segments.isEmpty { return "index.html" }
        return segments.count == 3 && segments[0] == "-" && segments[1] == "gallery"
            ? segments[2] : nil
    }
}

/// `GET /-/openapi.json`: the OpenAPI description of the routes, without a signature.
struct DescriptionRoute: Route {
    var steps: RequestSteps { [.connectionLimit, .pageGuard] }

    func matches(_ request: IncomingRequest) -> Bool {
        request.encodedPath == "/-/openapi.json"
    }

    func response(to request: IncomingRequest) -> Response {
        BuiltInFile.apiDescription.response(to: request)
    }
}

/// A file that is built into the program, with its entity tag.
private struct BuiltInFile: Sendable {
    /// The files of the gallery page by name.
    static let gallery = ServedFile.gallery.mapValues(BuiltInFile.init)
    static let apiDescription = BuiltInFile(.apiDescription)

    /// Allows scripts, styles and data of this server only; forbids framing, inline code and any
    /// conversion of text to markup.
    ///
    /// The page has one policy of trusted types, for its service worker.
    private static let contentSecurityPolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
        + "connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; "
        + "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
        + "trusted-types calotype-worker"

    private let file: ServedFile
    private let validators: Validators

    private init(_ file: ServedFile) {
        self.file = file
        var fingerprint = Fingerprint()
        fingerprint.add(file.bytes)
        validators = Validators(tag: fingerprint.text)
    }

    func response(to request: IncomingRequest) -> Response {
        var headers = validators.fields
        headers[.cacheControl] = "no-cache"
        headers[.contentSecurityPolicy] = Self.contentSecurityPolicy
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        headers[.contentType] = file.mediaType
        return .ok(file.bytes, headers)
    }
}

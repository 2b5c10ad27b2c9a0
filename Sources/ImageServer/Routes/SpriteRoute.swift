// SPDX-License-Identifier: Apache-2.0

internal import Sprites
internal import HTTPTypes
internal import HummingbirdCore
internal import ImageLoading

/// `GET /sprite/128x128,fill/house`: many images in one; with `?as=json`, `css`, `vtt` or `html` their
/// positions.
///
/// The images are those of the folder from `offset` on and at most `limit`, those in
/// `names=1.jpg,2.jpg`, or those in the body of a `POST`, `["1.jpg", "2.jpg"]`.
struct SpriteRoute: Route {
    let originals: Originals
    let folders: FolderReader
    let sheets: SpriteSheets
    let queues: WorkQueues
    let limiter: ClientRateLimit?
    let grammar: OptionGrammar
    let negotiation: ContentNegotiation
    let original: OriginalRoute

    var prefix: String? { "sprite" }
    let methods: [HTTPRequest.Method] = [.get, .head, .post]

    func matches(_ request: IncomingRequest) -> Bool {
        guard let path = request.path, path.segments.first == prefix else { return false }
        // `/sprite` itself is an original, also with a trailing slash and by `POST`.
        return path.segments.count > 1 || request.method == .post
            || (request.isRead && path.endsWithSlash)
    }

    func response(to request: IncomingRequest) async throws -> Response {
        guard request.segments.count > 1 else { return try await original.response(to: request) }
        let parameters = try await SpriteRequest(request, grammar, negotiation)
        let images = try await images(parameters, request.client)
        let validators = Validators(made: "\(images.version)-\(parameters.text)")
        var headers = validators.fields
        headers[.cacheControl] = "public, no-cache"
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        limiter?.charge(
            request.client.name, Double(images.names.count) / ListingRoute.imageCountPerToken)
        let plan = try await sheets.plan(parameters, images.names, images.identities)
        if let form = parameters.form {
            return Self.description(plan.index, form, sheet: Self.sheetURL(request), headers)
        }
        return try await queues.slow.run(request.client.name) {
            let (bytes, mediaType) = try await sheets.sheet(plan, parameters.options)
            return .ok(bytes, headers.with(.contentType, mediaType))
        }
    }

    /// The images of a sheet, with a version that changes with any of them.
    private func images(
        _ parameters: SpriteRequest, _ client: RequestClient
    ) async throws -> (names: [String], identities: [FileIdentity], version: String) {
        guard let names = parameters.names else {
            let contents = try await queues.folders.run(client.name) {
                try await onDisk { [folders] in try folders.recentContents(of: parameters.folder) }
            }
            let start = min(parameters.offset, contents.images.count)
            let range = start..<min(start + parameters.limit, contents.images.count)
            return (
                Array(contents.images[range]), Array(contents.identities[range]),
                "\(contents.revision)-\(range.lowerBound)-\(range.upperBound)"
            )
        }
        guard names.count <= SpriteRequest.maximumCount,
            names.allSatisfy(RequestPath.isServed)
        else {
            throw ServerError.malformedRequest(
                reason: "invalid names; expected at most \(SpriteRequest.maximumCount) file names")
        }
        let identities = try await originals.identities(names, in: parameters.folder)
        var fingerprint = Fingerprint()
        for identity in identities {
            fingerprint.add(identity.path)
            fingerprint.add(identity.version)
        }
        return (names, identities, fingerprint.text)
    }

    private static func description(
        _ index: SpriteIndex, _ form: SpriteRequest.Form, sheet: String, _ headers: HTTPFields
    ) -> Response {
        switch form {
        case .json:
            return .ok(index.json, headers.with(.contentType, "application/json"))
        case .css:
            return .ok(
                index.css(image: sheet), headers.with(.contentType, "text/css; charset=utf-8"))
        case .vtt:
            return .ok(
                index.webVTT(image: sheet, interval: .seconds(1)),
                headers.with(.contentType, "text/vtt; charset=utf-8"))
        case .html:
            let policy = "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'"
            return .ok(
                ContactSheet.page(index, sheet: sheet),
                headers.with(.contentType, "text/html; charset=utf-8")
                    .with(.contentSecurityPolicy, policy))
        }
    }

    /// The URL of the described sheet: the request's without `as`.
    private static func sheetURL(_ request: IncomingRequest) -> String {
        let query = (request.http.uri.query ?? "").split(separator: "&")
            .filter { !$0.hasPrefix("as=") }.joined(separator: "&")
        return request.encodedPath + (query.isEmpty ? "" : "?\(query)")
    }
}

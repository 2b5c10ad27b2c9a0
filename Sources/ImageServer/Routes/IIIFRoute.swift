// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import ImageLoading
internal import Pixels

/// IIIF Image API: `GET /iiif/3/house%2F1.jpg/full/512,/0/default.jpg` and `…/info.json`.
///
/// The identifier is a path, whose slashes are encoded as `%2F`.
struct IIIFRoute: Route {
    let originals: Originals
    let responder: RenditionResponder
    let tiles: TileResponder
    let hot: HotResponder
    let negotiation: ContentNegotiation
    let grammar: OptionGrammar
    /// The base URL of the server; `nil` to derive it from each request.
    let publicURL: String?

    var prefix: String? { "iiif" }
    let methods: [HTTPRequest.Method] = [.get, .head, .options]
    var steps: RequestSteps { RequestSteps.standard.union(.cors) }

    func matches(_ request: IncomingRequest) -> Bool {
        request.encodedPath.utf8.dropFirst().prefix { $0 != UInt8(ascii: "/") }
            .elementsEqual("iiif".utf8)
    }

    func response(to request: IncomingRequest) async throws -> Response {
        var rest = request.encodedSegments.dropFirst()
        guard
            let version = rest.popFirst().flatMap({
                IIIFPath.Version(rawValue: "\(Substring($0))")
            }),
            let encodedIdentifier = rest.popFirst(),
            let names = RequestPath.decoded(encodedIdentifier).flatMap(RequestPath.names),
            case let parameters = rest.map(RequestPath.decoded),
            let path = IIIFPath(parameters.compactMap { $0 }),
            !parameters.contains(nil)
        else { throw ServerError.notFound }
        try grammar.checkOwnOptions()
        let basePath = "/iiif/\(version.rawValue)/\(Substring(encodedIdentifier))"
        switch path {
        case .base:
            _ = try await originals.identity(names)
            return Response(
                status: .seeOther,
                headers: [
                    .location: "\(baseURL(request))\(basePath)/info.json",
                    .cacheControl: cacheControl,
                ])
        case .information:
            return try await information(version, names, basePath, request)
        case .image(let parameters):
            return try await hot.response(names, request, hasCORS: true) { identity, keep in
                try await image(parameters, version, identity, basePath, request, keep)
            }
        }
    }

    private func image(
        _ parameters: IIIFPath.Request, _ version: IIIFPath.Version, _ identity: FileIdentity,
        _ basePath: String, _ request: IncomingRequest, _ keep: HotResponder.Keep
    ) async throws -> Response {
        // The size of an image whose tiles are in use needs no access to the store.
        let open = tiles.images.openImage(identity)?.pyramid.size
        let size =
            if let open { open } else { try await originals.facts(identity).pixelSize }
        let resolved = try parameters.resolved(
            version, of: size, maximumSide: grammar.maximumSide, formats: grammar.formats)
        // Without the host of the request, which must not appear in a public response.
        var headers: HTTPFields = [:]
        headers[named: "Link"] =
            "<\(publicURL ?? "")\(basePath)/\(resolved.canonical)>;rel=\"canonical\", "
            + "<\(version.profileURI)>;rel=\"profile\""
        if let tile = try await tile(resolved.options, of: identity, request, headers, keep) {
            return tile
        }
        return try await responder.response(
            identity, negotiation.withDefaultQuality(resolved.options), request, headers: headers,
            keep: keep)
    }

    /// Returns the tile that a request is equal to; `nil` for any other region or option.
    private func tile(
        _ options: RenditionOptions, of identity: FileIdentity, _ request: IncomingRequest,
        _ headers: HTTPFields, _ keep: HotResponder.Keep
    ) async throws -> Response? {
        var plain = RenditionOptions()
        (plain.region, plain.width, plain.height) = (options.region, options.width, options.height)
        (plain.mode, plain.allowsEnlarging, plain.format) = (.stretch, true, "jpeg")
        guard options == plain, case .pixels(let region) = plain.region,
            let width = plain.width, let height = plain.height
        else { return nil }
        let image = try await tiles.image(identity)
        let size = PixelSize(width: width, height: height)
        guard let address = image.pyramid.tile(region: region, size: size) else { return nil }
        return try await tiles.response(
            address, of: image, identity, request, headers: headers, keep: keep)
    }

    private func information(
        _ version: IIIFPath.Version, _ names: [String], _ basePath: String,
        _ request: IncomingRequest
    ) async throws -> Response {
        let identity = try await originals.identity(names)
        let size = try await originals.facts(identity).pixelSize
        let isLinked = request.headers[.accept]?.contains("application/ld+json") == true
        let validators = Validators(
            original: identity, tag: "\(identity.version)-info\(version.rawValue)\(isLinked)")
        var headers = validators.fields
        headers[.cacheControl] = cacheControl
        headers[.vary] = "Accept"
        headers[named: "Link"] = "<\(version.profileURI)>;rel=\"profile\""
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        let information = IIIFInformation(
            version, url: baseURL(request) + basePath, size: size,
            maximumSide: grammar.maximumSide, tileSide: TileImages.tileSide)
        var response = Response.json(information, headers: headers)
        if isLinked {
            response.headers[.contentType] =
                "application/ld+json;profile=\"\(version.contextURI)\""
        }
        return response
    }

    /// The base URL of the server for clients.
    ///
    /// `X-Forwarded-Host` and the like are ignored. `Host` is used only in responses to the client that
    /// sent it, which are therefore `private`.
    private func baseURL(_ request: IncomingRequest) -> String {
        let head = request.http.head
        return publicURL ?? "\(head.scheme ?? "http")://\(head.authority ?? "localhost")"
    }

    /// The value of `Cache-Control` for responses that contain ``baseURL(_:)``.
    private var cacheControl: String {
        publicURL == nil ? "private, no-cache" : "public, no-cache"
    }
}

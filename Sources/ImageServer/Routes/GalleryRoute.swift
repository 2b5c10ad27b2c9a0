// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore

/// A file of the gallery page, built into the program.
struct GalleryFile: Sendable {
    let mediaType: String
    let bytes: [UInt8]
    /// Changes with the bytes.
    let tag: String

    /// Every file of the folder `Gallery` that is served, by name: a new one adds a line.
    static let all = [
        "api.js": script(PackageResources.api_js),
        "blob-cache.js": script(PackageResources.blob_cache_js),
        "connection.js": script(PackageResources.connection_js),
        "density.js": script(PackageResources.density_js),
        "developer-panel.js": script(PackageResources.developer_panel_js),
        "folder-listing.js": script(PackageResources.folder_listing_js),
        "folder-view.js": script(PackageResources.folder_view_js),
        "gallery.css": style(PackageResources.gallery_css),
        "grid-keyboard.js": script(PackageResources.grid_keyboard_js),
        "image-loader.js": script(PackageResources.image_loader_js),
        "index.html": page(PackageResources.index_html),
        "info-panel.js": script(PackageResources.info_panel_js),
        "ladder.js": script(PackageResources.ladder_js),
        "layout.js": script(PackageResources.layout_js),
        "magnifier.js": script(PackageResources.magnifier_js),
        "main.js": script(PackageResources.main_js),
        "placeholder-painter.js": script(PackageResources.placeholder_painter_js),
        "remembered.js": script(PackageResources.remembered_js),
        "routing.js": script(PackageResources.routing_js),
        "scroll-pace.js": script(PackageResources.scroll_pace_js),
        "scroll-space.js": script(PackageResources.scroll_space_js),
        "scrubber.js": script(PackageResources.scrubber_js),
        "sections.js": script(PackageResources.sections_js),
        "share.js": script(PackageResources.share_js),
        "sort-order.js": script(PackageResources.sort_order_js),
        "swipe.js": script(PackageResources.swipe_js),
        "text.js": script(PackageResources.text_js),
        "thumbhash.js": script(PackageResources.thumbhash_js),
        "tile-layer.js": script(PackageResources.tile_layer_js),
        "tile.js": script(PackageResources.tile_js),
        "viewer.js": script(PackageResources.viewer_js),
        "virtual-grid.js": script(PackageResources.virtual_grid_js),
        "zoom-gestures.js": script(PackageResources.zoom_gestures_js),
        "zoom.js": script(PackageResources.zoom_js),
    ]

    /// What OpenAPI says of every route.
    static let description = GalleryFile("application/json", PackageResources.openapi_json)

    private init(_ mediaType: String, _ bytes: [UInt8]) {
        self.mediaType = mediaType
        self.bytes = bytes
        var digest = Digest()
        digest.add(bytes)
        tag = digest.text
    }

    private static func page(_ bytes: [UInt8]) -> GalleryFile {
        .init("text/html; charset=utf-8", bytes)
    }
    private static func style(_ bytes: [UInt8]) -> GalleryFile {
        .init("text/css; charset=utf-8", bytes)
    }
    private static func script(_ bytes: [UInt8]) -> GalleryFile {
        .init("text/javascript; charset=utf-8", bytes)
    }
}

extension ImageResponder {
    /// Scripts, styles and data come from this server alone, no other page may frame this one, and
    /// no text ever becomes markup or code.
    static let contentSecurityPolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
        + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        + "require-trusted-types-for 'script'; trusted-types 'none'"

    /// `GET /` answers the page, `GET /-/gallery/NAME` a file that it is made of.
    func gallery(_ name: String, _ request: Request) throws -> Response {
        guard let file = GalleryFile.all[name] else { throw ServerError.notFound }
        var answer = answer(file, request)
        if name == "index.html", configuration.usesClientHints,
            let acceptCH = HTTPField.Name("Accept-CH")
        {
            answer.headers[acceptCH] = ClientHints.wantedNames
        }
        return answer
    }

    func answer(_ file: GalleryFile, _ request: Request) -> Response {
        let validators = Validators(tag: file.tag)
        var headers = validators.fields
        headers[.cacheControl] = "no-cache"
        headers[.contentSecurityPolicy] = Self.contentSecurityPolicy
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        headers[.contentType] = file.mediaType
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.bytes)))
    }
}

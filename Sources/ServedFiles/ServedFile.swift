// SPDX-License-Identifier: Apache-2.0

/// A file of the server that is built into the program.
///
/// A module of its own: the compiler takes seconds for the bytes, and they change less often than the
/// server.
public struct ServedFile: Sendable {
    /// The value of the `Content-Type` field.
    public let mediaType: String
    /// The content.
    public let bytes: [UInt8]

    /// Every file of the folder `Gallery`, by name: each needs a line here.
    public static let gallery = [
        "api.js": script(PackageResources.api_js),
        "binary-search.js": script(PackageResources.binary_search_js),
        "blob-cache.js": script(PackageResources.blob_cache_js),
        "connection.js": script(PackageResources.connection_js),
        "density.js": script(PackageResources.density_js),
        "developer-panel.js": script(PackageResources.developer_panel_js),
        "duplicates-view.js": script(PackageResources.duplicates_view_js),
        "duplicates-visit.js": script(PackageResources.duplicates_visit_js),
        "folder-cards.js": script(PackageResources.folder_cards_js),
        "folder-listing.js": script(PackageResources.folder_listing_js),
        "folder-view.js": script(PackageResources.folder_view_js),
        "folder-visit.js": script(PackageResources.folder_visit_js),
        "gallery.css": style(PackageResources.gallery_css),
        "grid-keyboard.js": script(PackageResources.grid_keyboard_js),
        "headings.js": script(PackageResources.headings_js),
        "icon.svg": image(PackageResources.icon_svg),
        "image-loader.js": script(PackageResources.image_loader_js),
        "index.html": page(PackageResources.index_html),
        "info-panel.js": script(PackageResources.info_panel_js),
        "ladder.js": script(PackageResources.ladder_js),
        "layout.js": script(PackageResources.layout_js),
        "login.css": style(PackageResources.login_css),
        "library-controls.js": script(PackageResources.library_controls_js),
        "library.css": style(PackageResources.library_css),
        "library.js": script(PackageResources.library_js),
        "magnifier.js": script(PackageResources.magnifier_js),
        "main.js": script(PackageResources.main_js),
        "manifest.webmanifest": manifest(PackageResources.manifest_webmanifest),
        "marks.js": script(PackageResources.marks_js),
        "page-keeping.js": script(PackageResources.page_keeping_js),
        "placeholder-painter.js": script(PackageResources.placeholder_painter_js),
        "rating.js": script(PackageResources.rating_js),
        "remembered.js": script(PackageResources.remembered_js),
        "routing.js": script(PackageResources.routing_js),
        "scroll-pace.js": script(PackageResources.scroll_pace_js),
        "scroll-space.js": script(PackageResources.scroll_space_js),
        "scrubber.js": script(PackageResources.scrubber_js),
        "search-box.js": script(PackageResources.search_box_js),
        "sections.js": script(PackageResources.sections_js),
        "selection-bar.js": script(PackageResources.selection_bar_js),
        "selection-gestures.js": script(PackageResources.selection_gestures_js),
        "selection.js": script(PackageResources.selection_js),
        "service-worker.js": script(PackageResources.service_worker_js),
        "share.js": script(PackageResources.share_js),
        "share-dialog.js": script(PackageResources.share_dialog_js),
        "slideshow.js": script(PackageResources.slideshow_js),
        "sort-order.js": script(PackageResources.sort_order_js),
        "strings.js": script(PackageResources.strings_js),
        "swipe.js": script(PackageResources.swipe_js),
        "text.js": script(PackageResources.text_js),
        "thumbhash.js": script(PackageResources.thumbhash_js),
        "tile-layer.js": script(PackageResources.tile_layer_js),
        "tile.js": script(PackageResources.tile_js),
        "timeline-days.js": script(PackageResources.timeline_days_js),
        "timeline-details.js": script(PackageResources.timeline_details_js),
        "timeline-view.js": script(PackageResources.timeline_view_js),
        "timeline-visit.js": script(PackageResources.timeline_visit_js),
        "timeline.js": script(PackageResources.timeline_js),
        "viewer.js": script(PackageResources.viewer_js),
        "virtual-grid.js": script(PackageResources.virtual_grid_js),
        "zoom-gestures.js": script(PackageResources.zoom_gestures_js),
        "zoom.js": script(PackageResources.zoom_js),
    ]

    /// The OpenAPI description of the routes.
    public static let apiDescription = ServedFile(
        mediaType: "application/json", bytes: PackageResources.openapi_json)

    private static func page(_ bytes: [UInt8]) -> ServedFile {
        ServedFile(mediaType: "text/html; charset=utf-8", bytes: bytes)
    }
    private static func style(_ bytes: [UInt8]) -> ServedFile {
        ServedFile(mediaType: "text/css; charset=utf-8", bytes: bytes)
    }
    private static func image(_ bytes: [UInt8]) -> ServedFile {
        ServedFile(mediaType: "image/svg+xml", bytes: bytes)
    }
    private static func manifest(_ bytes: [UInt8]) -> ServedFile {
        ServedFile(mediaType: "application/manifest+json", bytes: bytes)
    }
    private static func script(_ bytes: [UInt8]) -> ServedFile {
        ServedFile(mediaType: "text/javascript; charset=utf-8", bytes: bytes)
    }
}

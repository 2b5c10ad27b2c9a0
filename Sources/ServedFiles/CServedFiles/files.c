// SPDX-License-Identifier: Apache-2.0

#include "CServedFiles.h"

// Clang has #embed in all versions of C, with a warning before C23.
#pragma clang diagnostic ignored "-Wc23-extensions"

// Every file of the folder Gallery stands here, and in the table below.
static const uint8_t api_js[] = {
#embed "../Gallery/api.js"
};
static const uint8_t binary_search_js[] = {
#embed "../Gallery/binary-search.js"
};
static const uint8_t blank_tiles_js[] = {
#embed "../Gallery/blank-tiles.js"
};
static const uint8_t blob_cache_js[] = {
#embed "../Gallery/blob-cache.js"
};
static const uint8_t connection_js[] = {
#embed "../Gallery/connection.js"
};
static const uint8_t density_js[] = {
#embed "../Gallery/density.js"
};
static const uint8_t developer_panel_js[] = {
#embed "../Gallery/developer-panel.js"
};
static const uint8_t early_requests_js[] = {
#embed "../Gallery/early-requests.js"
};
static const uint8_t first_requests_js[] = {
#embed "../Gallery/first-requests.js"
};
static const uint8_t folder_cards_js[] = {
#embed "../Gallery/folder-cards.js"
};
static const uint8_t folder_listing_js[] = {
#embed "../Gallery/folder-listing.js"
};
static const uint8_t folder_view_js[] = {
#embed "../Gallery/folder-view.js"
};
static const uint8_t folder_visit_js[] = {
#embed "../Gallery/folder-visit.js"
};
static const uint8_t gallery_css[] = {
#embed "../Gallery/gallery.css"
};
static const uint8_t grid_keyboard_js[] = {
#embed "../Gallery/grid-keyboard.js"
};
static const uint8_t headings_js[] = {
#embed "../Gallery/headings.js"
};
static const uint8_t icon_svg[] = {
#embed "../Gallery/icon.svg"
};
static const uint8_t image_loader_js[] = {
#embed "../Gallery/image-loader.js"
};
static const uint8_t index_html[] = {
#embed "../Gallery/index.html"
};
static const uint8_t info_panel_js[] = {
#embed "../Gallery/info-panel.js"
};
static const uint8_t ladder_js[] = {
#embed "../Gallery/ladder.js"
};
static const uint8_t layout_js[] = {
#embed "../Gallery/layout.js"
};
static const uint8_t library_controls_js[] = {
#embed "../Gallery/library-controls.js"
};
static const uint8_t library_wait_js[] = {
#embed "../Gallery/library-wait.js"
};
static const uint8_t library_css[] = {
#embed "../Gallery/library.css"
};
static const uint8_t library_js[] = {
#embed "../Gallery/library.js"
};
static const uint8_t login_css[] = {
#embed "../Gallery/login.css"
};
static const uint8_t links_dialog_js[] = {
#embed "../Gallery/links-dialog.js"
};
static const uint8_t magnifier_js[] = {
#embed "../Gallery/magnifier.js"
};
static const uint8_t main_js[] = {
#embed "../Gallery/main.js"
};
static const uint8_t manifest_webmanifest[] = {
#embed "../Gallery/manifest.webmanifest"
};
static const uint8_t marks_js[] = {
#embed "../Gallery/marks.js"
};
static const uint8_t page_keeping_js[] = {
#embed "../Gallery/page-keeping.js"
};
static const uint8_t placeholder_painter_js[] = {
#embed "../Gallery/placeholder-painter.js"
};
static const uint8_t remembered_js[] = {
#embed "../Gallery/remembered.js"
};
static const uint8_t routing_js[] = {
#embed "../Gallery/routing.js"
};
static const uint8_t scroll_pace_js[] = {
#embed "../Gallery/scroll-pace.js"
};
static const uint8_t scroll_space_js[] = {
#embed "../Gallery/scroll-space.js"
};
static const uint8_t scrubber_js[] = {
#embed "../Gallery/scrubber.js"
};
static const uint8_t search_box_js[] = {
#embed "../Gallery/search-box.js"
};
static const uint8_t sections_js[] = {
#embed "../Gallery/sections.js"
};
static const uint8_t selection_bar_js[] = {
#embed "../Gallery/selection-bar.js"
};
static const uint8_t selection_gestures_js[] = {
#embed "../Gallery/selection-gestures.js"
};
static const uint8_t selection_js[] = {
#embed "../Gallery/selection.js"
};
static const uint8_t service_worker_js[] = {
#embed "../Gallery/service-worker.js"
};
static const uint8_t share_dialog_js[] = {
#embed "../Gallery/share-dialog.js"
};
static const uint8_t share_js[] = {
#embed "../Gallery/share.js"
};
static const uint8_t slideshow_js[] = {
#embed "../Gallery/slideshow.js"
};
static const uint8_t sort_order_js[] = {
#embed "../Gallery/sort-order.js"
};
static const uint8_t strings_js[] = {
#embed "../Gallery/strings.js"
};
static const uint8_t swipe_js[] = {
#embed "../Gallery/swipe.js"
};
static const uint8_t text_js[] = {
#embed "../Gallery/text.js"
};
static const uint8_t thumbhash_js[] = {
#embed "../Gallery/thumbhash.js"
};
static const uint8_t tile_layer_js[] = {
#embed "../Gallery/tile-layer.js"
};
static const uint8_t tile_js[] = {
#embed "../Gallery/tile.js"
};
static const uint8_t timeline_days_js[] = {
#embed "../Gallery/timeline-days.js"
};
static const uint8_t timeline_details_js[] = {
#embed "../Gallery/timeline-details.js"
};
static const uint8_t timeline_view_js[] = {
#embed "../Gallery/timeline-view.js"
};
static const uint8_t timeline_visit_js[] = {
#embed "../Gallery/timeline-visit.js"
};
static const uint8_t timeline_js[] = {
#embed "../Gallery/timeline.js"
};
static const uint8_t viewer_js[] = {
#embed "../Gallery/viewer.js"
};
static const uint8_t virtual_grid_js[] = {
#embed "../Gallery/virtual-grid.js"
};
static const uint8_t zoom_gestures_js[] = {
#embed "../Gallery/zoom-gestures.js"
};
static const uint8_t zoom_js[] = {
#embed "../Gallery/zoom.js"
};
static const uint8_t duplicates_view_js[] = {
#embed "../Gallery/duplicates-view.js"
};
static const uint8_t duplicates_visit_js[] = {
#embed "../Gallery/duplicates-visit.js"
};
static const uint8_t rating_js[] = {
#embed "../Gallery/rating.js"
};
static const uint8_t openapi_json[] = {
#embed "../Description/openapi.json"
};

#define FILE(name, bytes) {name, bytes, sizeof bytes}

static const struct calotype_served_file gallery[] = {
    FILE("api.js", api_js),
    FILE("binary-search.js", binary_search_js),
    FILE("blank-tiles.js", blank_tiles_js),
    FILE("blob-cache.js", blob_cache_js),
    FILE("connection.js", connection_js),
    FILE("density.js", density_js),
    FILE("developer-panel.js", developer_panel_js),
    FILE("early-requests.js", early_requests_js),
    FILE("first-requests.js", first_requests_js),
    FILE("folder-cards.js", folder_cards_js),
    FILE("folder-listing.js", folder_listing_js),
    FILE("folder-view.js", folder_view_js),
    FILE("folder-visit.js", folder_visit_js),
    FILE("gallery.css", gallery_css),
    FILE("grid-keyboard.js", grid_keyboard_js),
    FILE("headings.js", headings_js),
    FILE("icon.svg", icon_svg),
    FILE("image-loader.js", image_loader_js),
    FILE("index.html", index_html),
    FILE("info-panel.js", info_panel_js),
    FILE("ladder.js", ladder_js),
    FILE("layout.js", layout_js),
    FILE("library-controls.js", library_controls_js),
    FILE("library-wait.js", library_wait_js),
    FILE("library.css", library_css),
    FILE("library.js", library_js),
    FILE("login.css", login_css),
    FILE("links-dialog.js", links_dialog_js),
    FILE("magnifier.js", magnifier_js),
    FILE("main.js", main_js),
    FILE("manifest.webmanifest", manifest_webmanifest),
    FILE("marks.js", marks_js),
    FILE("page-keeping.js", page_keeping_js),
    FILE("placeholder-painter.js", placeholder_painter_js),
    FILE("remembered.js", remembered_js),
    FILE("routing.js", routing_js),
    FILE("scroll-pace.js", scroll_pace_js),
    FILE("scroll-space.js", scroll_space_js),
    FILE("scrubber.js", scrubber_js),
    FILE("search-box.js", search_box_js),
    FILE("sections.js", sections_js),
    FILE("selection-bar.js", selection_bar_js),
    FILE("selection-gestures.js", selection_gestures_js),
    FILE("selection.js", selection_js),
    FILE("service-worker.js", service_worker_js),
    FILE("share-dialog.js", share_dialog_js),
    FILE("share.js", share_js),
    FILE("slideshow.js", slideshow_js),
    FILE("sort-order.js", sort_order_js),
    FILE("strings.js", strings_js),
    FILE("swipe.js", swipe_js),
    FILE("text.js", text_js),
    FILE("thumbhash.js", thumbhash_js),
    FILE("tile-layer.js", tile_layer_js),
    FILE("tile.js", tile_js),
    FILE("timeline-days.js", timeline_days_js),
    FILE("timeline-details.js", timeline_details_js),
    FILE("timeline-view.js", timeline_view_js),
    FILE("timeline-visit.js", timeline_visit_js),
    FILE("timeline.js", timeline_js),
    FILE("viewer.js", viewer_js),
    FILE("virtual-grid.js", virtual_grid_js),
    FILE("zoom-gestures.js", zoom_gestures_js),
    FILE("zoom.js", zoom_js),
    FILE("duplicates-view.js", duplicates_view_js),
    FILE("duplicates-visit.js", duplicates_visit_js),
    FILE("rating.js", rating_js),
};

bool calotype_gallery_file(size_t index, struct calotype_served_file *file) {
    if (index >= sizeof gallery / sizeof *gallery) return false;
    *file = gallery[index];
    return true;
}

struct calotype_served_file calotype_api_description(void) {
    return (struct calotype_served_file)FILE("openapi.json", openapi_json);
}

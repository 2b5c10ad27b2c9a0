// SPDX-License-Identifier: Apache-2.0

#include "shim.h"

#include <stdlib.h>
#include <string.h>

// GLib, librsvg 2.52 or later, and cairo, as their manuals define them.
typedef struct {
    uint32_t domain;
    int code;
    char *message;
} GError;
typedef struct {
    double x, y, width, height;
} RsvgRectangle;
typedef struct {
    double length;
    int unit;
} RsvgLength;
typedef struct _RsvgHandle RsvgHandle;
typedef struct _cairo cairo_t;
typedef struct _cairo_surface cairo_surface_t;

RsvgHandle *rsvg_handle_new_from_data(const uint8_t *data, size_t count, GError **error);
void rsvg_handle_set_dpi(RsvgHandle *handle, double dpi);
int rsvg_handle_get_intrinsic_size_in_pixels(RsvgHandle *handle, double *width, double *height);
void rsvg_handle_get_intrinsic_dimensions(RsvgHandle *handle, int *has_width, RsvgLength *width,
                                          int *has_height, RsvgLength *height, int *has_viewbox,
                                          RsvgRectangle *viewbox);
int rsvg_handle_render_document(RsvgHandle *handle, cairo_t *cr, const RsvgRectangle *viewport,
                                GError **error);
void g_object_unref(void *object);
void g_error_free(GError *error);
cairo_surface_t *cairo_image_surface_create_for_data(unsigned char *data, int format, int width,
                                                     int height, int stride);
void cairo_surface_flush(cairo_surface_t *surface);
void cairo_surface_destroy(cairo_surface_t *surface);
cairo_t *cairo_create(cairo_surface_t *surface);
int cairo_status(cairo_t *cr);
void cairo_destroy(cairo_t *cr);

enum { cairo_format_argb32 = 0 };

struct calotype_svg {
    RsvgHandle *handle;
    char message[256];
};

static void fail(calotype_svg *svg, GError *error, const char *otherwise) {
    const char *text = error ? error->message : otherwise;
    strncpy(svg->message, text, sizeof svg->message - 1);
    if (error) g_error_free(error);
}

calotype_svg *calotype_svg_create(const uint8_t *bytes, size_t count) {
    calotype_svg *svg = calloc(1, sizeof *svg);
    if (!svg) return NULL;
    GError *error = NULL;
    // Without a base address librsvg follows no reference to anything outside of the document.
    svg->handle = rsvg_handle_new_from_data(bytes, count, &error);
    if (!svg->handle)
        fail(svg, error, "the document cannot be read");
    else
        rsvg_handle_set_dpi(svg->handle, 96);
    return svg;
}

void calotype_svg_destroy(calotype_svg *svg) {
    if (svg->handle) g_object_unref(svg->handle);
    free(svg);
}

const char *calotype_svg_message(const calotype_svg *svg) {
    return svg->message[0] ? svg->message : NULL;
}

bool calotype_svg_size(const calotype_svg *svg, double *width, double *height) {
    if (rsvg_handle_get_intrinsic_size_in_pixels(svg->handle, width, height)) return true;
    int has_width, has_height, has_viewbox;
    RsvgLength w, h;
    RsvgRectangle viewbox;
    rsvg_handle_get_intrinsic_dimensions(svg->handle, &has_width, &w, &has_height, &h,
                                         &has_viewbox, &viewbox);
    if (!has_viewbox) return false;
    *width = viewbox.width;
    *height = viewbox.height;
    return true;
}

bool calotype_svg_draw(calotype_svg *svg, uint32_t *pixels, int width, int height) {
    cairo_surface_t *surface = cairo_image_surface_create_for_data(
        (unsigned char *)pixels, cairo_format_argb32, width, height, width * 4);
    cairo_t *cr = cairo_create(surface);
    RsvgRectangle viewport = {0, 0, width, height};
    GError *error = NULL;
    bool is_drawn = cairo_status(cr) == 0 &&
                    rsvg_handle_render_document(svg->handle, cr, &viewport, &error);
    if (!is_drawn) fail(svg, error, "there is no memory to draw in");
    cairo_surface_flush(surface);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
    return is_drawn;
}

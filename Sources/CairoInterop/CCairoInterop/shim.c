// SPDX-License-Identifier: Apache-2.0

#include "CCairoInterop.h"

#include "lazy_library.h"

typedef struct _cairo_surface cairo_surface_t;
typedef struct {
    int unused;
} cairo_user_data_key_t;

cairo_surface_t *cairo_image_surface_create_for_data(unsigned char *data, int format, int width, int height,
                                                     int stride);
int cairo_surface_set_user_data(cairo_surface_t *surface, const cairo_user_data_key_t *key, void *data,
                                void (*destroy)(void *));
int cairo_surface_status(cairo_surface_t *surface);
int cairo_surface_get_type(cairo_surface_t *surface);
void cairo_surface_flush(cairo_surface_t *surface);
cairo_surface_t *cairo_surface_reference(cairo_surface_t *surface);
void cairo_surface_destroy(cairo_surface_t *surface);
unsigned char *cairo_image_surface_get_data(cairo_surface_t *surface);
int cairo_image_surface_get_format(cairo_surface_t *surface);
int cairo_image_surface_get_width(cairo_surface_t *surface);
int cairo_image_surface_get_height(cairo_surface_t *surface);
int cairo_image_surface_get_stride(cairo_surface_t *surface);

#define FUNCTIONS(USE)                                                                                \
    USE(cairo_image_surface_create_for_data) USE(cairo_surface_set_user_data)                         \
    USE(cairo_surface_status) USE(cairo_surface_get_type) USE(cairo_surface_flush)                    \
    USE(cairo_surface_reference) USE(cairo_surface_destroy) USE(cairo_image_surface_get_data)         \
    USE(cairo_image_surface_get_format) USE(cairo_image_surface_get_width)                            \
    USE(cairo_image_surface_get_height) USE(cairo_image_surface_get_stride)

CALOTYPE_LAZY_LIBRARY("libcairo.so.2", FUNCTIONS)

static const cairo_user_data_key_t owner_key;

const char *calotype_cairo_missing(void) { return load_lazily(); }

void *calotype_cairo_surface(void *pixels, int format, int width, int height, int stride, void *owner,
                             void (*release)(void *)) {
    cairo_surface_t *surface = lazy.cairo_image_surface_create_for_data(pixels, format, width, height, stride);
    if (lazy.cairo_surface_status(surface) == 0 &&
        lazy.cairo_surface_set_user_data(surface, &owner_key, owner, release) == 0)
        return surface;
    lazy.cairo_surface_destroy(surface);
    return NULL;
}

calotype_cairo_image calotype_cairo_retain(void *surface) {
    calotype_cairo_image image = {.format = -1};
    // CAIRO_SURFACE_TYPE_IMAGE is 0.
    if (lazy.cairo_surface_status(surface) != 0 || lazy.cairo_surface_get_type(surface) != 0) return image;
    lazy.cairo_surface_flush(surface);
    image.pixels = lazy.cairo_image_surface_get_data(surface);
    if (!image.pixels) return image;
    image.format = lazy.cairo_image_surface_get_format(surface);
    image.width = lazy.cairo_image_surface_get_width(surface);
    image.height = lazy.cairo_image_surface_get_height(surface);
    image.stride = lazy.cairo_image_surface_get_stride(surface);
    lazy.cairo_surface_reference(surface);
    return image;
}

void calotype_cairo_release(void *surface) { lazy.cairo_surface_destroy(surface); }

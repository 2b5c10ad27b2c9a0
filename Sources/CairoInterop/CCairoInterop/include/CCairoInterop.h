// SPDX-License-Identifier: Apache-2.0
//
// Image surfaces of cairo in memory of the caller. cairo is loaded when it is first needed.

#ifndef CALOTYPE_CCAIROINTEROP_H
#define CALOTYPE_CCAIROINTEROP_H

#include <stddef.h>

/// Formats of cairo_format_t.
enum { calotype_cairo_argb32 = 0, calotype_cairo_a8 = 2, calotype_cairo_rgb16_565 = 4 };

/// Returns NULL, or the reason why cairo cannot be loaded.
const char *calotype_cairo_missing(void);

/// Creates an image surface; `release` is called with `owner` when its last reference is gone. Returns NULL
/// on failure, and does not call `release` then.
void *calotype_cairo_surface(void *pixels, int format, int width, int height, int stride, void *owner,
                             void (*release)(void *));

/// The pixels of an image surface.
typedef struct {
    const void *pixels;
    int format, width, height, stride;
} calotype_cairo_image;

/// Finishes what has been drawn, and adds a reference to the surface. Returns a format of -1 for surfaces
/// that are no images.
calotype_cairo_image calotype_cairo_retain(void *surface);
void calotype_cairo_release(void *surface);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Textures of GTK 4 in memory of the caller. GTK is loaded when it is first needed.

#ifndef CALOTYPE_CGDKINTEROP_H
#define CALOTYPE_CGDKINTEROP_H

#include <stddef.h>

/// Formats with colours that are multiplied by alpha, as in GdkMemoryFormat.
enum {
    calotype_gdk_bgra8 = 0,
    calotype_gdk_rgba8 = 2,
    calotype_gdk_rgb8 = 7,
    calotype_gdk_rgb16 = 9,
    calotype_gdk_rgba16 = 10,
    calotype_gdk_rgba_half = 13,
};

/// Returns NULL, or the reason why GTK cannot be loaded.
const char *calotype_gdk_missing(void);

/// Creates a GdkMemoryTexture; `release` is called with `owner` when its last reference is gone.
void *calotype_gdk_texture(const void *bytes, size_t count, int width, int height, size_t stride, int format,
                           void *owner, void (*release)(void *));

#endif

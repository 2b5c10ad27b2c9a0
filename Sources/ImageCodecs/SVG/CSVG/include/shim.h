// SPDX-License-Identifier: Apache-2.0
//
// librsvg speaks in types of GLib and cairo, whose headers lie in folders that only pkg-config
// knows: the few functions that are needed are declared in the shim.

#ifndef CALOTYPE_CSVG_H
#define CALOTYPE_CSVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct calotype_svg calotype_svg;

/// Has the whole process draw texts with a few usual fonts, whatever others are installed, and keeps
/// the libraries' warnings to themselves.
///
/// Called once, before the first document is read.
void calotype_svg_prepare(void);

/// Parses a document; references to other files lead nowhere. NULL when there is no memory;
/// otherwise `calotype_svg_message` tells whether it could be read.
calotype_svg *calotype_svg_create(const uint8_t *bytes, size_t count);
void calotype_svg_destroy(calotype_svg *svg);

/// Why the last call failed; NULL if it did not.
const char *calotype_svg_message(const calotype_svg *svg);

/// The size that the document gives itself in pixels; false if it gives none.
bool calotype_svg_size(const calotype_svg *svg, double *width, double *height);

/// Draws the document stretched over `width` times `height` pixels into premultiplied BGRA in the
/// machine's byte order of 32-bit words, all 0 before.
bool calotype_svg_draw(calotype_svg *svg, uint32_t *pixels, int width, int height);

#endif

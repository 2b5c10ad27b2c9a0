// SPDX-License-Identifier: Apache-2.0
//
// The headers of GLib and cairo are in folders that only pkg-config can locate, so the few
// functions that are used are declared in the shim.

#ifndef CALOTYPE_CSVG_H
#define CALOTYPE_CSVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct calotype_svg calotype_svg;

/// Loads librsvg; no other function may be called before. Returns NULL, or an error message.
const char *calotype_svg_missing(void);

/// Restricts text in the whole process to a few common fonts, whatever others are installed, and
/// silences the warnings of the libraries.
///
/// Called once, before the first document is parsed.
void calotype_svg_prepare(void);

/// Parses a document; references to other files are not resolved. Returns NULL if memory is
/// exhausted; otherwise `calotype_svg_message` returns whether parsing failed.
calotype_svg *calotype_svg_create(const uint8_t *bytes, size_t count);
void calotype_svg_destroy(calotype_svg *svg);

/// Returns the error of the last call; NULL if it succeeded.
const char *calotype_svg_message(const calotype_svg *svg);

/// Returns the intrinsic size in pixels; false if the document has none.
bool calotype_svg_size(const calotype_svg *svg, double *width, double *height);

/// Renders the document stretched to `width` × `height` pixels as premultiplied 32-bit ARGB words
/// in the byte order of the machine; the pixels must be 0 before the call.
bool calotype_svg_draw(calotype_svg *svg, uint32_t *pixels, int width, int height);

#endif

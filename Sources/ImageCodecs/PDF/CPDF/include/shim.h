// SPDX-License-Identifier: Apache-2.0
//
// The headers of poppler-glib and cairo are in folders that only pkg-config can locate, so the few
// functions that are used are declared in the shim.

#ifndef CALOTYPE_CPDF_H
#define CALOTYPE_CPDF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct calotype_pdf calotype_pdf;

typedef enum {
    calotype_pdf_ok,
    calotype_pdf_malformed,
    calotype_pdf_unsupported,
    calotype_pdf_failed,
} calotype_pdf_status;

/// Loads poppler-glib, silences its warnings and lets it read its files; no other function may be called before. Returns
/// NULL, or an error message.
const char *calotype_pdf_missing(void);

/// Returns NULL if memory is exhausted.
calotype_pdf *calotype_pdf_create(void);
void calotype_pdf_destroy(calotype_pdf *pdf);

/// Returns the error of the last call that failed.
const char *calotype_pdf_message(const calotype_pdf *pdf);

/// Parses a file, which is copied, and opens its first page. Called once.
calotype_pdf_status calotype_pdf_open(calotype_pdf *pdf, const uint8_t *bytes, size_t count);

/// Returns the size of the crop box in points of 1/72 inch, after the rotation of the page.
void calotype_pdf_size(calotype_pdf *pdf, double *width, double *height);

/// Checks that the page needs no font outside of the file, and draws it stretched to `width` × `height`
/// pixels as premultiplied 32-bit ARGB words in the byte order of the machine; the pixels must be 0 before
/// the call.
calotype_pdf_status calotype_pdf_draw(calotype_pdf *pdf, uint32_t *pixels, int width, int height);

#endif

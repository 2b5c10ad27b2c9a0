// SPDX-License-Identifier: Apache-2.0

#ifndef CALOTYPE_CZSTANDARD_H
#define CALOTYPE_CZSTANDARD_H

#include <stddef.h>
#include <stdint.h>

/// Returns NULL if the library is loaded, or why it is not.
const char *calotype_zstandard_missing(void);

/// Decompresses the first `capacity` bytes of a frame.
///
/// `window_log` is the logarithm to base 2 of the largest window that is accepted. Returns NULL, or an
/// error message that remains valid; `made` receives the number of bytes written.
const char *calotype_zstandard_decompress(const uint8_t *source, size_t count, uint8_t *target,
                                          size_t capacity, int window_log, size_t *made);

#endif

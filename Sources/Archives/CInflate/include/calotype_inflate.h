// SPDX-License-Identifier: Apache-2.0
//
// Raw DEFLATE streams (RFC 1951), with zlib, which is loaded when it is first needed.

#ifndef CALOTYPE_CINFLATE_H
#define CALOTYPE_CINFLATE_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
    /// The stream ended and has exactly as many bytes as there is room for.
    calotype_inflate_complete = 0,
    /// The stream is invalid, or has more bytes than there is room for.
    calotype_inflate_invalid,
    /// The stream ends early, or has fewer bytes than there is room for.
    calotype_inflate_short,
    calotype_inflate_no_memory,
} calotype_inflate_result;

/// Returns NULL if zlib is loaded, which inflating requires, otherwise the error.
const char *calotype_inflate_missing(void);

/// Inflates the whole stream in `from` into the `to_count` bytes of `to`; never writes more.
calotype_inflate_result calotype_inflate_whole(const uint8_t *from, size_t from_count, uint8_t *to,
                                               size_t to_count);

#endif

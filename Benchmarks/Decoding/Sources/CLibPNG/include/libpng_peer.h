// SPDX-License-Identifier: Apache-2.0
//
// The peer of the PNG benchmark: libpng, used as in its manual, with 8 bits per sample.

#ifndef CALOTYPE_LIBPNG_PEER_H
#define CALOTYPE_LIBPNG_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Decodes a file to grey, RGB or RGBA with 8 bits per sample, alpha not premultiplied.
///
/// Rows share one buffer; an interlaced image is stored completely.
/// `sum` is set to the sum of the bytes of every 64th column, to detect wrong output.
/// Returns false for a file that libpng rejects.
bool libpng_peer_decode(const uint8_t *file, size_t count, uint64_t *sum);

/// The versions of libpng and of its zlib.
const char *libpng_peer_version(void);

#endif

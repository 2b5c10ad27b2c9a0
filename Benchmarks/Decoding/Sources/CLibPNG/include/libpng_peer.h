// SPDX-License-Identifier: Apache-2.0
//
// The peer: libpng as its manual says to use it, rows of 8 bits a sample.

#ifndef CALOTYPE_LIBPNG_PEER_H
#define CALOTYPE_LIBPNG_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Decodes a file to grey, RGB or RGBA of 8 bits a sample, alpha not premultiplied.
///
/// Every row goes into one buffer that is used again; a picture that is interlaced is held whole.
/// `sum` becomes the sum of the bytes of every 64th column, so that a wrong picture shows.
/// Answers false for a file that libpng refuses.
bool libpng_peer_decode(const uint8_t *file, size_t count, uint64_t *sum);

/// The version of libpng, and of the zlib that it inflates with.
const char *libpng_peer_version(void);

#endif

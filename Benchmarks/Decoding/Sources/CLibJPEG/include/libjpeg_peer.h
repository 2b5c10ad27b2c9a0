// SPDX-License-Identifier: Apache-2.0
//
// The peer of the JPEG benchmark: libjpeg-turbo's own shrinking decode.

#ifndef LIBJPEG_PEER_H
#define LIBJPEG_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Decodes at 1/`shrink` to rows of Y'CbCr or grey without colour conversion, and sums every 64th
/// sample.
bool libjpeg_peer_decode(const uint8_t *bytes, size_t count, int shrink, uint64_t *sum);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// lcms2 builds its pixel formats by macros, which Swift does not see.

#ifndef CALOTYPE_CICC_H
#define CALOTYPE_CICC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    calotype_icc_gray,
    calotype_icc_rgb,
    calotype_icc_rgba,
    /// 16 bits in the machine's byte order.
    calotype_icc_gray16,
    calotype_icc_rgb16,
    calotype_icc_rgba16,
    /// Numbers from 0 to 1, and beyond for colours that sRGB does not have.
    calotype_icc_rgba_float,
    calotype_icc_cmyk,
    calotype_icc_cmyk_inverted,
} calotype_icc_layout;

typedef struct calotype_icc_transform calotype_icc_transform;

/// What is missing of the library, or NULL; must be asked before anything else is called.
const char *calotype_icc_missing(void);

/// From a profile to sRGB: grey to grey, RGB to RGB, RGBA to RGBA, CMYK to RGB. NULL when the
/// profile is damaged or is for other pixels.
calotype_icc_transform *calotype_icc_transform_create(const uint8_t *profile, size_t count,
                                                      calotype_icc_layout layout);

/// From a power curve to sRGB; x and y of white, red, green and blue.
calotype_icc_transform *calotype_icc_transform_create_calibrated(double gamma,
                                                                 const double xy[8],
                                                                 calotype_icc_layout layout);

/// From a curve of any shape to sRGB: the light of `count` signals from 0 to 1 at even steps; x and
/// y of white, red, green and blue.
calotype_icc_transform *calotype_icc_transform_create_curve(const float *curve, size_t count,
                                                            const double xy[8],
                                                            calotype_icc_layout layout);

void calotype_icc_transform_destroy(calotype_icc_transform *transform);
void calotype_icc_transform_convert(const calotype_icc_transform *transform, const void *from,
                                    void *to, size_t pixel_count);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// lcms2 defines its pixel formats as macros, which Swift does not import.

#ifndef CALOTYPE_CICC_H
#define CALOTYPE_CICC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    calotype_icc_gray,
    calotype_icc_rgb,
    calotype_icc_rgba,
    /// 16 bits in the byte order of the machine.
    calotype_icc_gray16,
    calotype_icc_rgb16,
    calotype_icc_rgba16,
    /// From 0 to 1, and beyond for colours outside of sRGB.
    calotype_icc_rgba_float,
    calotype_icc_cmyk,
    calotype_icc_cmyk_inverted,
} calotype_icc_layout;

typedef struct calotype_icc_transform calotype_icc_transform;

/// Returns NULL if the library is loaded, otherwise the error; must be called first.
const char *calotype_icc_missing(void);

/// Creates a transform from a profile to sRGB: grey to grey, RGB to RGB, RGBA to RGBA, CMYK to RGB.
/// Returns NULL if the profile is damaged or does not match the layout.
calotype_icc_transform *calotype_icc_transform_create(const uint8_t *profile, size_t count,
                                                      calotype_icc_layout layout);

/// Creates a transform from a power curve to sRGB; `xy` contains x and y of white, red, green and
/// blue.
calotype_icc_transform *calotype_icc_transform_create_calibrated(double gamma,
                                                                 const double xy[8],
                                                                 calotype_icc_layout layout);

/// Creates a transform from a sampled curve to sRGB: the light of `count` evenly spaced signals
/// from 0 to 1, and x and y of white, red, green and blue.
calotype_icc_transform *calotype_icc_transform_create_curve(const float *curve, size_t count,
                                                            const double xy[8],
                                                            calotype_icc_layout layout);

/// Creates a transform from sRGB to an RGB profile, such as that of a monitor, for RGBA in floats; colours
/// outside of sRGB are below 0 or above 1. Returns NULL if the profile is damaged or not for RGB.
calotype_icc_transform *calotype_icc_transform_create_output(const uint8_t *profile, size_t count);

void calotype_icc_transform_destroy(calotype_icc_transform *transform);
/// Converts pixels; both buffers may be the same if pixels have the same size.
void calotype_icc_transform_convert(const calotype_icc_transform *transform, const void *from,
                                    void *to, size_t pixel_count);

#endif

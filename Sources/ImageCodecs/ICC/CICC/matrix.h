// SPDX-License-Identifier: Apache-2.0
//
// Conversion of RGB by curves and a matrix.

#ifndef CALOTYPE_ICC_MATRIX_H
#define CALOTYPE_ICC_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The number of intervals of a curve, between which values are interpolated: at most 2 of 65535 off
/// for the curve of sRGB.
enum { calotype_icc_steps = 4096 };

typedef struct {
    /// The light of evenly spaced signals of red, green and blue.
    float light[3][calotype_icc_steps + 1];
    /// The signals from 0 to 65535 of evenly spaced light.
    float signal[calotype_icc_steps + 1];
    /// From light of the source to light of the result, row by row.
    float matrix[3][3];
} calotype_icc_matrix;

/// The number of intervals of light in the table of 8-bit signals.
enum { calotype_icc_byte_steps = 1 << 14 };

/// Four integers, of which the last is not used.
typedef int32_t calotype_icc_light __attribute__((vector_size(16)));

/// 8 bits in integers, as lcms2 calculates.
typedef struct {
    /// By channel of the source and its byte: what it adds to the light of red, green and blue of the
    /// result, in 1/2²⁸.
    calotype_icc_light light[3][256];
    /// The bytes of evenly spaced light.
    uint8_t signal[calotype_icc_byte_steps + 1];
} calotype_icc_byte_matrix;

/// Sets the matrix to `to`⁻¹ × `from`, whose elements are the primaries in CIE XYZ.
void calotype_icc_matrix_set(calotype_icc_matrix *matrix, const double from[3][3],
                             const double to[3][3]);

/// Converts pixels of three or four channels; the fourth is copied.
void calotype_icc_matrix_convert(const calotype_icc_matrix *matrix, const uint16_t *from,
                                 uint16_t *to, size_t pixel_count, size_t channel_count);

/// Sets the light of bytes by the matrix from `from` to `to`, as above.
///
/// `curves` contains the light of the bytes of red, green and blue. Returns false for a matrix without an
/// effect, and for values that are too large.
bool calotype_icc_byte_matrix_set(calotype_icc_byte_matrix *matrix, const float curves[3][256],
                                  const double from[3][3], const double to[3][3]);

/// Sets the byte of a step of light to a signal from 0 to 1, to which others are clipped.
void calotype_icc_byte_matrix_set_signal(calotype_icc_byte_matrix *matrix, int step, float signal);

/// Converts pixels of three or four channels; the fourth is copied. Both buffers may be the same.
void calotype_icc_byte_matrix_convert(const calotype_icc_byte_matrix *matrix, const uint8_t *from,
                                      uint8_t *to, size_t pixel_count, size_t channel_count);

#endif

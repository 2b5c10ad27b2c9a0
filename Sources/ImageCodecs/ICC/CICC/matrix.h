// SPDX-License-Identifier: Apache-2.0
//
// Conversion of 16-bit RGB by curves and a matrix.

#ifndef CALOTYPE_ICC_MATRIX_H
#define CALOTYPE_ICC_MATRIX_H

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

/// Sets the matrix to `to`⁻¹ × `from`, whose elements are the primaries in CIE XYZ.
void calotype_icc_matrix_set(calotype_icc_matrix *matrix, const double from[3][3],
                             const double to[3][3]);

/// Converts pixels of three or four channels; the fourth is copied.
void calotype_icc_matrix_convert(const calotype_icc_matrix *matrix, const uint16_t *from,
                                 uint16_t *to, size_t pixel_count, size_t channel_count);

#endif

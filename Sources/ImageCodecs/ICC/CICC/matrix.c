// SPDX-License-Identifier: Apache-2.0

#include "matrix.h"

#include <math.h>

/// Computes `to`⁻¹ × `from`, row by row.
static void multiply(double result[3][3], const double from[3][3], const double to[3][3]) {
    double inverse[3][3];
    double determinant = 0;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        // The cross product of two columns is a row of the inverse, up to a factor.
        for (int axis = 0; axis < 3; axis++) {
            int u = (axis + 1) % 3, v = (axis + 2) % 3;
            inverse[i][axis] = to[j][u] * to[k][v] - to[j][v] * to[k][u];
        }
        if (i > 0) continue;
        for (int axis = 0; axis < 3; axis++) determinant += to[0][axis] * inverse[0][axis];
    }
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++) {
            double sum = 0;
            for (int axis = 0; axis < 3; axis++) sum += inverse[row][axis] * from[column][axis];
            result[row][column] = sum / determinant;
        }
}

void calotype_icc_matrix_set(calotype_icc_matrix *matrix, const double from[3][3],
                             const double to[3][3]) {
    double product[3][3];
    multiply(product, from, to);
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++)
            matrix->matrix[row][column] = (float)product[row][column];
}

/// Returns the value of a curve at a position from 0 to 1, to which others are clipped.
static inline float value_at(const float *curve, float position) {
    float place = position * calotype_icc_steps;
    // The comparison is false for NaN.
    if (!(place > 0)) return curve[0];
    if (place >= calotype_icc_steps) return curve[calotype_icc_steps];
    int index = (int)place;
    return curve[index] + (curve[index + 1] - curve[index]) * (place - (float)index);
}

void calotype_icc_matrix_convert(const calotype_icc_matrix *matrix, const uint16_t *from,
                                 uint16_t *to, size_t pixel_count, size_t channel_count) {
    for (size_t pixel = 0; pixel < pixel_count; pixel++) {
        float light[3];
        for (int i = 0; i < 3; i++) light[i] = value_at(matrix->light[i], (float)from[i] / 65535);
        for (int i = 0; i < 3; i++) {
            const float *row = matrix->matrix[i];
            float sum = row[0] * light[0] + row[1] * light[1] + row[2] * light[2];
            to[i] = (uint16_t)(value_at(matrix->signal, sum) + 0.5f);
        }
        if (channel_count == 4) to[3] = from[3];
        from += channel_count;
        to += channel_count;
    }
}

bool calotype_icc_byte_matrix_set(calotype_icc_byte_matrix *matrix, const float curves[3][256],
                                  const double from[3][3], const double to[3][3]) {
    double product[3][3];
    multiply(product, from, to);
    double distance = 0;
    for (int row = 0; row < 3; row++) {
        double sum = 0;
        for (int column = 0; column < 3; column++) {
            double factor = fabs(product[row][column]), largest = 0;
            // Comparisons are false for NaN.
            if (!(factor < 100)) return false;
            for (int i = 0; i < 256; i++) {
                double light = fabs((double)curves[column][i]);
                if (!(light < 100)) return false;
                largest = fmax(largest, light);
            }
            sum += factor * largest;
            distance += fabs(product[row][column] - (row == column));
        }
        // Sums of light in 1/2²⁸ must fit in 32 bits.
        if (sum > 7.9) return false;
    }
    if (distance < 1e-3) return false;
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++) {
            int32_t factor = (int32_t)floor(product[row][column] * 16384 + 0.5);
            // Half a step of light, so that the shift rounds.
            int32_t half = column == 0 ? 1 << 13 : 0;
            for (int i = 0; i < 256; i++) {
                int32_t light = (int32_t)floor((double)curves[column][i] * 16384 + 0.5);
                matrix->light[column][i][row] = factor * light + half;
            }
        }
    for (int column = 0; column < 3; column++)
        for (int i = 0; i < 256; i++) matrix->light[column][i][3] = 0;
    return true;
}

void calotype_icc_byte_matrix_set_signal(calotype_icc_byte_matrix *matrix, int step, float signal) {
    double value = signal > 0 ? signal < 1 ? (double)signal : 1 : 0;
    // lcms2 rounds to 1/65536 first, and to 16 bits before 8.
    uint32_t deep = (uint32_t)fmin(floor(rint((value * 65535 + 0.5) * 65536) / 65536), 65535);
    matrix->signal[step] = (uint8_t)((deep * 65281 + 8388608) >> 24);
}

void calotype_icc_byte_matrix_convert(const calotype_icc_byte_matrix *matrix, const uint8_t *from,
                                      uint8_t *to, size_t pixel_count, size_t channel_count) {
    const calotype_icc_light top = {calotype_icc_byte_steps, calotype_icc_byte_steps,
                                    calotype_icc_byte_steps, calotype_icc_byte_steps};
    for (size_t pixel = 0; pixel < pixel_count; pixel++) {
        calotype_icc_light light =
            (matrix->light[0][from[0]] + matrix->light[1][from[1]] + matrix->light[2][from[2]]) >> 14;
        light &= light > 0;
        calotype_icc_light excess = light > top;
        light = (light & ~excess) | (top & excess);
        uint8_t alpha = channel_count == 4 ? from[3] : 0;
        for (int i = 0; i < 3; i++) to[i] = matrix->signal[light[i]];
        if (channel_count == 4) to[3] = alpha;
        from += channel_count;
        to += channel_count;
    }
}

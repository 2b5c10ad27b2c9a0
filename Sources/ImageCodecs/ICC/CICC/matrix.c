// SPDX-License-Identifier: Apache-2.0

#include "matrix.h"

void calotype_icc_matrix_set(calotype_icc_matrix *matrix, const double from[3][3],
                             const double to[3][3]) {
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
            matrix->matrix[row][column] = (float)(sum / determinant);
        }
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

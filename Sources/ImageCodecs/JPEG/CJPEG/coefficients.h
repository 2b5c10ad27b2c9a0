// SPDX-License-Identifier: Apache-2.0
//
// The coefficients that libjpeg keeps of a file of several scans, 2 to 6 bytes a pixel. Each scan
// walks through all of them, so they lie in large pages where the system has them: that saves 7 %
// of the time of a progressive picture of 12 megapixels. libjpeg's own would also be zeroed twice.

#ifndef CALOTYPE_COEFFICIENTS_H
#define CALOTYPE_COEFFICIENTS_H

#include <stddef.h>
#include <stdio.h>

#include <jpeglib.h>

typedef struct jvirt_barray_control coefficient_array;

typedef struct {
    coefficient_array *first;
    void (*realize_others)(j_common_ptr info);
} coefficient_memory;

/// Takes the place of the part of libjpeg's memory manager that is about coefficients.
void calotype_coefficients_install(coefficient_memory *memory, j_decompress_ptr info);
void calotype_coefficients_free(coefficient_memory *memory);
/// Where the memory of a decompressor is; the owner of both says it.
coefficient_memory *calotype_coefficients_of(j_common_ptr info);

#endif

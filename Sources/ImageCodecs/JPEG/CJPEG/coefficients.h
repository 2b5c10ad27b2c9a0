// SPDX-License-Identifier: Apache-2.0
//
// Memory for the coefficients of a file with several scans, 2 to 6 bytes a pixel. Each scan accesses
// all of them, so huge pages are used where available: this saves 7 % of the time of a progressive
// image of 12 megapixels. The memory manager of libjpeg would also zero the memory twice.

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

/// Replaces the functions of libjpeg's memory manager that allocate coefficients.
void calotype_coefficients_install(coefficient_memory *memory, j_decompress_ptr info);
void calotype_coefficients_free(coefficient_memory *memory);
/// Returns the coefficient memory of a decompressor; defined by the owner of both.
coefficient_memory *calotype_coefficients_of(j_common_ptr info);

#endif

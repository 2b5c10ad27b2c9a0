// SPDX-License-Identifier: Apache-2.0

#define _DEFAULT_SOURCE
#include "coefficients.h"

#include <stdlib.h>
#include <sys/mman.h>

#include <jerror.h>

// libjpeg declares this type; the memory manager defines it.
struct jvirt_barray_control {
    coefficient_array *next;
    JDIMENSION row_count, blocks_per_row;
    size_t byte_count;
    JBLOCKROW blocks;
    JBLOCKROW *rows;
};

static jvirt_barray_ptr request(j_common_ptr info, int pool, boolean pre_zero,
                                JDIMENSION blocks_per_row, JDIMENSION row_count,
                                JDIMENSION maximum_access) {
    (void)pool, (void)pre_zero, (void)maximum_access;
    coefficient_memory *memory = calotype_coefficients_of(info);
    coefficient_array *array = calloc(1, sizeof *array);
    if (!array) ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
    array->next = memory->first;
    array->row_count = row_count;
    array->blocks_per_row = blocks_per_row;
    memory->first = array;
    return array;
}

static void realize(j_common_ptr info) {
    coefficient_memory *memory = calotype_coefficients_of(info);
    memory->realize_others(info);
    for (coefficient_array *array = memory->first; array; array = array->next) {
        if (array->rows) continue;
        size_t row_bytes = (size_t)array->blocks_per_row * sizeof(JBLOCK);
        size_t byte_count = row_bytes * array->row_count;
        void *blocks = mmap(NULL, byte_count, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (blocks == MAP_FAILED) ERREXIT1(info, JERR_OUT_OF_MEMORY, 1);
        array->blocks = blocks;
        array->byte_count = byte_count;
        array->rows = malloc(array->row_count * sizeof *array->rows);
        if (!array->rows) ERREXIT1(info, JERR_OUT_OF_MEMORY, 2);
#ifdef MADV_HUGEPAGE
        (void)madvise(blocks, byte_count, MADV_HUGEPAGE);
#endif
        for (JDIMENSION y = 0; y < array->row_count; y++)
            array->rows[y] = array->blocks + (size_t)y * array->blocks_per_row;
    }
}

static JBLOCKARRAY access(j_common_ptr info, jvirt_barray_ptr array, JDIMENSION start,
                          JDIMENSION count, boolean writable) {
    (void)writable;
    if (!array->rows || start > array->row_count || count > array->row_count - start)
        ERREXIT(info, JERR_BAD_VIRTUAL_ACCESS);
    return array->rows + start;
}

void calotype_coefficients_install(coefficient_memory *memory, j_decompress_ptr info) {
    memory->realize_others = info->mem->realize_virt_arrays;
    info->mem->request_virt_barray = request;
    info->mem->realize_virt_arrays = realize;
    info->mem->access_virt_barray = access;
}

void calotype_coefficients_free(coefficient_memory *memory) {
    while (memory->first) {
        coefficient_array *array = memory->first;
        memory->first = array->next;
        if (array->blocks) munmap(array->blocks, array->byte_count);
        free(array->rows);
        free(array);
    }
}

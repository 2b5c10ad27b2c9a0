// SPDX-License-Identifier: Apache-2.0
//
// Tensors of DLPack 1.0 in the memory of the processor. The format consists of structures only.

#ifndef CALOTYPE_CDLPACKINTEROP_H
#define CALOTYPE_CDLPACKINTEROP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { calotype_dlpack_unsigned = 1, calotype_dlpack_float = 2 };

/// A tensor of rows, columns and, with three dimensions, channels.
typedef struct {
    const void *data;
    /// A DLDataTypeCode, such as `calotype_dlpack_unsigned`.
    int type;
    int bits;
    int dimension_count;
    int64_t shape[3];
    /// In elements.
    int64_t strides[3];
} calotype_dlpack_layout;

/// Creates a DLManagedTensorVersioned of read-only memory; its deleter calls `release` with `owner`. Returns
/// NULL if memory is exhausted.
void *calotype_dlpack_create(const calotype_dlpack_layout *layout, void *owner, void (*release)(void *));

/// Returns false for tensors of another major version, device or number of dimensions.
bool calotype_dlpack_read(const void *tensor, calotype_dlpack_layout *layout);

/// Calls the deleter of a DLManagedTensorVersioned, if it has one.
void calotype_dlpack_delete(void *tensor);

#endif

// SPDX-License-Identifier: Apache-2.0

#include "CDLPackInterop.h"

#include <stdlib.h>

// https://dmlc.github.io/dlpack/latest/c_api.html

typedef struct {
    void *data;
    struct {
        int32_t type, id;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensorVersioned {
    struct {
        uint32_t major, minor;
    } version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

enum { processor = 1, read_only = 1 };

typedef struct {
    DLManagedTensorVersioned managed;
    int64_t shape[3], strides[3];
    void *owner;
    void (*release)(void *);
} tensor_of_owner;

static void delete(DLManagedTensorVersioned *managed) {
    tensor_of_owner *tensor = managed->manager_ctx;
    tensor->release(tensor->owner);
    free(tensor);
}

void *calotype_dlpack_create(const calotype_dlpack_layout *layout, void *owner, void (*release)(void *)) {
    tensor_of_owner *tensor = calloc(1, sizeof *tensor);
    if (!tensor) return NULL;
    tensor->owner = owner;
    tensor->release = release;
    for (int i = 0; i < layout->dimension_count && i < 3; i++) {
        tensor->shape[i] = layout->shape[i];
        tensor->strides[i] = layout->strides[i];
    }
    DLManagedTensorVersioned *managed = &tensor->managed;
    managed->version.major = 1;
    managed->manager_ctx = tensor;
    managed->deleter = delete;
    managed->flags = read_only;
    managed->dl_tensor.data = (void *)layout->data;
    managed->dl_tensor.device.type = processor;
    managed->dl_tensor.ndim = layout->dimension_count;
    managed->dl_tensor.dtype.code = (uint8_t)layout->type;
    managed->dl_tensor.dtype.bits = (uint8_t)layout->bits;
    managed->dl_tensor.dtype.lanes = 1;
    managed->dl_tensor.shape = tensor->shape;
    managed->dl_tensor.strides = tensor->strides;
    return managed;
}

bool calotype_dlpack_read(const void *pointer, calotype_dlpack_layout *layout) {
    const DLManagedTensorVersioned *managed = pointer;
    const DLTensor *tensor = &managed->dl_tensor;
    if (managed->version.major != 1 || tensor->device.type != processor || tensor->ndim < 2 ||
        tensor->ndim > 3 || tensor->dtype.lanes != 1)
        return false;
    layout->data = (const char *)tensor->data + tensor->byte_offset;
    layout->type = tensor->dtype.code;
    layout->bits = tensor->dtype.bits;
    layout->dimension_count = tensor->ndim;
    int64_t compact = 1;
    for (int i = tensor->ndim - 1; i >= 0; i--) {
        layout->shape[i] = tensor->shape[i];
        layout->strides[i] = tensor->strides ? tensor->strides[i] : compact;
        if (__builtin_mul_overflow(compact, tensor->shape[i], &compact)) return false;
    }
    return true;
}

void calotype_dlpack_delete(void *pointer) {
    DLManagedTensorVersioned *managed = pointer;
    if (managed->deleter) managed->deleter(managed);
}

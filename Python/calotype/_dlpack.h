// SPDX-License-Identifier: Apache-2.0
//
// The structures of DLPack 0.8 and 1.0 for tensors in the memory of the processor, and the capsules of Python that
// contain them.

#include <Python.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct {
    void *data;
    struct {
        int32_t type;
        int32_t id;
    } device;
    int32_t ndim;
    struct {
        uint8_t code;
        uint8_t bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape;
    int64_t *strides;
    uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
    DLTensor tensor;
    void *context;
    void (*deleter)(struct DLManagedTensor *);
} DLManagedTensor;

typedef struct DLManagedTensorVersioned {
    struct {
        uint32_t major;
        uint32_t minor;
    } version;
    void *context;
    void (*deleter)(struct DLManagedTensorVersioned *);
    uint64_t flags;
    DLTensor tensor;
} DLManagedTensorVersioned;

enum { DLPACK_CPU = 1, DLPACK_UNSIGNED = 1, DLPACK_READ_ONLY = 1 };

// A tensor of either version, with its shape and its owner.
typedef struct {
    union {
        DLManagedTensor plain;
        DLManagedTensorVersioned versioned;
    };
    int64_t shape[3];
    int64_t strides[3];
    PyObject *owner;
    void (*release)(PyObject *);
} DLPackTensor;

static void dlpack_free(DLPackTensor *tensor) {
    tensor->release(tensor->owner);
    free(tensor);
}
static void dlpack_delete(DLManagedTensor *tensor) { dlpack_free(tensor->context); }
static void dlpack_delete_versioned(DLManagedTensorVersioned *tensor) { dlpack_free(tensor->context); }

// Frees a tensor that no consumer has taken; consumers rename the capsule.
static void dlpack_capsule_free(PyObject *capsule) {
    const char *names[] = {"dltensor", "dltensor_versioned"};
    for (int i = 0; i < 2; i++)
        if (PyCapsule_IsValid(capsule, names[i])) dlpack_free(PyCapsule_GetPointer(capsule, names[i]));
}

// Returns a capsule that keeps a reference to `owner`, which `release` ends. Strides are in bytes.
static PyObject *dlpack_capsule(PyObject *owner, void *data, int dimensions, const Py_ssize_t *shape,
                                const Py_ssize_t *strides, int sample_byte_count, int is_versioned,
                                void (*release)(PyObject *)) {
    DLPackTensor *tensor = calloc(1, sizeof *tensor);
    if (!tensor) return PyErr_NoMemory();
    for (int i = 0; i < dimensions; i++) {
        tensor->shape[i] = shape[i];
        tensor->strides[i] = strides[i] / sample_byte_count;
    }
    DLTensor *fields = is_versioned ? &tensor->versioned.tensor : &tensor->plain.tensor;
    fields->data = data;
    fields->device.type = DLPACK_CPU;
    fields->ndim = dimensions;
    fields->dtype.code = DLPACK_UNSIGNED;
    fields->dtype.bits = (uint8_t)(8 * sample_byte_count);
    fields->dtype.lanes = 1;
    fields->shape = tensor->shape;
    fields->strides = tensor->strides;
    if (is_versioned) {
        tensor->versioned.version.major = 1;
        tensor->versioned.flags = DLPACK_READ_ONLY;
        tensor->versioned.context = tensor;
        tensor->versioned.deleter = dlpack_delete_versioned;
    } else {
        tensor->plain.context = tensor;
        tensor->plain.deleter = dlpack_delete;
    }
    PyObject *capsule = PyCapsule_New(tensor, is_versioned ? "dltensor_versioned" : "dltensor", dlpack_capsule_free);
    if (!capsule) {
        free(tensor);
        return NULL;
    }
    tensor->owner = Py_NewRef(owner);
    tensor->release = release;
    return capsule;
}

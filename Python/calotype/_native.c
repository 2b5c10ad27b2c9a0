// SPDX-License-Identifier: Apache-2.0
//
// The types of the Python package over libcalotype: sources and images. Every call into the library releases the
// global interpreter lock. Uses the stable ABI of Python 3.11.

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <calotype.h>
#include <string.h>

#include "_dlpack.h"

typedef struct {
    PyObject_HEAD
    calotype_source *source;
    calotype_header header;
} SourceObject;

// An image and its shape: height, width and, unless it is grey, channels.
typedef struct {
    PyObject_HEAD
    calotype_image *image;
    // The image object that owns the memory of a further plane; null in all others.
    PyObject *owner;
    calotype_pixels pixels;
    int dimensions;
    int sample_byte_count;
    Py_ssize_t shape[3];
    Py_ssize_t strides[3];
} ImageObject;

// The classes of calotype._errors, by status.
static PyObject *error_classes;

static PyObject *raised(const calotype_error *error) {
    PyObject *status = PyLong_FromLong(error->status);
    PyObject *class = status ? PyDict_GetItemWithError(error_classes, status) : NULL;
    Py_XDECREF(status);
    PyErr_SetString(class ? class : PyExc_RuntimeError, error->message);
    return NULL;
}

// MARK: Image

static void image_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    calotype_image_release(((ImageObject *)object)->image);
    Py_XDECREF(((ImageObject *)object)->owner);
    freefunc free = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free(object);
    Py_DECREF(type);
}

// Returns an image of a subclass, which owns `image` if that is not null, or frees it. `owner` is borrowed.
static PyObject *new_object(PyTypeObject *type, calotype_image *image, PyObject *owner, const calotype_pixels *pixels) {
    static const int channels[] = {0, 1, 3, 4, 1, 3, 4};
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    ImageObject *self = (ImageObject *)allocate(type, 0);
    if (!self) {
        calotype_image_release(image);
        return NULL;
    }
    int count = channels[pixels->format];
    self->image = image;
    self->owner = Py_XNewRef(owner);
    self->pixels = *pixels;
    self->dimensions = count == 1 ? 2 : 3;
    self->sample_byte_count = pixels->format >= CALOTYPE_GRAY16 ? 2 : 1;
    self->shape[0] = pixels->height;
    self->shape[1] = pixels->width;
    self->shape[2] = count;
    self->strides[0] = (Py_ssize_t)pixels->bytes_per_row;
    self->strides[1] = (Py_ssize_t)count * self->sample_byte_count;
    self->strides[2] = self->sample_byte_count;
    return (PyObject *)self;
}

// Returns an image of a subclass, which owns `image`, or frees it.
static PyObject *new_image(PyTypeObject *type, calotype_image *image) {
    calotype_error error;
    calotype_pixels pixels = {.struct_size = sizeof pixels};
    if (calotype_image_pixels(image, &pixels, &error)) {
        calotype_image_release(image);
        return raised(&error);
    }
    return new_object(type, image, NULL, &pixels);
}

// Returns a tuple of an image for each plane, of which the first owns `image`, or frees it.
static PyObject *new_planes(PyTypeObject *type, calotype_image *image) {
    calotype_error error;
    calotype_planes planes = {.struct_size = sizeof planes};
    if (calotype_image_planes(image, &planes, &error)) {
        calotype_image_release(image);
        return raised(&error);
    }
    PyObject *result = PyTuple_New(planes.plane_count), *first = NULL;
    if (!result) calotype_image_release(image);
    for (uint32_t i = 0; result && i < planes.plane_count; i++) {
        const calotype_plane *plane = &planes.planes[i];
        calotype_pixels pixels = {sizeof pixels,  plane->data,   plane->bytes_per_row,
                                  plane->width, plane->height, CALOTYPE_GRAY8};
        PyObject *object = new_object(type, i == 0 ? image : NULL, first, &pixels);
        if (i == 0) first = object;
        // The tuple takes the reference.
        if (!object || PyTuple_SetItem(result, i, object)) Py_CLEAR(result);
    }
    return result;
}

static int image_get_buffer(PyObject *object, Py_buffer *view, int flags) {
    ImageObject *self = (ImageObject *)object;
    int is_contiguous = self->shape[0] == 1 || self->strides[0] == self->shape[1] * self->strides[1];
    int needs_contiguous = (flags & PyBUF_STRIDES) != PyBUF_STRIDES ||
                           (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS ||
                           (flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS;
    view->obj = NULL;
    if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE) {
        PyErr_SetString(PyExc_BufferError, "the pixels of an image are read-only; copy them first");
        return -1;
    }
    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS || (needs_contiguous && !is_contiguous)) {
        PyErr_SetString(PyExc_BufferError, "the rows of an image are padded; request strides");
        return -1;
    }
    view->buf = (void *)self->pixels.data;
    view->len = self->shape[0] * self->shape[1] * self->strides[1];
    view->itemsize = self->sample_byte_count;
    view->readonly = 1;
    view->format = (flags & PyBUF_FORMAT) ? (self->sample_byte_count == 2 ? "H" : "B") : NULL;
    view->ndim = self->dimensions;
    view->shape = (flags & PyBUF_ND) ? self->shape : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? self->strides : NULL;
    view->suboffsets = NULL;
    view->internal = NULL;
    view->obj = Py_NewRef(object);
    return 0;
}

static PyObject *image_tuple(const Py_ssize_t *values, int count) {
    return count == 2 ? Py_BuildValue("(nn)", values[0], values[1])
                      : Py_BuildValue("(nnn)", values[0], values[1], values[2]);
}

static PyObject *image_shape(PyObject *object, void *Py_UNUSED(closure)) {
    ImageObject *self = (ImageObject *)object;
    return image_tuple(self->shape, self->dimensions);
}

static PyObject *image_strides(PyObject *object, void *Py_UNUSED(closure)) {
    ImageObject *self = (ImageObject *)object;
    return image_tuple(self->strides, self->dimensions);
}

static PyObject *image_address(PyObject *object, void *Py_UNUSED(closure)) {
    return PyLong_FromVoidPtr((void *)((ImageObject *)object)->pixels.data);
}

static PyObject *image_array_interface(PyObject *object, void *Py_UNUSED(closure)) {
    ImageObject *self = (ImageObject *)object;
    const int one = 1;
    const char *type = self->sample_byte_count == 1 ? "|u1" : *(const char *)&one ? "<u2" : ">u2";
    return Py_BuildValue("{s:N,s:s,s:(NO),s:N,s:i}", "shape", image_shape(object, NULL), "typestr", type, "data",
                         image_address(object, NULL), Py_True, "strides", image_strides(object, NULL), "version", 3);
}

static void dlpack_release(PyObject *object) {
    PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF(object);
    PyGILState_Release(state);
}

static PyObject *image_dlpack(PyObject *object, PyObject *arguments) {
    ImageObject *self = (ImageObject *)object;
    int is_versioned;
    if (!PyArg_ParseTuple(arguments, "p", &is_versioned)) return NULL;
    return dlpack_capsule(object, (void *)self->pixels.data, self->dimensions, self->shape, self->strides,
                          self->sample_byte_count, is_versioned, dlpack_release);
}

static PyObject *image_encode(PyObject *object, PyObject *arguments) {
    ImageObject *self = (ImageObject *)object;
    const char *format;
    calotype_encode_options options = {.struct_size = sizeof options};
    if (!PyArg_ParseTuple(arguments, "sip", &format, &options.quality, &options.lossless)) return NULL;
    calotype_data *data = NULL;
    calotype_error error;
    calotype_status status;
    Py_BEGIN_ALLOW_THREADS
    status = calotype_encode(&self->pixels, format, &options, NULL, &data, &error);
    Py_END_ALLOW_THREADS
    if (status) return raised(&error);
    PyObject *bytes = PyBytes_FromStringAndSize(calotype_data_bytes(data), calotype_data_byte_count(data));
    calotype_data_release(data);
    return bytes;
}

static PyGetSetDef image_properties[] = {
    {"shape", image_shape, NULL, "The height, the width and, unless the image is grey, the number of channels.", NULL},
    {"strides", image_strides, NULL, "The distances in bytes between rows, pixels and samples.", NULL},
    {"address", image_address, NULL, "The address of the first row in memory.", NULL},
    {"__array_interface__", image_array_interface, NULL, "The array interface of NumPy, version 3.", NULL},
    {0}};
static PyMethodDef image_methods[] = {{"_dlpack", image_dlpack, METH_VARARGS, NULL},
                                      {"_encode", image_encode, METH_VARARGS, NULL},
                                      {0}};
static PyType_Slot image_slots[] = {{Py_tp_dealloc, image_dealloc},
                                    {Py_tp_getset, image_properties},
                                    {Py_tp_methods, image_methods},
                                    {Py_bf_getbuffer, image_get_buffer},
                                    {0}};
static PyType_Spec image_spec = {"calotype._native.Image", sizeof(ImageObject), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                 image_slots};

// MARK: Source

static void source_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    calotype_source_release(((SourceObject *)object)->source);
    freefunc free = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free(object);
    Py_DECREF(type);
}

// Source(path, descriptor, bytes, pixels, side, file bytes, memory bytes): one of the first three is given.
static PyObject *source_new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(keywords)) {
    PyObject *path = NULL, *bytes;
    int descriptor;
    unsigned long long pixel_count, side, file_byte_count, memory_byte_count;
    if (!PyArg_ParseTuple(arguments, "OiOKKKK", &path, &descriptor, &bytes, &pixel_count, &side, &file_byte_count,
                          &memory_byte_count))
        return NULL;
    calotype_limits limits = {sizeof limits, pixel_count, side, file_byte_count, memory_byte_count};
    calotype_source *source = NULL;
    calotype_error error;
    calotype_status status;
    Py_buffer view = {0};
    PyObject *name = NULL;
    const char *text = NULL;
    if (bytes != Py_None) {
        if (PyObject_GetBuffer(bytes, &view, PyBUF_SIMPLE)) return NULL;
    } else if (path != Py_None) {
        if (!PyUnicode_FSConverter(path, &name)) return NULL;
        text = PyBytes_AsString(name);
    }
    Py_BEGIN_ALLOW_THREADS
    if (view.obj) {
        status = calotype_open_bytes(view.buf, view.len, &limits, NULL, &source, &error);
    } else if (text) {
        status = calotype_open_path(text, &limits, NULL, &source, &error);
    } else {
        status = calotype_open_descriptor(descriptor, &limits, NULL, &source, &error);
    }
    Py_END_ALLOW_THREADS
    if (view.obj) PyBuffer_Release(&view);
    Py_XDECREF(name);
    if (status) return raised(&error);
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    SourceObject *self = (SourceObject *)allocate(type, 0);
    if (!self) {
        calotype_source_release(source);
        return NULL;
    }
    self->source = source;
    self->header.struct_size = sizeof self->header;
    if (calotype_source_header(source, &self->header, &error)) {
        Py_DECREF(self);
        return raised(&error);
    }
    return (PyObject *)self;
}

static PyObject *source_header(PyObject *object, PyObject *Py_UNUSED(arguments)) {
    const calotype_header *header = &((SourceObject *)object)->header;
    return Py_BuildValue("{s:I,s:I,s:i,s:i,s:O,s:O,s:I,s:I,s:s}", "width", header->width, "height", header->height,
                         "orientation", header->orientation, "bits_per_sample", header->bits_per_sample, "has_alpha",
                         header->has_alpha ? Py_True : Py_False, "is_gray", header->is_gray ? Py_True : Py_False,
                         "frame_count", header->frame_count, "page_count", header->page_count, "format",
                         header->format);
}

// Stores the members of a tuple: width, height, resize, format, flags, page and the region.
static int parsed_options(PyObject *tuple, calotype_decode_options *options) {
    long long values[7];
    options->struct_size = sizeof *options;
    if (!PyArg_ParseTuple(tuple, "LLiiILLLLL", &values[0], &values[1], &options->resize, &options->format,
                          &options->flags, &values[2], &values[3], &values[4], &values[5], &values[6]))
        return 0;
    uint32_t *members[] = {&options->width,    &options->height,       &options->page,         &options->region_x,
                           &options->region_y, &options->region_width, &options->region_height};
    for (int i = 0; i < 7; i++) {
        if (values[i] < 0 || values[i] > UINT32_MAX) {
            PyErr_Format(PyExc_ValueError, "invalid number of pixels or pages: %lld", values[i]);
            return 0;
        }
        *members[i] = (uint32_t)values[i];
    }
    return 1;
}

// Returns an image, or an image for each plane.
static PyObject *decoded(PyObject *object, PyObject *arguments,
                         PyObject *(*result)(PyTypeObject *, calotype_image *)) {
    PyObject *type, *tuple;
    calotype_decode_options options;
    if (!PyArg_ParseTuple(arguments, "OO", &type, &tuple) || !parsed_options(tuple, &options)) return NULL;
    calotype_image *image = NULL;
    calotype_error error;
    calotype_status status;
    Py_BEGIN_ALLOW_THREADS
    status = calotype_decode(((SourceObject *)object)->source, &options, NULL, &image, &error);
    Py_END_ALLOW_THREADS
    return status ? raised(&error) : result((PyTypeObject *)type, image);
}

// decode(type of the image, options)
static PyObject *source_decode(PyObject *object, PyObject *arguments) { return decoded(object, arguments, new_image); }

// planes(type of the images, options with the format of planes)
static PyObject *source_planes(PyObject *object, PyObject *arguments) { return decoded(object, arguments, new_planes); }

// encode(options, format, quality, whether the file is lossless)
static PyObject *source_encode(PyObject *object, PyObject *arguments) {
    PyObject *tuple;
    const char *format;
    calotype_decode_options options;
    calotype_encode_options encoding = {.struct_size = sizeof encoding};
    if (!PyArg_ParseTuple(arguments, "Osip", &tuple, &format, &encoding.quality, &encoding.lossless) ||
        !parsed_options(tuple, &options))
        return NULL;
    calotype_data *data = NULL;
    calotype_error error;
    calotype_status status;
    Py_BEGIN_ALLOW_THREADS
    status = calotype_thumbnail(((SourceObject *)object)->source, &options, format, &encoding, NULL, &data, &error);
    Py_END_ALLOW_THREADS
    if (status) return raised(&error);
    PyObject *bytes = PyBytes_FromStringAndSize(calotype_data_bytes(data), calotype_data_byte_count(data));
    calotype_data_release(data);
    return bytes;
}

static PyObject *source_metadata(PyObject *object, PyObject *arguments) {
    int kind;
    if (!PyArg_ParseTuple(arguments, "i", &kind)) return NULL;
    calotype_data *data = NULL;
    calotype_error error;
    calotype_status status;
    Py_BEGIN_ALLOW_THREADS
    status = calotype_source_metadata(((SourceObject *)object)->source, kind, &data, &error);
    Py_END_ALLOW_THREADS
    if (status) return raised(&error);
    if (!data) Py_RETURN_NONE;
    PyObject *bytes = PyBytes_FromStringAndSize(calotype_data_bytes(data), calotype_data_byte_count(data));
    calotype_data_release(data);
    return bytes;
}

static PyMethodDef source_methods[] = {{"_header", source_header, METH_NOARGS, NULL},
                                       {"_decode", source_decode, METH_VARARGS, NULL},
                                       {"_planes", source_planes, METH_VARARGS, NULL},
                                       {"_encode", source_encode, METH_VARARGS, NULL},
                                       {"_metadata", source_metadata, METH_VARARGS, NULL},
                                       {0}};
static PyType_Slot source_slots[] = {
    {Py_tp_new, source_new}, {Py_tp_dealloc, source_dealloc}, {Py_tp_methods, source_methods}, {0}};
static PyType_Spec source_spec = {"calotype._native.Source", sizeof(SourceObject), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, source_slots};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "calotype._native", .m_size = -1};

PyMODINIT_FUNC PyInit__native(void) {
    PyObject *errors = PyImport_ImportModule("calotype._errors");
    if (!errors) return NULL;
    error_classes = PyObject_GetAttrString(errors, "BY_STATUS");
    Py_DECREF(errors);
    PyObject *result = error_classes ? PyModule_Create(&module) : NULL;
    PyObject *image = PyType_FromSpec(&image_spec), *source = PyType_FromSpec(&source_spec);
    if (!result || !image || !source || PyModule_AddObjectRef(result, "Image", image) ||
        PyModule_AddObjectRef(result, "Source", source)) {
        Py_XDECREF(result);
        result = NULL;
    }
    Py_XDECREF(image);
    Py_XDECREF(source);
    return result;
}

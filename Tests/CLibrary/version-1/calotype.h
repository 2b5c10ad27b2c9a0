// SPDX-License-Identifier: Apache-2.0
//
// libcalotype, version 1: decodes, reduces and encodes images.
//
// Link with `pkg-config --cflags --libs calotype`. Text is UTF-8. Sizes are pixels of the upright image.
//
// Threads: functions may be called from several threads at a time, also with the same source, cancellation
// or sandbox. Loading the library starts no thread and changes no state of the process. The first call that
// maps a file installs a handler for SIGBUS, which passes on signals that concern other memory. Only
// calotype_batch_start and calotype_sandbox_create start threads or processes.
//
// fork: a child process may call every function while no other thread of its parent was inside a function
// of this library during the fork. It may use and release the objects of its parent, except batches and
// sandboxes, which it may neither use nor release.
//
// Structures: their first member is struct_size, which the caller sets to sizeof the structure. All other
// members of a structure of options may be 0, which selects the default.

#ifndef CALOTYPE_H
#define CALOTYPE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The version of this interface. Later versions only add functions, constants and members at the end of
// structures.
#define CALOTYPE_ABI_VERSION 1

// The result of a function. Each code describes who can act.
typedef int32_t calotype_status;
enum {
    CALOTYPE_OK = 0,
    // An argument is invalid: the developer of the calling program.
    CALOTYPE_INVALID_ARGUMENT = 1,
    // No known image format, or no bytes at all: the author of the file.
    CALOTYPE_UNKNOWN_FORMAT = 2,
    // The file violates the rules of its format: the author of the file.
    CALOTYPE_DAMAGED = 3,
    // The file ends early: the caller, by passing all of it.
    CALOTYPE_TRUNCATED = 4,
    // The file is valid but uses a feature that is not supported: the developers of Calotype.
    CALOTYPE_UNSUPPORTED = 5,
    // The codec was not built in: the packager.
    CALOTYPE_NOT_BUILT_IN = 6,
    // The file needs more than calotype_limits allow: the caller, by raising the limit in the message.
    CALOTYPE_LIMIT_EXCEEDED = 7,
    // The work was cancelled by calotype_cancellation_cancel or calotype_batch_cancel.
    CALOTYPE_CANCELLED = 8,
    // The file cannot be read: its owner.
    CALOTYPE_FILE = 9,
    // Another process changed the file while it was read: the caller, by trying again.
    CALOTYPE_FILE_CHANGED = 10,
    // An image library is missing or failed: the operator.
    CALOTYPE_LIBRARY = 11,
    // The process that decoded the file was stopped: the author of the file.
    CALOTYPE_DECODER_STOPPED = 12,
    // No sandboxed process can be started: the operator.
    CALOTYPE_SANDBOX_UNAVAILABLE = 13
};

// The reason why a function failed; the memory is the caller's. Every pointer to one may be null.
typedef struct calotype_error {
    calotype_status status;
    // One line in English with the name of the file, terminated by 0; cut off where it is longer.
    char message[508];
} calotype_error;

// Pixel formats. Samples of 16 bits are in native byte order; colours are multiplied by alpha.
typedef int32_t calotype_format;
enum {
    // Grey, RGB or RGBA of 8 bits, like the file.
    CALOTYPE_FORMAT_OF_FILE = 0,
    CALOTYPE_GRAY8 = 1,
    CALOTYPE_RGB8 = 2,
    CALOTYPE_RGBA8 = 3,
    CALOTYPE_GRAY16 = 4,
    CALOTYPE_RGB16 = 5,
    CALOTYPE_RGBA16 = 6,
    // Blue, green, red, alpha, of 8 bits: CAIRO_FORMAT_ARGB32 on little-endian machines.
    CALOTYPE_BGRA8 = 7
};

// How an image is resized to the box of calotype_decode_options.
typedef int32_t calotype_resize;
enum {
    // The whole image inside the box.
    CALOTYPE_FIT = 0,
    // The box is covered, and the excess is cropped evenly.
    CALOTYPE_FILL = 1,
    // Exactly the box, without keeping the aspect ratio.
    CALOTYPE_EXACT = 2
};

// Bits of calotype_decode_options.flags.
enum {
    // The result may be larger than the image.
    CALOTYPE_ALLOW_ENLARGING = 1,
    // The stored rows are not turned upright.
    CALOTYPE_IGNORE_ORIENTATION = 2,
    // As little work as possible, for images that are displayed for a moment.
    CALOTYPE_FAST = 4,
    // Samples are not converted to sRGB.
    CALOTYPE_KEEP_COLORS = 8,
    // A truncated file is an error; otherwise the pixels that it lacks are grey, black or transparent.
    CALOTYPE_REJECT_TRUNCATED = 16,
    // The thumbnail in the file replaces the image if it has enough pixels.
    CALOTYPE_USE_EMBEDDED_THUMBNAIL = 32,
    // Colours have half the resolution of the result, as in most JPEG files; lightness is not affected. Saves time
    // in formats with luma and chroma; has no effect on others and on results of 16 bits.
    CALOTYPE_HALF_CHROMA = 64
};

// Bounds on the resources of one file; 0 selects the default. They are checked on the header.
typedef struct calotype_limits {
    size_t struct_size;
    // The maximum number of pixels of a stored image; 400 million by default.
    uint64_t pixel_count;
    // The maximum length of the longer side; 65,535 by default.
    uint64_t side;
    // The maximum size of the file in bytes; 1 GiB by default.
    uint64_t file_byte_count;
    // The maximum size of the result and of all buffers together in bytes; 2 GiB by default.
    uint64_t memory_byte_count;
} calotype_limits;

// The size and the form of a result.
typedef struct calotype_decode_options {
    size_t struct_size;
    // The box; 0 leaves a side unbounded.
    uint32_t width;
    uint32_t height;
    calotype_resize resize;
    calotype_format format;
    // A combination of bits such as CALOTYPE_FAST.
    uint32_t flags;
    // The page of the file, from 0.
    uint32_t page;
    // The part of the image that is decoded, clamped to the image; all of it if a side is 0.
    uint32_t region_x;
    uint32_t region_y;
    uint32_t region_width;
    uint32_t region_height;
} calotype_decode_options;

// The form of an encoded file.
typedef struct calotype_encode_options {
    size_t struct_size;
    // The quality of lossy formats from 1 to 100; 80 by default.
    int32_t quality;
    // Not 0 for a lossless file, in formats that have both.
    int32_t lossless;
} calotype_encode_options;

// The properties of an image that are known before its pixels are decoded.
typedef struct calotype_header {
    size_t struct_size;
    // The size of the upright image.
    uint32_t width;
    uint32_t height;
    // The orientation of the stored rows, from 1 to 8 as in EXIF; 1 is upright.
    int32_t orientation;
    int32_t bits_per_sample;
    int32_t has_alpha;
    int32_t is_gray;
    uint32_t frame_count;
    uint32_t page_count;
    // The name of the format, such as "jpeg".
    char format[24];
} calotype_header;

// Pixels in memory: rows from the top.
typedef struct calotype_pixels {
    size_t struct_size;
    // The first row.
    const void *data;
    // The number of bytes from one row to the next.
    size_t bytes_per_row;
    uint32_t width;
    uint32_t height;
    calotype_format format;
} calotype_pixels;

// The blocks of metadata of calotype_source_metadata.
typedef int32_t calotype_metadata;
enum {
    // EXIF from its byte order mark on.
    CALOTYPE_EXIF = 1,
    // An XMP packet.
    CALOTYPE_XMP = 2,
    // Records of IPTC-IIM.
    CALOTYPE_IPTC = 3,
    // The ICC profile.
    CALOTYPE_ICC = 4
};

// An opened file. Pixels are not decoded.
typedef struct calotype_source calotype_source;
// A decoded image, which owns its pixels.
typedef struct calotype_image calotype_image;
// Bytes that the library returns.
typedef struct calotype_data calotype_data;
// Cancels work from another thread.
typedef struct calotype_cancellation calotype_cancellation;
// Processes that decode and have no other rights.
typedef struct calotype_sandbox calotype_sandbox;
// Files that are decoded on threads of the library.
typedef struct calotype_batch calotype_batch;

// Returns the version of the interface that the library implements; at least CALOTYPE_ABI_VERSION.
uint32_t calotype_abi_version(void);

// Opens a file and reads its header.
//
// limits and sandbox may be null: then the default limits apply, and the calling thread decodes.
// On success *source is not null, and the caller passes it to calotype_source_release.
calotype_status calotype_open_path(const char *path, const calotype_limits *limits, calotype_sandbox *sandbox,
                                   calotype_source **source, calotype_error *error);

// Opens a file in memory; the bytes are copied.
calotype_status calotype_open_bytes(const void *bytes, size_t byte_count, const calotype_limits *limits,
                                    calotype_sandbox *sandbox, calotype_source **source, calotype_error *error);

// Opens a regular file by its descriptor, from its first byte on. The descriptor remains the caller's.
calotype_status calotype_open_descriptor(int descriptor, const calotype_limits *limits, calotype_sandbox *sandbox,
                                         calotype_source **source, calotype_error *error);

// Closes a file; null is ignored. Images of it stay valid.
void calotype_source_release(calotype_source *source);

// Returns the header.
calotype_status calotype_source_header(calotype_source *source, calotype_header *header, calotype_error *error);

// Returns a block of metadata; *data is null if the file lacks it.
calotype_status calotype_source_metadata(calotype_source *source, calotype_metadata kind, calotype_data **data,
                                         calotype_error *error);

// Decodes an image at the size of the options.
//
// options and cancellation may be null. On success the caller passes *image to calotype_image_release.
calotype_status calotype_decode(calotype_source *source, const calotype_decode_options *options,
                                calotype_cancellation *cancellation, calotype_image **image, calotype_error *error);

// Decodes an image into memory of the caller.
//
// pixels->data, bytes_per_row, width, height and format describe that memory, of byte_count bytes. The image
// is resized to that width and height like CALOTYPE_EXACT, unless options->resize is CALOTYPE_FILL. The box
// and the format of the options are ignored. The result is copied once.
calotype_status calotype_decode_into(calotype_source *source, const calotype_decode_options *options,
                                     calotype_cancellation *cancellation, const calotype_pixels *pixels,
                                     size_t byte_count, calotype_error *error);

// Returns the pixels of an image without a copy, valid until it is released. The first row is aligned to 16
// bytes, and bytes_per_row is a multiple of 64.
calotype_status calotype_image_pixels(calotype_image *image, calotype_pixels *pixels, calotype_error *error);

// Frees an image and its pixels; null is ignored.
void calotype_image_release(calotype_image *image);

// Encodes pixels, which are sRGB, in a format by its name or file extension. options may be null.
calotype_status calotype_encode(const calotype_pixels *pixels, const char *format,
                                const calotype_encode_options *options, calotype_cancellation *cancellation,
                                calotype_data **data, calotype_error *error);

// Reads an image, reduces it and encodes the result, without conversions that the format does not need.
calotype_status calotype_thumbnail(calotype_source *source, const calotype_decode_options *options,
                                   const char *format, const calotype_encode_options *encode_options,
                                   calotype_cancellation *cancellation, calotype_data **data,
                                   calotype_error *error);

// Returns the first byte of data; null if data is null.
const void *calotype_data_bytes(calotype_data *data);

// Returns the number of bytes of data; 0 if data is null.
size_t calotype_data_byte_count(calotype_data *data);

// Frees data; null is ignored.
void calotype_data_release(calotype_data *data);

// Creates a cancellation, which is valid for any number of calls until it is used.
calotype_cancellation *calotype_cancellation_create(void);

// Cancels the calls that have been given a cancellation, and later ones.
void calotype_cancellation_cancel(calotype_cancellation *cancellation);

// Frees a cancellation; null is ignored. No call may be using it.
void calotype_cancellation_release(calotype_cancellation *cancellation);

// Starts processes in which files are decoded.
//
// worker_path is the path of the program calotype-decoder, worker_count the maximum number of images that are
// decoded at a time.
calotype_status calotype_sandbox_create(const char *worker_path, uint32_t worker_count, calotype_sandbox **sandbox,
                                        calotype_error *error);

// Ends the processes; null is ignored. Sources that were opened with the sandbox return errors afterwards.
void calotype_sandbox_release(calotype_sandbox *sandbox);

// Receives one result of a batch, on a thread of the batch: an image, which the callback or later code passes
// to calotype_image_release, or an error and null. The error is valid during the call.
typedef void (*calotype_batch_callback)(void *context, size_t index, calotype_image *image,
                                        const calotype_error *error);

// Decodes files on threads of the library. The paths and options are copied.
//
// Calls callback once for each path, in any order, from thread_count threads; at most as many images exist at a
// time, in addition to those that callbacks keep. Cancelled files are passed to the callback as errors. The
// caller passes *batch to calotype_batch_wait.
calotype_status calotype_batch_start(const char *const *paths, size_t path_count,
                                     const calotype_decode_options *options, const calotype_limits *limits,
                                     calotype_sandbox *sandbox, uint32_t thread_count,
                                     calotype_batch_callback callback, void *context, calotype_batch **batch,
                                     calotype_error *error);

// Cancels the remaining files.
void calotype_batch_cancel(calotype_batch *batch);

// Waits until all callbacks have returned, and frees the batch; null is ignored. Not for use in a callback.
void calotype_batch_wait(calotype_batch *batch);

#ifdef __cplusplus
}
#endif

#endif

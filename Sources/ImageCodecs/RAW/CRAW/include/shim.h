// SPDX-License-Identifier: Apache-2.0
//
// LibRaw is written in C++ and may throw what its own C interface does not catch; no exception must
// cross a Swift frame, so that each call is made here and answers a status.

#ifndef CALOTYPE_CRAW_H
#define CALOTYPE_CRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    calotype_raw_ok = 0,
    calotype_raw_malformed,
    calotype_raw_truncated,
    calotype_raw_unsupported,
    calotype_raw_too_large,
    calotype_raw_stopped,
    calotype_raw_out_of_memory,
} calotype_raw_status;

typedef struct calotype_raw calotype_raw;

typedef struct {
    /// The size of the picture, not turned.
    int width, height;
    /// The size of the sensor's data, with margins that are not shown.
    int sensor_width, sensor_height;
    /// As EXIF counts, 1 to 8.
    int orientation;
    /// Whether each pixel of the sensor's data has one colour only.
    bool is_mosaic;
    int channels;
    /// Whether there is a preview that is a JPEG file, and how long it is; its size may be 0.
    bool has_jpeg;
    int jpeg_width, jpeg_height;
    size_t jpeg_count;
} calotype_raw_info;

/// What is missing of the library, or NULL; must be asked before anything else is called.
const char *calotype_raw_missing(void);
/// NULL when there is no memory.
calotype_raw *calotype_raw_create(unsigned maximum_megabytes);
void calotype_raw_destroy(calotype_raw *raw);
/// Reads what stands before the pixels. `bytes` must outlive the reader.
calotype_raw_status calotype_raw_open(calotype_raw *raw, const uint8_t *bytes, size_t count);
/// Fills `info`; nothing can be decoded afterwards.
calotype_raw_status calotype_raw_get_info(calotype_raw *raw, calotype_raw_info *info);
/// The maker and the model of the camera, owned by the reader.
const char *calotype_raw_make(const calotype_raw *raw);
const char *calotype_raw_model(const calotype_raw *raw);
/// The largest preview, owned by the reader.
calotype_raw_status calotype_raw_preview(calotype_raw *raw, const uint8_t **bytes, size_t *count);

typedef struct {
    /// Makes one pixel of four of the sensor's.
    bool is_halved;
    /// Takes the simplest way to make three colours of one.
    bool is_draft;
    bool (*is_stopped)(const void *);
    const void *context;
} calotype_raw_settings;

/// Decodes to sRGB with 16 bits a sample.
calotype_raw_status calotype_raw_decode(calotype_raw *raw, const calotype_raw_settings *settings);
/// Whether parts of the sensor's data were missing or damaged.
bool calotype_raw_is_truncated(const calotype_raw *raw);
bool calotype_raw_is_damaged(const calotype_raw *raw);
/// The result, without padding, owned by the reader.
const uint16_t *calotype_raw_pixels(const calotype_raw *raw, int *width, int *height,
                                    int *channels);

#ifdef __cplusplus
}
#endif

#endif

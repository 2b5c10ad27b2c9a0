// SPDX-License-Identifier: Apache-2.0
//
// LibRaw is written in C++ and may throw exceptions that its C interface does not catch. An
// exception must never cross a Swift frame, so each call is made here and returns a status.

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
    /// The size of the image, not rotated.
    int width, height;
    /// The size of the sensor data, including margins that are not shown.
    int sensor_width, sensor_height;
    /// EXIF's orientation, 1 to 8.
    int orientation;
    /// Whether each pixel of the sensor data has a single colour.
    bool is_mosaic;
    int channels;
    /// Whether a JPEG preview is present, and its length; its size may be 0.
    bool has_jpeg;
    int jpeg_width, jpeg_height;
    size_t jpeg_count;
} calotype_raw_info;

/// Returns NULL if the library is loaded, otherwise the error; must be called first.
const char *calotype_raw_missing(void);
/// Returns NULL if memory is exhausted.
calotype_raw *calotype_raw_create(unsigned maximum_megabytes);
void calotype_raw_destroy(calotype_raw *raw);
/// Reads the header. `bytes` must outlive the reader.
calotype_raw_status calotype_raw_open(calotype_raw *raw, const uint8_t *bytes, size_t count);
/// Fills `info`; the reader cannot decode afterwards.
calotype_raw_status calotype_raw_get_info(calotype_raw *raw, calotype_raw_info *info);
/// Returns the maker and the model of the camera, owned by the reader.
const char *calotype_raw_make(const calotype_raw *raw);
const char *calotype_raw_model(const calotype_raw *raw);
/// Returns the largest preview, owned by the reader.
calotype_raw_status calotype_raw_preview(calotype_raw *raw, const uint8_t **bytes, size_t *count);

typedef struct {
    /// Makes one pixel of four sensor pixels.
    bool is_halved;
    /// Uses the simplest demosaicing.
    bool is_draft;
    bool (*is_stopped)(const void *);
    const void *context;
} calotype_raw_settings;

/// Decodes to sRGB with 16 bits per sample.
calotype_raw_status calotype_raw_decode(calotype_raw *raw, const calotype_raw_settings *settings);
/// Returns whether parts of the sensor data were missing or damaged.
bool calotype_raw_is_truncated(const calotype_raw *raw);
bool calotype_raw_is_damaged(const calotype_raw *raw);
/// Returns the result without padding, owned by the reader.
const uint16_t *calotype_raw_pixels(const calotype_raw *raw, int *width, int *height,
                                    int *channels);

#ifdef __cplusplus
}
#endif

#endif

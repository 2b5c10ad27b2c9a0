// SPDX-License-Identifier: Apache-2.0
//
// libavif over bytes that are valid during a call only, with one thread and without strict checks.

#ifndef CALOTYPE_CAVIF_H
#define CALOTYPE_CAVIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    calotype_avif_ok,
    calotype_avif_no_more,
    calotype_avif_truncated,
    calotype_avif_malformed,
    calotype_avif_unsupported,
    calotype_avif_failed,
} calotype_avif_status;

/// The header of the file.
typedef struct {
    uint32_t width, height, depth;
    /// 0 for monochrome, otherwise 444, 422 or 420.
    int subsampling;
    bool has_alpha, is_premultiplied, is_full_range;
    int primaries, transfer, matrix;
    /// The clean aperture; the whole image if it is missing or invalid.
    uint32_t crop_x, crop_y, crop_width, crop_height;
    /// Counter-clockwise quarter turns, then the mirroring: -1 for none, 0 top to bottom, 1 left to
    /// right.
    int rotation, mirror;
    int frame_count;
    const uint8_t *icc, *exif, *xmp;
    size_t icc_count, exif_count, xmp_count;
} calotype_avif_info;

/// A decoded image; its planes are valid until the next call.
typedef struct {
    calotype_avif_info info;
    const uint8_t *planes[4];
    uint32_t row_bytes[4];
    double duration;
} calotype_avif_frame;

typedef struct calotype_avif_reader calotype_avif_reader;

/// Returns NULL if the library is loaded, otherwise the error; must be called first.
const char *calotype_avif_missing(void);
calotype_avif_reader *calotype_avif_reader_create(bool reads_metadata, uint32_t maximum_side,
                                                  uint32_t maximum_pixels,
                                                  uint32_t maximum_frames);
void calotype_avif_reader_destroy(calotype_avif_reader *reader);
const char *calotype_avif_reader_message(const calotype_avif_reader *reader);

calotype_avif_status calotype_avif_reader_parse(calotype_avif_reader *reader,
                                                const uint8_t *bytes, size_t count);
void calotype_avif_reader_info(const calotype_avif_reader *reader, calotype_avif_info *info);
calotype_avif_status calotype_avif_reader_next(calotype_avif_reader *reader,
                                               const uint8_t *bytes, size_t count,
                                               calotype_avif_frame *frame);

typedef struct {
    uint32_t width, height;
    /// 1 for grey, 3 for RGB, 4 for RGBA with straight alpha, 0 for full-range YCbCr planes as in
    /// JFIF.
    int channels;
    /// 8, or 10 or 12 from 16-bit samples.
    int depth;
    int subsampling;
    int quantizer;
    bool is_lossless;
    int speed;
    int primaries, transfer;
    /// The ICC profile, the EXIF block and the XMP packet, one after the other.
    const uint8_t *blocks;
    size_t icc_count, exif_count, xmp_count;
} calotype_avif_settings;

typedef struct calotype_avif_writer calotype_avif_writer;

calotype_avif_writer *calotype_avif_writer_create(const calotype_avif_settings *settings);
void calotype_avif_writer_destroy(calotype_avif_writer *writer);
const char *calotype_avif_writer_message(const calotype_avif_writer *writer);

/// Sets row `y` of a plane, or of all interleaved channels as plane 0.
void calotype_avif_writer_set_row(calotype_avif_writer *writer, int plane, uint32_t y,
                                  const uint8_t *row, size_t count);
/// Encodes the rows as a frame of the given duration; 0 for a still image.
calotype_avif_status calotype_avif_writer_add(calotype_avif_writer *writer,
                                              uint64_t milliseconds);
/// Returns the file, whose bytes belong to the writer.
calotype_avif_status calotype_avif_writer_finish(calotype_avif_writer *writer,
                                                 const uint8_t **bytes, size_t *count);

#endif

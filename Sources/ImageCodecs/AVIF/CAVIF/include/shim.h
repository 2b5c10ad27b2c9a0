// SPDX-License-Identifier: Apache-2.0
//
// libavif over bytes that are only there during a call, with one thread and no strict checks.

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

/// What the file says before any picture is decoded.
typedef struct {
    uint32_t width, height, depth;
    /// 0 is none, else the samples of difference for 4 of luma, as 444, 422, 420.
    int subsampling;
    bool has_alpha, is_premultiplied, is_full_range;
    int primaries, transfer, matrix;
    /// The part that is shown; all of it where the file says nothing that makes sense.
    uint32_t crop_x, crop_y, crop_width, crop_height;
    /// Quarters to be turned counter-clockwise, then -1, 0 for top to bottom, 1 for left to right.
    int rotation, mirror;
    int frame_count;
    const uint8_t *icc, *exif, *xmp;
    size_t icc_count, exif_count, xmp_count;
} calotype_avif_info;

/// A decoded picture; the planes stay until the next call.
typedef struct {
    calotype_avif_info info;
    const uint8_t *planes[4];
    uint32_t row_bytes[4];
    double duration;
} calotype_avif_frame;

typedef struct calotype_avif_reader calotype_avif_reader;

/// What is missing of the library, or NULL; must be asked before anything else is called.
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
    /// 1 for grey, 3 for RGB, 4 for RGBA that is not premultiplied, 0 for planes as JFIF has them.
    int channels;
    /// 8, or 10 or 12 from samples of 16 bits.
    int depth;
    int subsampling;
    int quantizer;
    bool is_lossless;
    int speed;
    int primaries, transfer;
    const uint8_t *icc, *exif, *xmp;
    size_t icc_count, exif_count, xmp_count;
} calotype_avif_settings;

typedef struct calotype_avif_writer calotype_avif_writer;

calotype_avif_writer *calotype_avif_writer_create(const calotype_avif_settings *settings);
void calotype_avif_writer_destroy(calotype_avif_writer *writer);
const char *calotype_avif_writer_message(const calotype_avif_writer *writer);

/// Takes row `y` of a plane, or of all channels side by side as plane 0.
void calotype_avif_writer_set_row(calotype_avif_writer *writer, int plane, uint32_t y,
                                  const uint8_t *row, size_t count);
/// Encodes the rows as a frame of so many milliseconds; 0 for a picture of its own.
calotype_avif_status calotype_avif_writer_add(calotype_avif_writer *writer,
                                              uint64_t milliseconds);
/// The bytes belong to the writer.
calotype_avif_status calotype_avif_writer_finish(calotype_avif_writer *writer,
                                                 const uint8_t **bytes, size_t *count);

#endif

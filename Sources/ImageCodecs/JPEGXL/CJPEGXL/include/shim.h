// SPDX-License-Identifier: Apache-2.0
//
// libjxl's streams as plain calls, on one thread.

#ifndef CALOTYPE_CJPEGXL_H
#define CALOTYPE_CJPEGXL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    calotype_jxl_ok,
    calotype_jxl_no_more,
    calotype_jxl_truncated,
    calotype_jxl_malformed,
    calotype_jxl_unsupported,
    calotype_jxl_failed,
} calotype_jxl_status;

typedef struct {
    uint32_t width, height, bits;
    /// Without black and alpha.
    uint32_t color_channels;
    bool is_float, has_alpha, is_premultiplied, has_black, is_animated, is_xyb;
    uint32_t orientation;
    double seconds_per_tick;
    uint32_t loop_count;
    /// The code points of the decoded pixels; 0 if an ICC profile of `icc_count` bytes applies.
    int primaries, transfer;
    size_t icc_count;
} calotype_jxl_info;

typedef struct calotype_jxl_reader calotype_jxl_reader;

/// Returns NULL if the library is loaded for decoding, otherwise the error; must be called first.
const char *calotype_jxl_reader_missing(void);
/// The same for encoding.
const char *calotype_jxl_writer_missing(void);
calotype_jxl_reader *calotype_jxl_reader_create(void);
void calotype_jxl_reader_destroy(calotype_jxl_reader *reader);

/// Reads up to the first frame. All calls take the same file.
calotype_jxl_status calotype_jxl_reader_parse(calotype_jxl_reader *reader, const uint8_t *bytes,
                                              size_t count);
void calotype_jxl_reader_info(const calotype_jxl_reader *reader, calotype_jxl_info *info);
const uint8_t *calotype_jxl_reader_icc(const calotype_jxl_reader *reader);
/// Renders the available part of the frame; returns false if no pixels are available.
bool calotype_jxl_reader_flush(calotype_jxl_reader *reader);
/// Decodes the next frame, blended, as samples of 8 or 16 bits.
calotype_jxl_status calotype_jxl_reader_next(calotype_jxl_reader *reader, const uint8_t *bytes,
                                             size_t count, int channels, bool is_wide);
const uint8_t *calotype_jxl_reader_pixels(const calotype_jxl_reader *reader);
uint32_t calotype_jxl_reader_ticks(const calotype_jxl_reader *reader);

/// Counts the frames up to a limit.
calotype_jxl_status calotype_jxl_count_frames(const uint8_t *bytes, size_t count, int limit,
                                              int *frames);
/// Copies a box of a type, decompressed, of at most `limit` bytes. `*box` is NULL if it is missing,
/// and is freed by the caller.
calotype_jxl_status calotype_jxl_copy_box(const uint8_t *bytes, size_t count, const char *type,
                                          size_t limit, uint8_t **box, size_t *box_count);

typedef struct {
    uint32_t width, height;
    int channels;
    bool is_wide, is_lossless, is_animated;
    uint32_t loop_count;
    float distance;
    int effort;
    int primaries, transfer;
    /// The ICC profile, the EXIF block and the XMP packet, one after the other.
    const uint8_t *blocks;
    size_t icc_count, exif_count, xmp_count;
} calotype_jxl_settings;

typedef struct calotype_jxl_writer calotype_jxl_writer;

calotype_jxl_writer *calotype_jxl_writer_create(const calotype_jxl_settings *settings);
/// Creates an encoder with a JPEG file instead of frames.
calotype_jxl_writer *calotype_jxl_writer_create_from_jpeg(const uint8_t *bytes, size_t count,
                                                          int effort);
void calotype_jxl_writer_destroy(calotype_jxl_writer *writer);
/// Adds a frame without padding between rows, with straight alpha.
calotype_jxl_status calotype_jxl_writer_add(calotype_jxl_writer *writer, const uint8_t *pixels,
                                            size_t count, uint32_t milliseconds, bool is_last);
/// Returns the file, whose bytes belong to the writer.
calotype_jxl_status calotype_jxl_writer_finish(calotype_jxl_writer *writer,
                                               const uint8_t **bytes, size_t *count);

/// Reconstructs the JPEG file from which a file was transcoded; freed by the caller.
calotype_jxl_status calotype_jxl_copy_jpeg(const uint8_t *bytes, size_t count, size_t limit,
                                           uint8_t **jpeg, size_t *jpeg_count);

#endif

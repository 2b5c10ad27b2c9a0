// SPDX-License-Identifier: Apache-2.0
//
// libjpeg reports errors by longjmp, which must never cross a Swift frame: each call that can fail
// is wrapped here and returns a status.

#ifndef CALOTYPE_CJPEG_H
#define CALOTYPE_CJPEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    calotype_jpeg_ok = 0,
    calotype_jpeg_malformed,
    calotype_jpeg_truncated,
    calotype_jpeg_unsupported,
    calotype_jpeg_too_many_scans,
    calotype_jpeg_stopped,
    calotype_jpeg_out_of_memory,
    /// More bytes are needed; repeat the call when they have arrived.
    calotype_jpeg_suspended,
} calotype_jpeg_status;

typedef struct calotype_jpeg_reader calotype_jpeg_reader;

/// Returns NULL if out of memory. `bytes` must outlive the reader.
calotype_jpeg_reader *calotype_jpeg_reader_create(const uint8_t *bytes, size_t count);
void calotype_jpeg_reader_destroy(calotype_jpeg_reader *reader);

/// Reads from `bytes`, which begin with the bytes of the last call, until the next call. Missing
/// bytes are still to arrive.
void calotype_jpeg_reader_supply(calotype_jpeg_reader *reader, const uint8_t *bytes, size_t count);
/// Returns whether the image has several scans.
bool calotype_jpeg_reader_has_passes(const calotype_jpeg_reader *reader);
/// Decodes all scans that are complete; call it after a start in passes.
calotype_jpeg_status calotype_jpeg_reader_consume(calotype_jpeg_reader *reader, int *scans);
/// Starts a pass over the rows in the state after a decoded scan, counted from 1.
calotype_jpeg_status calotype_jpeg_reader_begin_pass(calotype_jpeg_reader *reader, int scan);
calotype_jpeg_status calotype_jpeg_reader_end_pass(calotype_jpeg_reader *reader);

/// Fills missing data at the end of the file with grey from now on.
void calotype_jpeg_reader_accept_truncated(calotype_jpeg_reader *reader);
/// Returns whether data was missing.
bool calotype_jpeg_reader_is_truncated(const calotype_jpeg_reader *reader);

/// Limits the number of scans, and calls `is_stopped` between rows of MCUs.
void calotype_jpeg_reader_watch(calotype_jpeg_reader *reader, int maximum_scan_count,
                                bool (*is_stopped)(const void *), const void *context);

calotype_jpeg_status calotype_jpeg_reader_read_header(calotype_jpeg_reader *reader);
/// Returns the bytes of coefficients that a file with several scans keeps in memory; 0 for one
/// scan.
size_t calotype_jpeg_reader_coefficient_bytes(calotype_jpeg_reader *reader);
/// Starts decoding at 1/`shrink` of the size, in passes or at once.
calotype_jpeg_status calotype_jpeg_reader_start(calotype_jpeg_reader *reader, int shrink,
                                                bool in_passes);
int calotype_jpeg_reader_width(const calotype_jpeg_reader *reader);
int calotype_jpeg_reader_height(const calotype_jpeg_reader *reader);
/// Returns 1 for grey, 3 for RGB, 4 for CMYK.
int calotype_jpeg_reader_channels(const calotype_jpeg_reader *reader);
/// Returns whether CMYK is stored inverted, as Adobe programs do.
bool calotype_jpeg_reader_is_inverted(const calotype_jpeg_reader *reader);
calotype_jpeg_status calotype_jpeg_reader_read_row(calotype_jpeg_reader *reader, uint8_t *row);
calotype_jpeg_status calotype_jpeg_reader_finish(calotype_jpeg_reader *reader);
/// Returns the number of bytes of the file that have been read.
size_t calotype_jpeg_reader_offset(const calotype_jpeg_reader *reader);
/// Returns the message of the last failed call; valid until the next call.
const char *calotype_jpeg_reader_message(calotype_jpeg_reader *reader);

typedef struct {
    int width, height;
    /// 1 grey, 3 RGB.
    int channels;
    int quality;
    bool progressive;
    /// Luma samples for each chroma sample: 1 or 2.
    int horizontal_subsampling, vertical_subsampling;
    /// Whether planes of Y, Cb and Cr, the latter at half resolution, are written instead of rows.
    bool is_planar;
    /// Whether the JFIF segment is omitted.
    bool omits_jfif;
} calotype_jpeg_settings;

typedef struct calotype_jpeg_writer calotype_jpeg_writer;

calotype_jpeg_writer *calotype_jpeg_writer_create(void);
void calotype_jpeg_writer_destroy(calotype_jpeg_writer *writer);
calotype_jpeg_status calotype_jpeg_writer_start(calotype_jpeg_writer *writer,
                                                const calotype_jpeg_settings *settings);
/// Writes a marker segment with a body of at most 65533 bytes; before the first row.
calotype_jpeg_status calotype_jpeg_writer_write_segment(calotype_jpeg_writer *writer, int marker,
                                                        const uint8_t *bytes, size_t count);
/// Writes an ICC profile, in several segments if necessary; before the first row.
calotype_jpeg_status calotype_jpeg_writer_write_profile(calotype_jpeg_writer *writer,
                                                        const uint8_t *icc, size_t count);
calotype_jpeg_status calotype_jpeg_writer_write_row(calotype_jpeg_writer *writer,
                                                    const uint8_t *row);
/// Writes a row of MCUs: 16 rows of Y, 8 rows each of Cb and Cr, in complete blocks of 8 columns.
calotype_jpeg_status calotype_jpeg_writer_write_planes(calotype_jpeg_writer *writer,
                                                       const uint8_t *y, size_t y_stride,
                                                       const uint8_t *cb, const uint8_t *cr,
                                                       size_t chroma_stride);
/// Returns the complete file, which the writer owns.
calotype_jpeg_status calotype_jpeg_writer_finish(calotype_jpeg_writer *writer,
                                                 const uint8_t **bytes, size_t *count);
const char *calotype_jpeg_writer_message(calotype_jpeg_writer *writer);

#endif

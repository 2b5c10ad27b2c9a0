// SPDX-License-Identifier: Apache-2.0
//
// libjpeg reports errors by longjmp, which must never cross a Swift frame: each call that can fail
// is made here and answers a status.

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
    /// More bytes are needed; the call is made again when they are there.
    calotype_jpeg_suspended,
} calotype_jpeg_status;

typedef struct calotype_jpeg_reader calotype_jpeg_reader;

/// NULL when there is no memory. `bytes` must outlive the reader.
calotype_jpeg_reader *calotype_jpeg_reader_create(const uint8_t *bytes, size_t count);
void calotype_jpeg_reader_destroy(calotype_jpeg_reader *reader);

/// Reads from these bytes from now on, which begin with those of the last time, until the next call;
/// what is not there yet is still to come.
void calotype_jpeg_reader_supply(calotype_jpeg_reader *reader, const uint8_t *bytes, size_t count);
/// Whether the coefficients come in several scans.
bool calotype_jpeg_reader_has_passes(const calotype_jpeg_reader *reader);
/// Reads as many scans as there are bytes of; after a start with passes.
calotype_jpeg_status calotype_jpeg_reader_consume(calotype_jpeg_reader *reader, int *scans);
/// Begins to give out the rows as they are after a scan, from 1, that has been read.
calotype_jpeg_status calotype_jpeg_reader_begin_pass(calotype_jpeg_reader *reader, int scan);
calotype_jpeg_status calotype_jpeg_reader_end_pass(calotype_jpeg_reader *reader);

/// From here on, what is missing at the end of the file is grey.
void calotype_jpeg_reader_accept_truncated(calotype_jpeg_reader *reader);
/// Whether something was missing.
bool calotype_jpeg_reader_is_truncated(const calotype_jpeg_reader *reader);

/// Limits the scans of a progressive file, and asks `is_stopped` between rows of blocks.
void calotype_jpeg_reader_watch(calotype_jpeg_reader *reader, int maximum_scan_count,
                                bool (*is_stopped)(const void *), const void *context);

calotype_jpeg_status calotype_jpeg_reader_read_header(calotype_jpeg_reader *reader);
/// The bytes of the coefficients, which a file of several scans keeps in memory; 0 for one scan.
size_t calotype_jpeg_reader_coefficient_bytes(calotype_jpeg_reader *reader);
/// Starts decoding at 1/`shrink` of the size, pass by pass or all at once.
calotype_jpeg_status calotype_jpeg_reader_start(calotype_jpeg_reader *reader, int shrink,
                                                bool in_passes);
int calotype_jpeg_reader_width(const calotype_jpeg_reader *reader);
int calotype_jpeg_reader_height(const calotype_jpeg_reader *reader);
/// 1 grey, 3 RGB, 4 CMYK.
int calotype_jpeg_reader_channels(const calotype_jpeg_reader *reader);
/// Whether CMYK is stored inverted, as Adobe's programs write it.
bool calotype_jpeg_reader_is_inverted(const calotype_jpeg_reader *reader);
calotype_jpeg_status calotype_jpeg_reader_read_row(calotype_jpeg_reader *reader, uint8_t *row);
calotype_jpeg_status calotype_jpeg_reader_finish(calotype_jpeg_reader *reader);
/// How many bytes of the file have been read.
size_t calotype_jpeg_reader_offset(const calotype_jpeg_reader *reader);
/// What the last failed call says of itself; valid until the next call.
const char *calotype_jpeg_reader_message(calotype_jpeg_reader *reader);

typedef struct {
    int width, height;
    /// 1 grey, 3 RGB.
    int channels;
    int quality;
    bool progressive;
    /// Luma samples for each chroma sample, 1 or 2 each.
    int horizontal_subsampling, vertical_subsampling;
    /// Whether planes of Y, Cb and Cr are written, the latter of half the size, in place of rows.
    bool is_planar;
    /// Whether the file begins without the segment by which JFIF is known.
    bool omits_jfif;
} calotype_jpeg_settings;

typedef struct calotype_jpeg_writer calotype_jpeg_writer;

calotype_jpeg_writer *calotype_jpeg_writer_create(void);
void calotype_jpeg_writer_destroy(calotype_jpeg_writer *writer);
calotype_jpeg_status calotype_jpeg_writer_start(calotype_jpeg_writer *writer,
                                                const calotype_jpeg_settings *settings);
/// Writes a segment of at most 65533 bytes behind its length; before the first row.
calotype_jpeg_status calotype_jpeg_writer_write_segment(calotype_jpeg_writer *writer, int marker,
                                                        const uint8_t *bytes, size_t count);
/// Writes a colour profile, over several segments if need be; before the first row.
calotype_jpeg_status calotype_jpeg_writer_write_profile(calotype_jpeg_writer *writer,
                                                        const uint8_t *icc, size_t count);
calotype_jpeg_status calotype_jpeg_writer_write_row(calotype_jpeg_writer *writer,
                                                    const uint8_t *row);
/// Writes 16 rows of Y and 8 each of Cb and Cr, whole blocks of 8 columns.
calotype_jpeg_status calotype_jpeg_writer_write_planes(calotype_jpeg_writer *writer,
                                                       const uint8_t *y, size_t y_stride,
                                                       const uint8_t *cb, const uint8_t *cr,
                                                       size_t chroma_stride);
/// The finished file, owned by the writer.
calotype_jpeg_status calotype_jpeg_writer_finish(calotype_jpeg_writer *writer,
                                                 const uint8_t **bytes, size_t *count);
const char *calotype_jpeg_writer_message(calotype_jpeg_writer *writer);

#endif

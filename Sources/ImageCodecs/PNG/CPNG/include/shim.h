// SPDX-License-Identifier: Apache-2.0
//
// libpng reports errors by longjmp, which must never cross a Swift frame: each call that can fail
// is made here and answers a status.

#ifndef CALOTYPE_CPNG_H
#define CALOTYPE_CPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    calotype_png_ok = 0,
    calotype_png_malformed,
    calotype_png_truncated,
    calotype_png_out_of_memory,
} calotype_png_status;

typedef struct {
    uint32_t width, height;
    int bit_depth;
    /// As in the file: 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGB and alpha.
    int color_type;
    bool has_transparency, is_interlaced;
    /// Which of these stand in the file; of several the one that counts is set alone.
    bool has_srgb, has_gamma, has_primaries;
    /// The exponent of encoding, such as 0.45455.
    double gamma;
    /// x and y of white, red, green and blue.
    double primaries[8];
    /// Owned by the reader; NULL when there is none.
    const uint8_t *icc;
    size_t icc_count;
    const uint8_t *exif;
    size_t exif_count;
} calotype_png_header;

typedef struct calotype_png_reader calotype_png_reader;

/// NULL when there is no memory. `bytes` must outlive the reader. No piece of metadata may take
/// more than `maximum_metadata_count` bytes.
calotype_png_reader *calotype_png_reader_create(const uint8_t *bytes, size_t count,
                                                size_t maximum_metadata_count);
void calotype_png_reader_destroy(calotype_png_reader *reader);
calotype_png_status calotype_png_reader_read_header(calotype_png_reader *reader,
                                                    calotype_png_header *header);
/// Prepares rows of 8-bit samples: grey, RGB or RGBA, alpha not premultiplied.
calotype_png_status calotype_png_reader_start(calotype_png_reader *reader, int *channels);
bool calotype_png_reader_is_interlaced(const calotype_png_reader *reader);
calotype_png_status calotype_png_reader_read_row(calotype_png_reader *reader, uint8_t *row);
/// Reads a whole interlaced picture; its rows stand `stride` bytes apart.
calotype_png_status calotype_png_reader_read_image(calotype_png_reader *reader, uint8_t *pixels,
                                                   size_t stride);
calotype_png_status calotype_png_reader_finish(calotype_png_reader *reader);
size_t calotype_png_reader_offset(const calotype_png_reader *reader);
const char *calotype_png_reader_message(const calotype_png_reader *reader);

typedef struct {
    uint32_t width, height;
    /// 1 grey, 3 RGB, 4 RGBA, alpha not premultiplied.
    int channels;
    int compression_level;
    const uint8_t *icc;
    size_t icc_count;
} calotype_png_settings;

typedef struct calotype_png_writer calotype_png_writer;

calotype_png_writer *calotype_png_writer_create(void);
void calotype_png_writer_destroy(calotype_png_writer *writer);
calotype_png_status calotype_png_writer_start(calotype_png_writer *writer,
                                              const calotype_png_settings *settings);
calotype_png_status calotype_png_writer_write_row(calotype_png_writer *writer,
                                                  const uint8_t *row);
/// The finished file, owned by the writer.
calotype_png_status calotype_png_writer_finish(calotype_png_writer *writer,
                                               const uint8_t **bytes, size_t *count);
const char *calotype_png_writer_message(const calotype_png_writer *writer);

#endif

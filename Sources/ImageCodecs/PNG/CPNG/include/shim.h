// SPDX-License-Identifier: Apache-2.0
//
// Inflating for the Swift decoder, and encoding with libpng, which reports errors by longjmp. A
// longjmp must never cross a Swift frame: each call that can fail is made here and returns a
// status.

#ifndef CALOTYPE_CPNG_H
#define CALOTYPE_CPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    calotype_png_ok = 0,
    calotype_png_malformed,
    calotype_png_out_of_memory,
} calotype_png_status;

/// A zlib stream being inflated: by ISA-L if built in, otherwise by zlib.
typedef struct calotype_inflate calotype_inflate;

typedef enum {
    /// The input is consumed, or the output is full.
    calotype_inflate_ok = 0,
    /// The end of the stream; its Adler-32 matches if it is verified.
    calotype_inflate_ended,
    calotype_inflate_malformed,
} calotype_inflate_status;

/// Returns NULL if memory is exhausted.
calotype_inflate *calotype_inflate_create(bool verifies_checksum);
void calotype_inflate_destroy(calotype_inflate *stream);
/// Reads from `from` and writes to `to`; `taken` and `made` receive the numbers of bytes.
calotype_inflate_status calotype_inflate_run(calotype_inflate *stream, const uint8_t *from,
                                             size_t from_count, size_t *taken, uint8_t *to,
                                             size_t to_count, size_t *made);
/// Returns the CRC of bytes that follow others whose CRC is `before` (0 at the start).
uint32_t calotype_png_checksum(uint32_t before, const uint8_t *bytes, size_t count);

typedef struct {
    uint32_t width, height;
    /// 1 grey, 3 RGB, 4 RGBA with straight alpha.
    int channels;
    /// Bits per sample, 8 or 16; 16-bit samples are big-endian.
    int bit_depth;
    int compression_level;
} calotype_png_settings;

typedef struct calotype_png_writer calotype_png_writer;

/// Returns NULL if the library is loaded, which a writer requires, otherwise the error.
const char *calotype_png_writer_missing(void);

calotype_png_writer *calotype_png_writer_create(void);
void calotype_png_writer_destroy(calotype_png_writer *writer);
calotype_png_status calotype_png_writer_start(calotype_png_writer *writer,
                                              const calotype_png_settings *settings);
/// The chunks before the pixels are set after the start and before the header.
calotype_png_status calotype_png_writer_set_profile(calotype_png_writer *writer,
                                                    const uint8_t *icc, size_t count);
calotype_png_status calotype_png_writer_set_exif(calotype_png_writer *writer,
                                                 const uint8_t *block, size_t count);
/// Latin-1 text if compressed, otherwise UTF-8; zero-terminated.
calotype_png_status calotype_png_writer_set_text(calotype_png_writer *writer, const char *keyword,
                                                 const uint8_t *text, bool is_compressed);
/// Writes a chunk that must precede `PLTE`, after all others have been set.
calotype_png_status calotype_png_writer_write_chunk(calotype_png_writer *writer, const char *type,
                                                    const uint8_t *body, size_t count);
calotype_png_status calotype_png_writer_write_header(calotype_png_writer *writer);
calotype_png_status calotype_png_writer_write_row(calotype_png_writer *writer,
                                                  const uint8_t *row);
/// Returns the finished file, owned by the writer.
calotype_png_status calotype_png_writer_finish(calotype_png_writer *writer,
                                               const uint8_t **bytes, size_t *count);
const char *calotype_png_writer_message(const calotype_png_writer *writer);

#endif

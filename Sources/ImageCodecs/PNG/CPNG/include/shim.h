// SPDX-License-Identifier: Apache-2.0
//
// Inflating for our own decoder; writing by libpng, which reports errors by longjmp. That must never
// cross a Swift frame: each call that can fail is made here and answers a status.

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

/// A zlib stream being inflated: by ISA-L where it was built in, otherwise by zlib.
typedef struct calotype_inflate calotype_inflate;

typedef enum {
    /// The input is used up, or the output is full.
    calotype_inflate_ok = 0,
    /// The stream is over and, if it is verified, its checksum right.
    calotype_inflate_ended,
    calotype_inflate_malformed,
} calotype_inflate_status;

/// NULL when there is no memory.
calotype_inflate *calotype_inflate_create(bool verifies_checksum);
void calotype_inflate_destroy(calotype_inflate *stream);
/// Takes from `from` and adds to `to`; says in `taken` and `made` how many bytes.
calotype_inflate_status calotype_inflate_run(calotype_inflate *stream, const uint8_t *from,
                                             size_t from_count, size_t *taken, uint8_t *to,
                                             size_t to_count, size_t *made);
/// The checksum of bytes that follow those whose checksum is `before`, 0 if there are none.
uint32_t calotype_png_checksum(uint32_t before, const uint8_t *bytes, size_t count);

typedef struct {
    uint32_t width, height;
    /// 1 grey, 3 RGB, 4 RGBA, alpha not premultiplied.
    int channels;
    /// Bits a sample, 8 or 16; 16 with the higher byte first.
    int bit_depth;
    int compression_level;
} calotype_png_settings;

typedef struct calotype_png_writer calotype_png_writer;

/// NULL if the library is there, which it must be before a writer is created, or what is missing.
const char *calotype_png_writer_missing(void);

calotype_png_writer *calotype_png_writer_create(void);
void calotype_png_writer_destroy(calotype_png_writer *writer);
calotype_png_status calotype_png_writer_start(calotype_png_writer *writer,
                                              const calotype_png_settings *settings);
/// What stands before the pixels is set between the start and the header.
calotype_png_status calotype_png_writer_set_profile(calotype_png_writer *writer,
                                                    const uint8_t *icc, size_t count);
calotype_png_status calotype_png_writer_set_exif(calotype_png_writer *writer,
                                                 const uint8_t *block, size_t count);
/// Text in Latin-1 if it is compressed, otherwise in UTF-8; it ends with a zero.
calotype_png_status calotype_png_writer_set_text(calotype_png_writer *writer, const char *keyword,
                                                 const uint8_t *text, bool is_compressed);
calotype_png_status calotype_png_writer_write_header(calotype_png_writer *writer);
calotype_png_status calotype_png_writer_write_row(calotype_png_writer *writer,
                                                  const uint8_t *row);
/// The finished file, owned by the writer.
calotype_png_status calotype_png_writer_finish(calotype_png_writer *writer,
                                               const uint8_t **bytes, size_t *count);
const char *calotype_png_writer_message(const calotype_png_writer *writer);

#endif

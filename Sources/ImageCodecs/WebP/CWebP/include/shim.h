// SPDX-License-Identifier: Apache-2.0
//
// libwebp's decoder, encoder and animation encoder, without their structures. What a file holds
// besides pixels is read and written in Swift.

#ifndef CALOTYPE_CWEBP_H
#define CALOTYPE_CWEBP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What is missing of the library, or NULL; must be asked before anything else is called.
const char *calotype_webp_missing(void);

typedef enum {
    calotype_webp_ok = 0,
    /// More bytes are needed.
    calotype_webp_suspended,
    calotype_webp_malformed,
    calotype_webp_unsupported,
    calotype_webp_out_of_memory,
} calotype_webp_status;

typedef enum {
    calotype_webp_rgb = 0,
    /// Not premultiplied.
    calotype_webp_rgba,
    /// Planes of ITU-R BT.601, 16 to 235 and 16 to 240, those of colour of half the size.
    calotype_webp_yuv,
} calotype_webp_layout;

typedef struct calotype_webp_reader calotype_webp_reader;

/// A decoder for the chunks ALPH, VP8 and VP8L without a file around them; NULL without memory.
/// Without smoothing, the borders of blocks stay as sharp as they were coded.
calotype_webp_reader *calotype_webp_reader_create(calotype_webp_layout layout, bool smooths_blocks);
void calotype_webp_reader_destroy(calotype_webp_reader *reader);
/// Decodes as far as the first `count` bytes go; they are not copied.
calotype_webp_status calotype_webp_reader_update(calotype_webp_reader *reader,
                                                 const uint8_t *bytes, size_t count);
/// How many rows from the top are there.
int calotype_webp_reader_row_count(const calotype_webp_reader *reader);
int calotype_webp_reader_width(const calotype_webp_reader *reader);
int calotype_webp_reader_height(const calotype_webp_reader *reader);
/// One of the rows that are there, of a plane from 0; NULL if there is none.
const uint8_t *calotype_webp_reader_row(const calotype_webp_reader *reader, int plane, int y);

typedef struct {
    int width, height;
    /// 3 RGB, 4 RGBA that is not premultiplied.
    int channels;
    bool is_lossless;
    /// 1 to 100.
    int quality;
    /// 0 to 9.
    int effort;
    /// Whether colours are brought to half the resolution with care.
    bool is_sharp;
} calotype_webp_settings;

/// Bytes that the library has allocated.
typedef struct {
    const uint8_t *bytes;
    size_t count;
} calotype_webp_file;

void calotype_webp_file_free(calotype_webp_file *file);

/// Writes a file of one picture; answers NULL or what went wrong.
const char *calotype_webp_encode(const calotype_webp_settings *settings, const uint8_t *pixels,
                                 size_t bytes_per_row, calotype_webp_file *file);

typedef struct calotype_webp_animation calotype_webp_animation;

/// NULL without memory.
calotype_webp_animation *calotype_webp_animation_create(const calotype_webp_settings *settings,
                                                        int loop_count);
void calotype_webp_animation_destroy(calotype_webp_animation *animation);
/// Takes a frame that begins at a time; answers NULL or what went wrong.
const char *calotype_webp_animation_add(calotype_webp_animation *animation, const uint8_t *pixels,
                                        size_t bytes_per_row, int milliseconds);
/// Writes the file of an animation that ends at a time; answers NULL or what went wrong.
const char *calotype_webp_animation_finish(calotype_webp_animation *animation, int milliseconds,
                                           calotype_webp_file *file);

#endif

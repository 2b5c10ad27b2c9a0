// SPDX-License-Identifier: Apache-2.0
//
// libwebp's decoder, encoder and animation encoder, without their structures. Everything in a file
// besides bitstreams is parsed and written in Swift.

#ifndef CALOTYPE_CWEBP_H
#define CALOTYPE_CWEBP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Returns NULL if the library is loaded, otherwise the error; must be called first.
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
    /// Straight alpha.
    calotype_webp_rgba,
    /// Planes of ITU-R BT.601 in limited range; chroma has half the size.
    calotype_webp_yuv,
} calotype_webp_layout;

typedef struct calotype_webp_reader calotype_webp_reader;

/// Creates a decoder of the chunks ALPH, VP8 and VP8L without a container, or returns NULL if
/// memory is exhausted. Without smoothing, the deblocking filter is off.
calotype_webp_reader *calotype_webp_reader_create(calotype_webp_layout layout, bool smooths_blocks);
void calotype_webp_reader_destroy(calotype_webp_reader *reader);
/// Decodes the first `count` bytes as far as possible; they are not copied.
calotype_webp_status calotype_webp_reader_update(calotype_webp_reader *reader,
                                                 const uint8_t *bytes, size_t count);
/// Returns the number of decoded rows.
int calotype_webp_reader_row_count(const calotype_webp_reader *reader);
int calotype_webp_reader_width(const calotype_webp_reader *reader);
int calotype_webp_reader_height(const calotype_webp_reader *reader);
/// Returns a decoded row of a plane, counted from 0, or NULL if it is not decoded.
const uint8_t *calotype_webp_reader_row(const calotype_webp_reader *reader, int plane, int y);

typedef struct {
    int width, height;
    /// 3 RGB, 4 RGBA with straight alpha.
    int channels;
    bool is_lossless;
    /// 1 to 100.
    int quality;
    /// 0 to 9.
    int effort;
    /// Whether chroma is subsampled by libwebp's sharp YUV conversion.
    bool is_sharp;
} calotype_webp_settings;

/// Bytes allocated by the library.
typedef struct {
    const uint8_t *bytes;
    size_t count;
} calotype_webp_file;

void calotype_webp_file_free(calotype_webp_file *file);

/// Encodes an image; returns NULL or an error message.
const char *calotype_webp_encode(const calotype_webp_settings *settings, const uint8_t *pixels,
                                 size_t bytes_per_row, calotype_webp_file *file);

typedef struct calotype_webp_animation calotype_webp_animation;

/// Returns NULL if memory is exhausted.
calotype_webp_animation *calotype_webp_animation_create(const calotype_webp_settings *settings,
                                                        int loop_count);
void calotype_webp_animation_destroy(calotype_webp_animation *animation);
/// Adds a frame with its start time; returns NULL or an error message.
const char *calotype_webp_animation_add(calotype_webp_animation *animation, const uint8_t *pixels,
                                        size_t bytes_per_row, int milliseconds);
/// Encodes the animation with its end time; returns NULL or an error message.
const char *calotype_webp_animation_finish(calotype_webp_animation *animation, int milliseconds,
                                           calotype_webp_file *file);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// libheif without threads; its errors are reduced to a few kinds.

#ifndef CALOTYPE_CHEIF_H
#define CALOTYPE_CHEIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    calotype_heif_ok,
    calotype_heif_truncated,
    calotype_heif_malformed,
    calotype_heif_unsupported,
    calotype_heif_failed,
} calotype_heif_status;

typedef struct {
    uint32_t item;
    /// The size as shown, rotated and cropped.
    int width, height;
    int luma_bits;
    bool has_alpha, is_premultiplied;
    /// All 2 (unspecified) if the file contains none.
    int primaries, transfer;
    size_t icc_count;
    int thumbnail_width, thumbnail_height;
} calotype_heif_info;

typedef struct {
    int width, height;
    /// 0 for monochrome, otherwise 444, 422 or 420.
    int subsampling;
    int bits, alpha_bits;
    bool is_premultiplied, is_full_range;
    int primaries, matrix;
    /// Y, Cb, Cr, alpha, or Y and alpha; NULL for missing planes.
    const uint8_t *planes[4];
    int row_bytes[4], widths[4], heights[4];
    bool is_wide[4];
} calotype_heif_image;

typedef struct calotype_heif_reader calotype_heif_reader;

/// Returns NULL if the library is loaded, otherwise the error; must be called first.
const char *calotype_heif_missing(void);
calotype_heif_reader *calotype_heif_reader_create(void);
void calotype_heif_reader_destroy(calotype_heif_reader *reader);
const char *calotype_heif_reader_message(const calotype_heif_reader *reader);

/// Parses everything except the coded images; the bytes must outlive the reader.
calotype_heif_status calotype_heif_reader_parse(calotype_heif_reader *reader,
                                                const uint8_t *bytes, size_t count);
/// Returns the number of top-level images; the first is the primary one.
int calotype_heif_reader_count(calotype_heif_reader *reader);
calotype_heif_status calotype_heif_reader_select(calotype_heif_reader *reader, int index);
void calotype_heif_reader_info(const calotype_heif_reader *reader, calotype_heif_info *info);
bool calotype_heif_reader_copy_icc(const calotype_heif_reader *reader, uint8_t *bytes);
/// Returns the size of the block of a type, `Exif` or XMP's `mime`; 0 if it is missing.
size_t calotype_heif_reader_metadata_count(const calotype_heif_reader *reader, bool is_exif);
bool calotype_heif_reader_copy_metadata(const calotype_heif_reader *reader, bool is_exif,
                                        uint8_t *bytes);
/// Decodes the image or its thumbnail; the planes are valid as long as the reader.
calotype_heif_status calotype_heif_reader_decode(calotype_heif_reader *reader,
                                                 bool is_thumbnail, bool is_turned,
                                                 calotype_heif_image *picture);

#endif

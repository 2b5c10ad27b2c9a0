// SPDX-License-Identifier: Apache-2.0
//
// libtiff's functions of many kinds of arguments and its callbacks stay on this side. Directories
// are read and checked in Swift; libtiff is told where the one stands whose pixels are wanted.

#ifndef CALOTYPE_CTIFF_H
#define CALOTYPE_CTIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Whether libtiff was built with the compression of that number.
bool calotype_tiff_has_compression(uint16_t compression);

typedef struct calotype_tiff_reader calotype_tiff_reader;

/// NULL when there is no memory. `bytes` must outlive the reader; no single allocation of libtiff's
/// will be of more than `maximum_allocation` bytes.
/// What is missing of the library, or NULL; must be asked before anything else is called.
const char *calotype_tiff_missing(void);
calotype_tiff_reader *calotype_tiff_reader_create(const uint8_t *bytes, size_t count,
                                                  size_t maximum_allocation);
void calotype_tiff_reader_destroy(calotype_tiff_reader *reader);
/// Reads the directory at an offset; luma and colour differences in JPEG will come as RGB, LogLuv
/// as RGB and LogL as grey of 8 bits.
bool calotype_tiff_reader_open(calotype_tiff_reader *reader, uint64_t directory);
/// The bytes that the next functions deliver; 0 where there are none.
size_t calotype_tiff_reader_row_size(const calotype_tiff_reader *reader);
size_t calotype_tiff_reader_tile_size(const calotype_tiff_reader *reader);
/// Reads a row of a strip; rows come fastest in their order.
bool calotype_tiff_reader_read_row(calotype_tiff_reader *reader, uint8_t *samples, uint32_t row);
bool calotype_tiff_reader_read_strip(calotype_tiff_reader *reader, uint32_t strip,
                                     uint8_t *samples, size_t count);
bool calotype_tiff_reader_read_tile(calotype_tiff_reader *reader, uint32_t tile, uint8_t *samples,
                                    size_t count);
/// Reads a strip or a tile as 0xAABBGGRR, the lowest row first.
bool calotype_tiff_reader_read_colors(calotype_tiff_reader *reader, uint32_t x, uint32_t y,
                                      uint32_t *pixels);
/// What the last failed call says of itself.
const char *calotype_tiff_reader_message(const calotype_tiff_reader *reader);

typedef struct {
    uint32_t width, height;
    /// 1 grey, 3 RGB, 4 RGBA with straight alpha.
    uint16_t channels;
    /// 8 or 16.
    uint16_t depth;
    /// 0 for none, else zlib's.
    int compression_level;
    /// Quality of JPEG from 1 to 100, or 0 for Deflate.
    int jpeg_quality;
    /// Pixels for each colour of JPEG, 1 or 2 each.
    uint16_t chroma_width, chroma_height;
    /// The side of tiles, or 0 for strips.
    uint32_t tile_side;
    /// Whether this is a smaller version of the image before.
    bool is_reduced;
    const uint8_t *icc, *xmp;
    size_t icc_count, xmp_count;
} calotype_tiff_settings;

typedef struct calotype_tiff_writer calotype_tiff_writer;

calotype_tiff_writer *calotype_tiff_writer_create(bool is_big);
void calotype_tiff_writer_destroy(calotype_tiff_writer *writer);
/// Starts the next image of the file.
bool calotype_tiff_writer_start(calotype_tiff_writer *writer,
                                const calotype_tiff_settings *settings);
bool calotype_tiff_writer_write_row(calotype_tiff_writer *writer, const uint8_t *samples,
                                    uint32_t row);
bool calotype_tiff_writer_write_tile(calotype_tiff_writer *writer, const uint8_t *samples,
                                     size_t count, uint32_t tile);
bool calotype_tiff_writer_end_image(calotype_tiff_writer *writer);
/// The whole file; the bytes live as long as the writer.
const uint8_t *calotype_tiff_writer_finish(calotype_tiff_writer *writer, size_t *count);
const char *calotype_tiff_writer_message(const calotype_tiff_writer *writer);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// OpenJPEG speaks through callbacks: its streams and its messages stay on this side. Only
// codestreams pass here; the boxes around them are read and written in Swift.

#ifndef CALOTYPE_CJPEG2000_H
#define CALOTYPE_CJPEG2000_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What is missing of the library, or NULL; must be asked before anything else is called.
const char *calotype_j2k_missing(void);

typedef struct calotype_j2k_reader calotype_j2k_reader;

/// NULL when there is no memory. `bytes`, a codestream, must outlive the reader.
calotype_j2k_reader *calotype_j2k_reader_create(const uint8_t *bytes, size_t count);
void calotype_j2k_reader_destroy(calotype_j2k_reader *reader);
/// Reads the main header; pictures will have 1/2^`reduction` of the size.
bool calotype_j2k_reader_start(calotype_j2k_reader *reader, int reduction);
/// Decodes one tile, in place of the one before.
bool calotype_j2k_reader_decode_tile(calotype_j2k_reader *reader, uint32_t tile);
/// The samples of the tile that was decoded last, without padding; NULL if there are none.
const int32_t *calotype_j2k_reader_samples(const calotype_j2k_reader *reader, uint32_t component,
                                           uint32_t *width, uint32_t *height);
/// Why the last call failed, in English.
const char *calotype_j2k_reader_message(const calotype_j2k_reader *reader);

typedef struct {
    uint32_t width, height;
    uint32_t channels;
    uint32_t depth;
    int resolutions;
    bool is_lossless;
    /// The peak signal-to-noise ratio in dB that is aimed at; 0 for all that the format can do.
    float psnr;
} calotype_j2k_settings;

typedef struct calotype_j2k_writer calotype_j2k_writer;

/// NULL when there is no memory for the samples.
calotype_j2k_writer *calotype_j2k_writer_create(const calotype_j2k_settings *settings);
void calotype_j2k_writer_destroy(calotype_j2k_writer *writer);
/// Where the samples of a component are to be put, row by row without padding.
int32_t *calotype_j2k_writer_samples(calotype_j2k_writer *writer, uint32_t component);
/// Encodes what was put there; the bytes live as long as the writer.
bool calotype_j2k_writer_finish(calotype_j2k_writer *writer, const uint8_t **bytes, size_t *count);
const char *calotype_j2k_writer_message(const calotype_j2k_writer *writer);

#endif

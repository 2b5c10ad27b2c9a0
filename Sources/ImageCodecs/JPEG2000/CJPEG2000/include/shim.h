// SPDX-License-Identifier: Apache-2.0
//
// Wraps OpenJPEG's callbacks for streams and messages. It takes only codestreams; the boxes around
// them are parsed and written in Swift.

#ifndef CALOTYPE_CJPEG2000_H
#define CALOTYPE_CJPEG2000_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Returns NULL if the library is loaded, otherwise the error; must be called first.
const char *calotype_j2k_missing(void);

typedef struct calotype_j2k_reader calotype_j2k_reader;

/// Returns NULL if memory is exhausted. `bytes`, a codestream, must outlive the reader.
calotype_j2k_reader *calotype_j2k_reader_create(const uint8_t *bytes, size_t count);
void calotype_j2k_reader_destroy(calotype_j2k_reader *reader);
/// Reads the main header; the image is decoded at 1/2^`reduction` of its size.
bool calotype_j2k_reader_start(calotype_j2k_reader *reader, int reduction);
/// Decodes one tile, replacing the previous one.
bool calotype_j2k_reader_decode_tile(calotype_j2k_reader *reader, uint32_t tile);
/// Returns the samples of the last decoded tile, without padding; NULL if it has none.
const int32_t *calotype_j2k_reader_samples(const calotype_j2k_reader *reader, uint32_t component,
                                           uint32_t *width, uint32_t *height);
/// Returns the error message of the last call.
const char *calotype_j2k_reader_message(const calotype_j2k_reader *reader);

typedef struct {
    uint32_t width, height;
    uint32_t channels;
    uint32_t depth;
    int resolutions;
    bool is_lossless;
    /// The target peak signal-to-noise ratio in dB; 0 for no truncation.
    float psnr;
} calotype_j2k_settings;

typedef struct calotype_j2k_writer calotype_j2k_writer;

/// Returns NULL if memory is exhausted.
calotype_j2k_writer *calotype_j2k_writer_create(const calotype_j2k_settings *settings);
void calotype_j2k_writer_destroy(calotype_j2k_writer *writer);
/// Returns the buffer for the samples of a component, row by row without padding.
int32_t *calotype_j2k_writer_samples(calotype_j2k_writer *writer, uint32_t component);
/// Encodes the samples; the bytes are valid as long as the writer.
bool calotype_j2k_writer_finish(calotype_j2k_writer *writer, const uint8_t **bytes, size_t *count);
const char *calotype_j2k_writer_message(const calotype_j2k_writer *writer);

#endif

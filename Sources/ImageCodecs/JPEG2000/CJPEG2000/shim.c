// SPDX-License-Identifier: Apache-2.0

#include "shim.h"
#include "lazy_library.h"

#include <stdlib.h>
#include <string.h>

// Distributions install the header in a folder named after the version.
#if __has_include(<openjpeg.h>)
#include <openjpeg.h>
#elif __has_include(<openjpeg-2.6/openjpeg.h>)
#include <openjpeg-2.6/openjpeg.h>
#elif __has_include(<openjpeg-2.5/openjpeg.h>)
#include <openjpeg-2.5/openjpeg.h>
#else
#include <openjpeg-2.4/openjpeg.h>
#endif

#if OPJ_VERSION_MAJOR > 2 || OPJ_VERSION_MINOR >= 5
#define LATER_FUNCTIONS(F) F(opj_decoder_set_strict_mode)
#else
#define LATER_FUNCTIONS(F)
#endif
#define FUNCTIONS(F) \
    LATER_FUNCTIONS(F) F(opj_create_compress) F(opj_create_decompress) \
    F(opj_destroy_codec) F(opj_encode) F(opj_end_compress) F(opj_get_decoded_tile) \
    F(opj_image_create) F(opj_image_destroy) F(opj_read_header) \
    F(opj_set_default_decoder_parameters) F(opj_set_default_encoder_parameters) \
    F(opj_set_error_handler) F(opj_set_info_handler) F(opj_set_warning_handler) \
    F(opj_setup_decoder) F(opj_setup_encoder) F(opj_start_compress) F(opj_stream_create) \
    F(opj_stream_destroy) F(opj_stream_set_read_function) F(opj_stream_set_seek_function) \
    F(opj_stream_set_skip_function) F(opj_stream_set_user_data) \
    F(opj_stream_set_user_data_length) F(opj_stream_set_write_function)

CALOTYPE_LAZY_LIBRARY("libopenjp2.so.7", FUNCTIONS)

const char *calotype_j2k_missing(void) { return load_lazily(); }

typedef struct {
    char text[256];
} message;

static void keep_message(const char *text, void *context) {
    message *kept = context;
    // The first message describes the cause, later ones its consequences.
    if (kept->text[0]) return;
    strncpy(kept->text, text, sizeof kept->text - 1);
    size_t length = strlen(kept->text);
    while (length > 0 && (kept->text[length - 1] == '\n' || kept->text[length - 1] == '.'))
        kept->text[--length] = 0;
}

static void ignore_message(const char *text, void *context) {
    (void)text;
    (void)context;
}

static void set_messages(opj_codec_t *codec, message *kept) {
    lazy.opj_set_info_handler(codec, ignore_message, NULL);
    lazy.opj_set_warning_handler(codec, ignore_message, NULL);
    lazy.opj_set_error_handler(codec, keep_message, kept);
}

struct calotype_j2k_reader {
    const uint8_t *bytes;
    size_t count, position;
    opj_codec_t *codec;
    opj_stream_t *stream;
    opj_image_t *image;
    message error;
};

static OPJ_SIZE_T read_bytes(void *buffer, OPJ_SIZE_T count, void *context) {
    calotype_j2k_reader *reader = context;
    size_t rest = reader->count - reader->position;
    if (rest == 0) return (OPJ_SIZE_T)-1;
    if (count > rest) count = rest;
    memcpy(buffer, reader->bytes + reader->position, count);
    reader->position += count;
    return count;
}

static OPJ_OFF_T skip_bytes(OPJ_OFF_T count, void *context) {
    calotype_j2k_reader *reader = context;
    size_t rest = reader->count - reader->position;
    if (count < 0 || rest == 0) return -1;
    if ((uint64_t)count > rest) count = (OPJ_OFF_T)rest;
    reader->position += (size_t)count;
    return count;
}

static OPJ_BOOL seek_byte(OPJ_OFF_T offset, void *context) {
    calotype_j2k_reader *reader = context;
    if (offset < 0 || (uint64_t)offset > reader->count) return OPJ_FALSE;
    reader->position = (size_t)offset;
    return OPJ_TRUE;
}

calotype_j2k_reader *calotype_j2k_reader_create(const uint8_t *bytes, size_t count) {
    calotype_j2k_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    reader->bytes = bytes;
    reader->count = count;
    reader->codec = lazy.opj_create_decompress(OPJ_CODEC_J2K);
    reader->stream = lazy.opj_stream_create(1 << 16, OPJ_TRUE);
    if (!reader->codec || !reader->stream) {
        calotype_j2k_reader_destroy(reader);
        return NULL;
    }
    set_messages(reader->codec, &reader->error);
    lazy.opj_stream_set_read_function(reader->stream, read_bytes);
    lazy.opj_stream_set_skip_function(reader->stream, skip_bytes);
    lazy.opj_stream_set_seek_function(reader->stream, seek_byte);
    lazy.opj_stream_set_user_data(reader->stream, reader, NULL);
    lazy.opj_stream_set_user_data_length(reader->stream, count);
    return reader;
}

void calotype_j2k_reader_destroy(calotype_j2k_reader *reader) {
    if (reader->stream) lazy.opj_stream_destroy(reader->stream);
    if (reader->codec) lazy.opj_destroy_codec(reader->codec);
    if (reader->image) lazy.opj_image_destroy(reader->image);
    free(reader);
}

bool calotype_j2k_reader_start(calotype_j2k_reader *reader, int reduction) {
    opj_dparameters_t parameters;
    lazy.opj_set_default_decoder_parameters(&parameters);
    parameters.cp_reduce = (OPJ_UINT32)reduction;
    if (!lazy.opj_setup_decoder(reader->codec, &parameters)) return false;
#if OPJ_VERSION_MAJOR > 2 || OPJ_VERSION_MINOR >= 5
    // Version 2.5.0 reads out of bounds if it continues after an error.
    if (!lazy.opj_decoder_set_strict_mode(reader->codec, OPJ_TRUE)) return false;
#endif
    return lazy.opj_read_header(reader->stream, reader->codec, &reader->image);
}

bool calotype_j2k_reader_decode_tile(calotype_j2k_reader *reader, uint32_t tile) {
    return lazy.opj_get_decoded_tile(reader->codec, reader->stream, reader->image, tile);
}

const int32_t *calotype_j2k_reader_samples(const calotype_j2k_reader *reader, uint32_t component,
                                           uint32_t *width, uint32_t *height) {
    if (!reader->image || component >= reader->image->numcomps) return NULL;
    const opj_image_comp_t *samples = &reader->image->comps[component];
    *width = samples->w;
    *height = samples->h;
    return samples->data;
}

const char *calotype_j2k_reader_message(const calotype_j2k_reader *reader) {
    return reader->error.text;
}

struct calotype_j2k_writer {
    calotype_j2k_settings settings;
    opj_image_t *image;
    uint8_t *bytes;
    size_t count, capacity, position;
    message error;
};

static OPJ_SIZE_T write_bytes(void *buffer, OPJ_SIZE_T count, void *context) {
    calotype_j2k_writer *writer = context;
    if (writer->position + count > writer->capacity) {
        size_t capacity = (writer->position + count) * 2;
        uint8_t *bytes = realloc(writer->bytes, capacity);
        if (!bytes) return (OPJ_SIZE_T)-1;
        writer->bytes = bytes;
        writer->capacity = capacity;
    }
    memcpy(writer->bytes + writer->position, buffer, count);
    writer->position += count;
    if (writer->position > writer->count) writer->count = writer->position;
    return count;
}

static OPJ_BOOL seek_written(OPJ_OFF_T offset, void *context) {
    calotype_j2k_writer *writer = context;
    if (offset < 0 || (uint64_t)offset > writer->count) return OPJ_FALSE;
    writer->position = (size_t)offset;
    return OPJ_TRUE;
}

static OPJ_OFF_T skip_written(OPJ_OFF_T count, void *context) {
    calotype_j2k_writer *writer = context;
    return seek_written((OPJ_OFF_T)writer->position + count, context) ? count : -1;
}

calotype_j2k_writer *calotype_j2k_writer_create(const calotype_j2k_settings *settings) {
    calotype_j2k_writer *writer = calloc(1, sizeof *writer);
    if (!writer) return NULL;
    writer->settings = *settings;
    opj_image_cmptparm_t components[4];
    memset(components, 0, sizeof components);
    for (uint32_t i = 0; i < settings->channels; i++) {
        components[i].dx = components[i].dy = 1;
        components[i].w = settings->width;
        components[i].h = settings->height;
        components[i].prec = settings->depth;
    }
    writer->image = lazy.opj_image_create(settings->channels, components,
                                     settings->channels == 1 ? OPJ_CLRSPC_GRAY : OPJ_CLRSPC_SRGB);
    if (!writer->image) {
        free(writer);
        return NULL;
    }
    writer->image->x1 = settings->width;
    writer->image->y1 = settings->height;
    return writer;
}

void calotype_j2k_writer_destroy(calotype_j2k_writer *writer) {
    lazy.opj_image_destroy(writer->image);
    free(writer->bytes);
    free(writer);
}

int32_t *calotype_j2k_writer_samples(calotype_j2k_writer *writer, uint32_t component) {
    return writer->image->comps[component].data;
}

bool calotype_j2k_writer_finish(calotype_j2k_writer *writer, const uint8_t **bytes, size_t *count) {
    opj_cparameters_t parameters;
    lazy.opj_set_default_encoder_parameters(&parameters);
    parameters.tcp_numlayers = 1;
    parameters.numresolution = writer->settings.resolutions;
    parameters.irreversible = !writer->settings.is_lossless;
    parameters.tcp_mct = writer->settings.channels >= 3;
    if (writer->settings.psnr > 0) {
        parameters.cp_fixed_quality = 1;
        parameters.tcp_distoratio[0] = writer->settings.psnr;
    } else {
        parameters.cp_disto_alloc = 1;
    }
    opj_codec_t *codec = lazy.opj_create_compress(OPJ_CODEC_J2K);
    opj_stream_t *stream = lazy.opj_stream_create(1 << 16, OPJ_FALSE);
    bool is_done = codec && stream;
    if (is_done) {
        set_messages(codec, &writer->error);
        lazy.opj_stream_set_write_function(stream, write_bytes);
        lazy.opj_stream_set_seek_function(stream, seek_written);
        lazy.opj_stream_set_skip_function(stream, skip_written);
        lazy.opj_stream_set_user_data(stream, writer, NULL);
        is_done = lazy.opj_setup_encoder(codec, &parameters, writer->image) &&
                  lazy.opj_start_compress(codec, writer->image, stream) && lazy.opj_encode(codec, stream) &&
                  lazy.opj_end_compress(codec, stream);
    }
    if (stream) lazy.opj_stream_destroy(stream);
    if (codec) lazy.opj_destroy_codec(codec);
    *bytes = writer->bytes;
    *count = writer->count;
    return is_done;
}

const char *calotype_j2k_writer_message(const calotype_j2k_writer *writer) {
    return writer->error.text;
}

// SPDX-License-Identifier: Apache-2.0

#include "shim.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    calotype_png_status status;
    char message[128];
} failure;

static void fail(png_structp png, failure *failure, calotype_png_status status,
                 const char *message) {
    failure->status = status;
    strncpy(failure->message, message, sizeof failure->message - 1);
    png_longjmp(png, 1);
}

static void on_error(png_structp png, png_const_charp message) {
    fail(png, png_get_error_ptr(png), calotype_png_malformed, message);
}

static void on_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

struct calotype_png_reader {
    failure failure;
    png_structp png;
    png_infop info;
    const uint8_t *bytes;
    size_t count, offset;
};

static void read_bytes(png_structp png, png_bytep to, size_t count) {
    calotype_png_reader *reader = png_get_io_ptr(png);
    if (count > reader->count - reader->offset)
        fail(png, &reader->failure, calotype_png_truncated, "the file ends early");
    memcpy(to, reader->bytes + reader->offset, count);
    reader->offset += count;
}

calotype_png_reader *calotype_png_reader_create(const uint8_t *bytes, size_t count,
                                                size_t maximum_metadata_count) {
    calotype_png_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    reader->bytes = bytes;
    reader->count = count;
    reader->png =
        png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader->failure, on_error, on_warning);
    reader->info = reader->png ? png_create_info_struct(reader->png) : NULL;
    if (!reader->info) {
        calotype_png_reader_destroy(reader);
        return NULL;
    }
    if (setjmp(png_jmpbuf(reader->png))) {
        calotype_png_reader_destroy(reader);
        return NULL;
    }
    png_set_read_fn(reader->png, reader, read_bytes);
    // Sizes are checked by the caller, against limits that its user can name.
    png_set_user_limits(reader->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_malloc_max(reader->png, maximum_metadata_count);
    // libpng knows some profiles by their checksum as wrong sRGB; the colours are ours to judge.
    png_set_option(reader->png, PNG_SKIP_sRGB_CHECK_PROFILE, PNG_OPTION_ON);
    // Text is never shown, and compressed text can be a bomb: it is not even inflated.
    static const png_byte ignored[] = "tEXt\0zTXt\0iTXt\0sPLT\0hIST";
    png_set_keep_unknown_chunks(reader->png, PNG_HANDLE_CHUNK_NEVER, ignored, 5);
    return reader;
}

void calotype_png_reader_destroy(calotype_png_reader *reader) {
    png_destroy_read_struct(&reader->png, &reader->info, NULL);
    free(reader);
}

static void read_color(calotype_png_reader *reader, calotype_png_header *header) {
    png_structp png = reader->png;
    png_infop info = reader->info;
    png_charp name;
    int intent, compression;
    png_bytep profile;
    png_uint_32 profile_count;
    if (png_get_iCCP(png, info, &name, &compression, &profile, &profile_count)) {
        header->icc = profile;
        header->icc_count = profile_count;
        return;
    }
    header->has_srgb = png_get_sRGB(png, info, &intent) != 0;
    if (header->has_srgb) return;
    double *xy = header->primaries;
    header->has_gamma = png_get_gAMA(png, info, &header->gamma) != 0;
    header->has_primaries = png_get_cHRM(png, info, &xy[0], &xy[1], &xy[2], &xy[3], &xy[4],
                                         &xy[5], &xy[6], &xy[7]) != 0;
}

calotype_png_status calotype_png_reader_read_header(calotype_png_reader *reader,
                                                    calotype_png_header *header) {
    png_structp png = reader->png;
    png_infop info = reader->info;
    if (setjmp(png_jmpbuf(png))) return reader->failure.status;
    png_read_info(png, info);
    memset(header, 0, sizeof *header);
    header->width = png_get_image_width(png, info);
    header->height = png_get_image_height(png, info);
    header->bit_depth = png_get_bit_depth(png, info);
    header->color_type = png_get_color_type(png, info);
    header->has_transparency = png_get_valid(png, info, PNG_INFO_tRNS) != 0;
    header->is_interlaced = png_get_interlace_type(png, info) != PNG_INTERLACE_NONE;
    read_color(reader, header);
    png_bytep exif;
    png_uint_32 exif_count;
    if (png_get_eXIf_1(png, info, &exif_count, &exif)) {
        header->exif = exif;
        header->exif_count = exif_count;
    }
    return calotype_png_ok;
}

calotype_png_status calotype_png_reader_start(calotype_png_reader *reader, int *channels) {
    png_structp png = reader->png;
    if (setjmp(png_jmpbuf(png))) return reader->failure.status;
    int color_type = png_get_color_type(png, reader->info);
    bool has_transparency = png_get_valid(png, reader->info, PNG_INFO_tRNS) != 0;
    png_set_expand(png);
    png_set_scale_16(png);
    if (color_type == PNG_COLOR_TYPE_GRAY_ALPHA ||
        (color_type == PNG_COLOR_TYPE_GRAY && has_transparency))
        png_set_gray_to_rgb(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, reader->info);
    *channels = png_get_channels(png, reader->info);
    return calotype_png_ok;
}

bool calotype_png_reader_is_interlaced(const calotype_png_reader *reader) {
    return png_get_interlace_type(reader->png, reader->info) != PNG_INTERLACE_NONE;
}

calotype_png_status calotype_png_reader_read_row(calotype_png_reader *reader, uint8_t *row) {
    if (setjmp(png_jmpbuf(reader->png))) return reader->failure.status;
    png_read_row(reader->png, row, NULL);
    return calotype_png_ok;
}

calotype_png_status calotype_png_reader_read_image(calotype_png_reader *reader, uint8_t *pixels,
                                                   size_t stride) {
    if (setjmp(png_jmpbuf(reader->png))) return reader->failure.status;
    png_uint_32 height = png_get_image_height(reader->png, reader->info);
    for (int pass = 0; pass < 7; pass++)
        for (png_uint_32 y = 0; y < height; y++)
            png_read_row(reader->png, pixels + y * stride, NULL);
    return calotype_png_ok;
}

calotype_png_status calotype_png_reader_finish(calotype_png_reader *reader) {
    if (setjmp(png_jmpbuf(reader->png))) return reader->failure.status;
    png_read_end(reader->png, NULL);
    return calotype_png_ok;
}

size_t calotype_png_reader_offset(const calotype_png_reader *reader) { return reader->offset; }

const char *calotype_png_reader_message(const calotype_png_reader *reader) {
    return reader->failure.message;
}

struct calotype_png_writer {
    failure failure;
    png_structp png;
    png_infop info;
    uint8_t *bytes;
    size_t count, capacity;
};

static void write_bytes(png_structp png, png_bytep from, size_t count) {
    calotype_png_writer *writer = png_get_io_ptr(png);
    if (writer->capacity - writer->count < count) {
        size_t capacity = writer->capacity * 2 + count + 4096;
        uint8_t *bytes = realloc(writer->bytes, capacity);
        if (!bytes) fail(png, &writer->failure, calotype_png_out_of_memory, "no memory");
        writer->bytes = bytes;
        writer->capacity = capacity;
    }
    memcpy(writer->bytes + writer->count, from, count);
    writer->count += count;
}

static void flush(png_structp png) { (void)png; }

calotype_png_writer *calotype_png_writer_create(void) {
    calotype_png_writer *writer = calloc(1, sizeof *writer);
    if (!writer) return NULL;
    writer->png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, &writer->failure, on_error, on_warning);
    writer->info = writer->png ? png_create_info_struct(writer->png) : NULL;
    if (!writer->info) {
        calotype_png_writer_destroy(writer);
        return NULL;
    }
    png_set_write_fn(writer->png, writer, write_bytes, flush);
    return writer;
}

void calotype_png_writer_destroy(calotype_png_writer *writer) {
    png_destroy_write_struct(&writer->png, &writer->info);
    free(writer->bytes);
    free(writer);
}

calotype_png_status calotype_png_writer_start(calotype_png_writer *writer,
                                              const calotype_png_settings *settings) {
    png_structp png = writer->png;
    if (setjmp(png_jmpbuf(png))) return writer->failure.status;
    int color_type = settings->channels == 1   ? PNG_COLOR_TYPE_GRAY
                     : settings->channels == 3 ? PNG_COLOR_TYPE_RGB
                                               : PNG_COLOR_TYPE_RGB_ALPHA;
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_option(png, PNG_SKIP_sRGB_CHECK_PROFILE, PNG_OPTION_ON);
    png_set_IHDR(png, writer->info, settings->width, settings->height, 8, color_type,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(png, settings->compression_level);
    if (settings->icc_count > 0)
        png_set_iCCP(png, writer->info, "profile", PNG_COMPRESSION_TYPE_BASE, settings->icc,
                     (png_uint_32)settings->icc_count);
    png_write_info(png, writer->info);
    return calotype_png_ok;
}

calotype_png_status calotype_png_writer_write_row(calotype_png_writer *writer,
                                                  const uint8_t *row) {
    if (setjmp(png_jmpbuf(writer->png))) return writer->failure.status;
    png_write_row(writer->png, row);
    return calotype_png_ok;
}

calotype_png_status calotype_png_writer_finish(calotype_png_writer *writer,
                                               const uint8_t **bytes, size_t *count) {
    if (setjmp(png_jmpbuf(writer->png))) return writer->failure.status;
    png_write_end(writer->png, writer->info);
    *bytes = writer->bytes;
    *count = writer->count;
    return calotype_png_ok;
}

const char *calotype_png_writer_message(const calotype_png_writer *writer) {
    return writer->failure.message;
}

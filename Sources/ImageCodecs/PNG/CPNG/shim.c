// SPDX-License-Identifier: Apache-2.0

#include "shim.h"
#include "lazy_library.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS(F) \
    F(png_create_info_struct) F(png_create_write_struct) F(png_destroy_write_struct) \
    F(png_get_error_ptr) F(png_get_io_ptr) F(png_longjmp) F(png_set_IHDR) \
    F(png_set_benign_errors) F(png_set_compression_level) F(png_set_eXIf_1) F(png_set_iCCP) \
    F(png_set_longjmp_fn) F(png_set_option) F(png_set_text) F(png_set_user_limits) \
    F(png_set_write_fn) F(png_write_chunk) F(png_write_end) F(png_write_info) \
    F(png_write_info_before_PLTE) F(png_write_row)

CALOTYPE_LAZY_LIBRARY("libpng16.so.16", FUNCTIONS)

const char *calotype_png_writer_missing(void) { return load_lazily(); }

typedef struct {
    calotype_png_status status;
    char message[128];
} failure;

static void fail(png_structp png, failure *failure, calotype_png_status status,
                 const char *message) {
    failure->status = status;
    strncpy(failure->message, message, sizeof failure->message - 1);
    lazy.png_longjmp(png, 1);
}

/// Does what `png_jmpbuf` does, which would call the library directly.
static jmp_buf *jump_of(png_structp png) {
    return lazy.png_set_longjmp_fn(png, longjmp, sizeof(jmp_buf));
}

static void on_error(png_structp png, png_const_charp message) {
    fail(png, lazy.png_get_error_ptr(png), calotype_png_malformed, message);
}

static void on_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

struct calotype_png_writer {
    failure failure;
    png_structp png;
    png_infop info;
    uint8_t *bytes;
    size_t count, capacity;
};

static void write_bytes(png_structp png, png_bytep from, size_t count) {
    calotype_png_writer *writer = lazy.png_get_io_ptr(png);
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
        lazy.png_create_write_struct(PNG_LIBPNG_VER_STRING, &writer->failure, on_error, on_warning);
    writer->info = writer->png ? lazy.png_create_info_struct(writer->png) : NULL;
    if (!writer->info) {
        calotype_png_writer_destroy(writer);
        return NULL;
    }
    lazy.png_set_write_fn(writer->png, writer, write_bytes, flush);
    return writer;
}

void calotype_png_writer_destroy(calotype_png_writer *writer) {
    lazy.png_destroy_write_struct(&writer->png, &writer->info);
    free(writer->bytes);
    free(writer);
}

calotype_png_status calotype_png_writer_start(calotype_png_writer *writer,
                                              const calotype_png_settings *settings) {
    png_structp png = writer->png;
    if (setjmp(*jump_of(png))) return writer->failure.status;
    int color_type = settings->channels == 1   ? PNG_COLOR_TYPE_GRAY
                     : settings->channels == 3 ? PNG_COLOR_TYPE_RGB
                                               : PNG_COLOR_TYPE_RGB_ALPHA;
    lazy.png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    lazy.png_set_option(png, PNG_SKIP_sRGB_CHECK_PROFILE, PNG_OPTION_ON);
    lazy.png_set_IHDR(png, writer->info, settings->width, settings->height, settings->bit_depth, color_type,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    lazy.png_set_compression_level(png, settings->compression_level);
    return calotype_png_ok;
}

calotype_png_status calotype_png_writer_set_profile(calotype_png_writer *writer,
                                                    const uint8_t *icc, size_t count) {
    if (setjmp(*jump_of(writer->png))) return writer->failure.status;
    // A profile that libpng rejects is left out: other programs could not read it either.
    lazy.png_set_benign_errors(writer->png, 1);
    lazy.png_set_iCCP(writer->png, writer->info, "profile", PNG_COMPRESSION_TYPE_BASE, icc,
                 (png_uint_32)count);
    return calotype_png_ok;
}

calotype_png_status calotype_png_writer_set_exif(calotype_png_writer *writer,
                                                 const uint8_t *block, size_t count) {
    if (setjmp(*jump_of(writer->png))) return writer->failure.status;
    // libpng copies the block.
    lazy.png_set_eXIf_1(writer->png, writer->info, (png_uint_32)count, (png_bytep)block);
    return calotype_png_ok;
}

calotype_png_status calotype_png_writer_set_text(calotype_png_writer *writer, const char *keyword,
                                                 const uint8_t *text, bool is_compressed) {
    if (setjmp(*jump_of(writer->png))) return writer->failure.status;
    png_text chunk = {.compression = is_compressed ? PNG_TEXT_COMPRESSION_zTXt
                                                   : PNG_ITXT_COMPRESSION_NONE,
                      .key = (png_charp)keyword,
                      .text = (png_charp)text};
    lazy.png_set_text(writer->png, writer->info, &chunk, 1);
    return calotype_png_ok;
}

calotype_png_status calotype_png_writer_write_chunk(calotype_png_writer *writer, const char *type,
                                                    const uint8_t *body, size_t count) {
    if (setjmp(*jump_of(writer->png))) return writer->failure.status;
    // Writes the header's first part, once.
    lazy.png_write_info_before_PLTE(writer->png, writer->info);
    lazy.png_write_chunk(writer->png, (png_const_bytep)type, body, count);
    return calotype_png_ok;
}

calotype_png_status calotype_png_writer_write_header(calotype_png_writer *writer) {
    if (setjmp(*jump_of(writer->png))) return writer->failure.status;
    lazy.png_write_info(writer->png, writer->info);
    return calotype_png_ok;
}

calotype_png_status calotype_png_writer_write_row(calotype_png_writer *writer,
                                                  const uint8_t *row) {
    if (setjmp(*jump_of(writer->png))) return writer->failure.status;
    lazy.png_write_row(writer->png, row);
    return calotype_png_ok;
}

calotype_png_status calotype_png_writer_finish(calotype_png_writer *writer,
                                               const uint8_t **bytes, size_t *count) {
    if (setjmp(*jump_of(writer->png))) return writer->failure.status;
    lazy.png_write_end(writer->png, writer->info);
    *bytes = writer->bytes;
    *count = writer->count;
    return calotype_png_ok;
}

const char *calotype_png_writer_message(const calotype_png_writer *writer) {
    return writer->failure.message;
}

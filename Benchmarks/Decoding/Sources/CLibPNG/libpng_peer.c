// SPDX-License-Identifier: Apache-2.0

#include "libpng_peer.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

typedef struct {
    const uint8_t *next;
    size_t left;
} input;

static void read_bytes(png_structp png, png_bytep to, size_t count) {
    input *input = png_get_io_ptr(png);
    if (input->left < count) png_error(png, "cut short");
    memcpy(to, input->next, count);
    input->next += count;
    input->left -= count;
}

static void ignore(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

static uint64_t sum_of(const uint8_t *row, size_t count, size_t pixel) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i += 64 * pixel)
        for (size_t c = 0; c < pixel; c++) sum += row[i + c];
    return sum;
}

bool libpng_peer_decode(const uint8_t *file, size_t count, uint64_t *sum) {
    input input = {file, count};
    uint8_t *volatile pixels = NULL;
    png_bytep *volatile rows = NULL;
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, ignore);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) return false;
    if (setjmp(png_jmpbuf(png))) {
        png_destroy_read_struct(&png, &info, NULL);
        free(pixels);
        free(rows);
        return false;
    }
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_read_fn(png, &input, read_bytes);
    png_read_info(png, info);
    png_set_expand(png);
    png_set_scale_16(png);
    if (png_get_color_type(png, info) == PNG_COLOR_TYPE_GRAY_ALPHA ||
        (png_get_color_type(png, info) == PNG_COLOR_TYPE_GRAY &&
         png_get_valid(png, info, PNG_INFO_tRNS)))
        png_set_gray_to_rgb(png);
    int passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    size_t row_count = png_get_rowbytes(png, info);
    size_t pixel = png_get_channels(png, info);
    png_uint_32 height = png_get_image_height(png, info);
    uint64_t total = 0;
    if (passes == 1) {
        pixels = malloc(row_count);
        for (png_uint_32 y = 0; y < height; y++) {
            png_read_row(png, pixels, NULL);
            total += sum_of(pixels, row_count, pixel);
        }
    } else {
        pixels = malloc(row_count * height);
        rows = malloc(sizeof *rows * height);
        for (png_uint_32 y = 0; y < height; y++) rows[y] = pixels + y * row_count;
        png_read_image(png, rows);
        for (png_uint_32 y = 0; y < height; y++) total += sum_of(rows[y], row_count, pixel);
    }
    png_read_end(png, NULL);
    png_destroy_read_struct(&png, &info, NULL);
    free(pixels);
    free(rows);
    *sum = total;
    return true;
}

const char *libpng_peer_version(void) {
    static char text[64];
    snprintf(text, sizeof text, "libpng %s, zlib %s", png_get_libpng_ver(NULL), zlibVersion());
    return text;
}

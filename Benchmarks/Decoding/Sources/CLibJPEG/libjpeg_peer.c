// SPDX-License-Identifier: Apache-2.0

#include "libjpeg_peer.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

typedef struct {
    struct jpeg_error_mgr base;
    jmp_buf escape;
} error_manager;

static void leave(j_common_ptr info) { longjmp(((error_manager *)info->err)->escape, 1); }

bool libjpeg_peer_decode(const uint8_t *bytes, size_t count, int shrink, uint64_t *sum) {
    struct jpeg_decompress_struct info;
    error_manager errors;
    info.err = jpeg_std_error(&errors.base);
    errors.base.error_exit = leave;
    uint8_t *volatile row = NULL;
    if (setjmp(errors.escape)) {
        jpeg_destroy_decompress(&info);
        free(row);
        return false;
    }
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, bytes, count);
    jpeg_read_header(&info, TRUE);
    info.out_color_space = info.jpeg_color_space;
    info.scale_num = 1;
    info.scale_denom = (unsigned)shrink;
    jpeg_start_decompress(&info);
    size_t width = (size_t)info.output_width * (size_t)info.output_components;
    row = malloc(width);
    *sum = 0;
    while (row && info.output_scanline < info.output_height) {
        JSAMPROW rows[1] = {row};
        jpeg_read_scanlines(&info, rows, 1);
        for (size_t i = 0; i < width; i += 64) *sum += row[i];
    }
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    free(row);
    return true;
}

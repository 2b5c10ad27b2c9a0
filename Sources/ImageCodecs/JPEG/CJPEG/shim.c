// SPDX-License-Identifier: Apache-2.0

#include "shim.h"

#include "coefficients.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

typedef struct {
    struct jpeg_error_mgr base;
    jmp_buf escape;
    calotype_jpeg_status status;
    char message[JMSG_LENGTH_MAX];
} error_manager;

static calotype_jpeg_status status_of(int code) {
    switch (code) {
    case JERR_BAD_PRECISION:
    case JERR_SOF_UNSUPPORTED:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_ARITH_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
        return calotype_jpeg_unsupported;
    case JERR_OUT_OF_MEMORY:
        return calotype_jpeg_out_of_memory;
    default:
        return calotype_jpeg_malformed;
    }
}

static void leave(error_manager *errors, calotype_jpeg_status status) {
    errors->status = status;
    longjmp(errors->escape, 1);
}

static void error_exit(j_common_ptr info) {
    error_manager *errors = (error_manager *)info->err;
    info->err->format_message(info, errors->message);
    leave(errors, status_of(info->err->msg_code));
}

// Warnings report damage that libjpeg conceals; by default it prints them.
static void pass_over(j_common_ptr info, int level) {
    (void)info;
    (void)level;
}

static void set_errors(error_manager *errors) {
    jpeg_std_error(&errors->base);
    errors->base.error_exit = error_exit;
    errors->base.emit_message = pass_over;
}

struct calotype_jpeg_reader {
    struct jpeg_decompress_struct info;
    error_manager errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    coefficient_memory coefficients;
    size_t count;
    int maximum_scan_count;
    /// Bytes to skip that have not arrived yet.
    size_t skip_count;
    bool is_incremental, accepts_truncated, is_truncated;
    /// Whether the header has been read, and whether the file has ended without an EOI marker.
    bool has_header, has_ended;
    bool (*is_stopped)(const void *);
    const void *context;
};

coefficient_memory *calotype_coefficients_of(j_common_ptr info) {
    return &((calotype_jpeg_reader *)info)->coefficients;
}

static void do_nothing(j_decompress_ptr info) { (void)info; }

static void end_early(calotype_jpeg_reader *reader) {
    if (!reader->accepts_truncated && !reader->is_incremental)
        leave(&reader->errors, calotype_jpeg_truncated);
    reader->is_truncated = true;
}

// Inserts an EOI marker, as the default source of libjpeg does. The file is whole if nothing else is
// missing: the entropy decoder reads ahead. That of arithmetic coding does not report missing data.
static boolean fill_input_buffer(j_decompress_ptr info) {
    static const JOCTET end_of_image[] = {0xFF, JPEG_EOI};
    calotype_jpeg_reader *reader = (calotype_jpeg_reader *)info;
    if (reader->is_incremental) return FALSE;
    if (!reader->has_header) leave(&reader->errors, calotype_jpeg_truncated);
    reader->has_ended = true;
    if (info->arith_code) end_early(reader);
    info->src->next_input_byte = end_of_image;
    info->src->bytes_in_buffer = sizeof end_of_image;
    return TRUE;
}

// A scan that reaches the EOI marker before its last row of MCUs has begun is truncated, too.
// libjpeg conceals what is missing within the last row, which is truncated only if the file has ended.
static void look_for_end(j_common_ptr common, int level) {
    j_decompress_ptr info = (j_decompress_ptr)common;
    calotype_jpeg_reader *reader = (calotype_jpeg_reader *)info;
    if (level < 0 && info->err->msg_code == JWRN_HIT_MARKER && info->unread_marker == JPEG_EOI &&
        (reader->has_ended || info->input_iMCU_row + 1 < info->total_iMCU_rows))
        end_early(reader);
}

// Whether every component has been in a scan, and all bits of every coefficient (T.81 G.1.1.1.1).
static bool has_all_scans(j_decompress_ptr info) {
    for (int i = 0; i < info->num_components; i++) {
        // The table is assigned in the first scan of the component.
        if (!info->comp_info[i].quant_table) return false;
        for (int k = 0; info->coef_bits && k < DCTSIZE2; k++)
            if (info->coef_bits[i][k] != 0) return false;
    }
    return true;
}

static void skip_input_data(j_decompress_ptr info, long count) {
    struct jpeg_source_mgr *source = info->src;
    if (count <= 0) return;
    if ((size_t)count > source->bytes_in_buffer) {
        calotype_jpeg_reader *reader = (calotype_jpeg_reader *)info;
        if (reader->is_incremental) {
            reader->skip_count = (size_t)count - source->bytes_in_buffer;
            source->bytes_in_buffer = 0;
        } else {
            fill_input_buffer(info);
        }
        return;
    }
    source->next_input_byte += count;
    source->bytes_in_buffer -= (size_t)count;
}

void calotype_jpeg_reader_supply(calotype_jpeg_reader *reader, const uint8_t *bytes,
                                 size_t count) {
    size_t position = reader->count - reader->source.bytes_in_buffer;
    size_t skipped = count - position < reader->skip_count ? count - position : reader->skip_count;
    reader->skip_count -= skipped;
    reader->is_incremental = true;
    reader->count = count;
    reader->source.next_input_byte = bytes + position + skipped;
    reader->source.bytes_in_buffer = count - position - skipped;
}

bool calotype_jpeg_reader_has_passes(const calotype_jpeg_reader *reader) {
    return jpeg_has_multiple_scans((j_decompress_ptr)&reader->info);
}

void calotype_jpeg_reader_accept_truncated(calotype_jpeg_reader *reader) {
    reader->accepts_truncated = true;
}

bool calotype_jpeg_reader_is_truncated(const calotype_jpeg_reader *reader) {
    return reader->is_truncated;
}

static void watch(j_common_ptr info) {
    calotype_jpeg_reader *reader = (calotype_jpeg_reader *)info;
    if (reader->info.input_scan_number > reader->maximum_scan_count)
        leave(&reader->errors, calotype_jpeg_too_many_scans);
    if (reader->is_stopped && reader->is_stopped(reader->context))
        leave(&reader->errors, calotype_jpeg_stopped);
}

calotype_jpeg_reader *calotype_jpeg_reader_create(const uint8_t *bytes, size_t count) {
    calotype_jpeg_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    set_errors(&reader->errors);
    reader->errors.base.emit_message = look_for_end;
    reader->info.err = &reader->errors.base;
    if (setjmp(reader->errors.escape)) {
        calotype_jpeg_reader_destroy(reader);
        return NULL;
    }
    jpeg_create_decompress(&reader->info);
    calotype_coefficients_install(&reader->coefficients, &reader->info);
    reader->count = count;
    reader->source.next_input_byte = bytes;
    reader->source.bytes_in_buffer = count;
    reader->source.init_source = do_nothing;
    reader->source.fill_input_buffer = fill_input_buffer;
    reader->source.skip_input_data = skip_input_data;
    reader->source.resync_to_restart = jpeg_resync_to_restart;
    reader->source.term_source = do_nothing;
    reader->info.src = &reader->source;
    return reader;
}

void calotype_jpeg_reader_destroy(calotype_jpeg_reader *reader) {
    jpeg_destroy_decompress(&reader->info);
    calotype_coefficients_free(&reader->coefficients);
    free(reader);
}

void calotype_jpeg_reader_watch(calotype_jpeg_reader *reader, int maximum_scan_count,
                                bool (*is_stopped)(const void *), const void *context) {
    reader->maximum_scan_count = maximum_scan_count;
    reader->is_stopped = is_stopped;
    reader->context = context;
    reader->progress.progress_monitor = watch;
    reader->info.progress = &reader->progress;
}

calotype_jpeg_status calotype_jpeg_reader_read_header(calotype_jpeg_reader *reader) {
    if (setjmp(reader->errors.escape)) return reader->errors.status;
    if (jpeg_read_header(&reader->info, TRUE) == JPEG_SUSPENDED) return calotype_jpeg_suspended;
    reader->has_header = true;
    return calotype_jpeg_ok;
}

size_t calotype_jpeg_reader_coefficient_bytes(calotype_jpeg_reader *reader) {
    if (!jpeg_has_multiple_scans(&reader->info)) return 0;
    size_t blocks = 0;
    for (int i = 0; i < reader->info.num_components; i++) {
        const jpeg_component_info *component = &reader->info.comp_info[i];
        blocks += (size_t)component->width_in_blocks * component->height_in_blocks;
    }
    return blocks * sizeof(JBLOCK);
}

calotype_jpeg_status calotype_jpeg_reader_start(calotype_jpeg_reader *reader, int shrink,
                                                bool in_passes) {
    if (setjmp(reader->errors.escape)) return reader->errors.status;
    if (reader->info.jpeg_color_space == JCS_YCCK) reader->info.out_color_space = JCS_CMYK;
    reader->info.scale_num = 1;
    reader->info.scale_denom = (unsigned)shrink;
    reader->info.buffered_image = in_passes;
    return jpeg_start_decompress(&reader->info) ? calotype_jpeg_ok : calotype_jpeg_suspended;
}

calotype_jpeg_status calotype_jpeg_reader_consume(calotype_jpeg_reader *reader, int *scans) {
    struct jpeg_decompress_struct *info = &reader->info;
    if (setjmp(reader->errors.escape)) return reader->errors.status;
    for (;;) {
        watch((j_common_ptr)info);
        int status = jpeg_consume_input(info);
        // A scan is complete only when the next one begins.
        *scans = info->input_scan_number - (status == JPEG_REACHED_EOI ? 0 : 1);
        if (status == JPEG_REACHED_EOI) return calotype_jpeg_ok;
        if (status == JPEG_SUSPENDED) return calotype_jpeg_suspended;
    }
}

calotype_jpeg_status calotype_jpeg_reader_begin_pass(calotype_jpeg_reader *reader, int scan) {
    if (setjmp(reader->errors.escape)) return reader->errors.status;
    return jpeg_start_output(&reader->info, scan) ? calotype_jpeg_ok : calotype_jpeg_suspended;
}

calotype_jpeg_status calotype_jpeg_reader_end_pass(calotype_jpeg_reader *reader) {
    if (setjmp(reader->errors.escape)) return reader->errors.status;
    return jpeg_finish_output(&reader->info) ? calotype_jpeg_ok : calotype_jpeg_suspended;
}

int calotype_jpeg_reader_width(const calotype_jpeg_reader *reader) {
    return (int)reader->info.output_width;
}

int calotype_jpeg_reader_height(const calotype_jpeg_reader *reader) {
    return (int)reader->info.output_height;
}

int calotype_jpeg_reader_channels(const calotype_jpeg_reader *reader) {
    return reader->info.output_components;
}

bool calotype_jpeg_reader_is_inverted(const calotype_jpeg_reader *reader) {
    return reader->info.saw_Adobe_marker;
}

calotype_jpeg_status calotype_jpeg_reader_read_row(calotype_jpeg_reader *reader, uint8_t *row) {
    if (setjmp(reader->errors.escape)) return reader->errors.status;
    JSAMPROW rows[1] = {row};
    if (jpeg_read_scanlines(&reader->info, rows, 1) == 1) return calotype_jpeg_ok;
    return reader->is_incremental ? calotype_jpeg_suspended : calotype_jpeg_truncated;
}

calotype_jpeg_status calotype_jpeg_reader_finish(calotype_jpeg_reader *reader) {
    if (setjmp(reader->errors.escape)) return reader->errors.status;
    if (reader->has_ended && !has_all_scans(&reader->info)) end_early(reader);
    return jpeg_finish_decompress(&reader->info) ? calotype_jpeg_ok : calotype_jpeg_suspended;
}

size_t calotype_jpeg_reader_offset(const calotype_jpeg_reader *reader) {
    return reader->count - reader->source.bytes_in_buffer;
}

const char *calotype_jpeg_reader_message(calotype_jpeg_reader *reader) {
    return reader->errors.message;
}

struct calotype_jpeg_writer {
    struct jpeg_compress_struct info;
    error_manager errors;
    unsigned char *bytes;
    unsigned long count;
};

calotype_jpeg_writer *calotype_jpeg_writer_create(void) {
    calotype_jpeg_writer *writer = calloc(1, sizeof *writer);
    if (!writer) return NULL;
    set_errors(&writer->errors);
    writer->info.err = &writer->errors.base;
    if (setjmp(writer->errors.escape)) {
        calotype_jpeg_writer_destroy(writer);
        return NULL;
    }
    jpeg_create_compress(&writer->info);
    return writer;
}

void calotype_jpeg_writer_destroy(calotype_jpeg_writer *writer) {
    // libjpeg stores the buffer in `bytes` only when the destination is terminated.
    if (writer->info.dest) writer->info.dest->term_destination(&writer->info);
    jpeg_destroy_compress(&writer->info);
    free(writer->bytes);
    free(writer);
}

calotype_jpeg_status calotype_jpeg_writer_start(calotype_jpeg_writer *writer,
                                                const calotype_jpeg_settings *settings) {
    struct jpeg_compress_struct *info = &writer->info;
    if (setjmp(writer->errors.escape)) return writer->errors.status;
    jpeg_mem_dest(info, &writer->bytes, &writer->count);
    info->image_width = (JDIMENSION)settings->width;
    info->image_height = (JDIMENSION)settings->height;
    info->input_components = settings->channels;
    info->in_color_space = settings->channels == 1 ? JCS_GRAYSCALE
                           : settings->is_planar   ? JCS_YCbCr
                                                   : JCS_RGB;
    jpeg_set_defaults(info);
    jpeg_set_quality(info, settings->quality, TRUE);
    if (settings->channels == 3) {
        info->comp_info[0].h_samp_factor = settings->horizontal_subsampling;
        info->comp_info[0].v_samp_factor = settings->vertical_subsampling;
    }
    info->raw_data_in = settings->is_planar;
    if (settings->progressive) jpeg_simple_progression(info);
    if (settings->omits_jfif) info->write_JFIF_header = FALSE;
    jpeg_start_compress(info, TRUE);
    return calotype_jpeg_ok;
}

calotype_jpeg_status calotype_jpeg_writer_write_segment(calotype_jpeg_writer *writer, int marker,
                                                        const uint8_t *bytes, size_t count) {
    if (setjmp(writer->errors.escape)) return writer->errors.status;
    jpeg_write_marker(&writer->info, marker, bytes, (unsigned)count);
    return calotype_jpeg_ok;
}

calotype_jpeg_status calotype_jpeg_writer_write_profile(calotype_jpeg_writer *writer,
                                                        const uint8_t *icc, size_t count) {
    if (setjmp(writer->errors.escape)) return writer->errors.status;
    jpeg_write_icc_profile(&writer->info, icc, (unsigned)count);
    return calotype_jpeg_ok;
}

calotype_jpeg_status calotype_jpeg_writer_write_row(calotype_jpeg_writer *writer,
                                                    const uint8_t *row) {
    if (setjmp(writer->errors.escape)) return writer->errors.status;
    JSAMPROW rows[1] = {(JSAMPROW)row};
    jpeg_write_scanlines(&writer->info, rows, 1);
    return calotype_jpeg_ok;
}

calotype_jpeg_status calotype_jpeg_writer_write_planes(calotype_jpeg_writer *writer,
                                                       const uint8_t *y, size_t y_stride,
                                                       const uint8_t *cb, const uint8_t *cr,
                                                       size_t chroma_stride) {
    JSAMPROW rows[3][2 * DCTSIZE];
    for (int i = 0; i < 2 * DCTSIZE; i++) rows[0][i] = (JSAMPROW)y + (size_t)i * y_stride;
    for (int i = 0; i < DCTSIZE; i++) {
        rows[1][i] = (JSAMPROW)cb + (size_t)i * chroma_stride;
        rows[2][i] = (JSAMPROW)cr + (size_t)i * chroma_stride;
    }
    JSAMPARRAY planes[3] = {rows[0], rows[1], rows[2]};
    if (setjmp(writer->errors.escape)) return writer->errors.status;
    jpeg_write_raw_data(&writer->info, planes, 2 * DCTSIZE);
    return calotype_jpeg_ok;
}

calotype_jpeg_status calotype_jpeg_writer_finish(calotype_jpeg_writer *writer,
                                                 const uint8_t **bytes, size_t *count) {
    if (setjmp(writer->errors.escape)) return writer->errors.status;
    jpeg_finish_compress(&writer->info);
    *bytes = writer->bytes;
    *count = writer->count;
    return calotype_jpeg_ok;
}

const char *calotype_jpeg_writer_message(calotype_jpeg_writer *writer) {
    return writer->errors.message;
}

// SPDX-License-Identifier: Apache-2.0

#include "shim.h"
#include "lazy_library.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tiffio.h>

#define FUNCTIONS(F) \
    F(TIFFClientOpenExt) F(TIFFClose) F(TIFFDefaultStripSize) F(TIFFGetField) \
    F(TIFFGetFieldDefaulted) F(TIFFIsCODECConfigured) F(TIFFIsTiled) F(TIFFOpenOptionsAlloc) \
    F(TIFFOpenOptionsFree) F(TIFFOpenOptionsSetErrorHandlerExtR) \
    F(TIFFOpenOptionsSetMaxSingleMemAlloc) F(TIFFOpenOptionsSetWarningHandlerExtR) \
    F(TIFFReadEncodedStrip) F(TIFFReadEncodedTile) F(TIFFReadRGBAStripExt) \
    F(TIFFReadRGBATileExt) F(TIFFReadScanline) F(TIFFScanlineSize64) F(TIFFSetField) \
    F(TIFFSetSubDirectory) F(TIFFTileSize64) F(TIFFWriteDirectory) \
    F(TIFFWriteEncodedTile) F(TIFFWriteScanline)

CALOTYPE_LAZY_LIBRARY("libtiff.so.6", FUNCTIONS)

const char *calotype_tiff_missing(void) { return load_lazily(); }

typedef struct {
    char text[256];
} message;

static int keep_message(TIFF *tiff, void *context, const char *module, const char *format,
                        va_list arguments) {
    (void)tiff;
    (void)module;
    message *kept = context;
    // The first is about the cause, later ones about what followed from it.
    if (!kept->text[0]) vsnprintf(kept->text, sizeof kept->text, format, arguments);
    return 1;
}

static int ignore_message(TIFF *tiff, void *context, const char *module, const char *format,
                          va_list arguments) {
    (void)tiff;
    (void)context;
    (void)module;
    (void)format;
    (void)arguments;
    return 1;
}

static TIFFOpenOptions *make_options(message *kept, size_t maximum_allocation) {
    TIFFOpenOptions *options = lazy.TIFFOpenOptionsAlloc();
    if (!options) return NULL;
    lazy.TIFFOpenOptionsSetErrorHandlerExtR(options, keep_message, kept);
    lazy.TIFFOpenOptionsSetWarningHandlerExtR(options, ignore_message, NULL);
    if (maximum_allocation > 0)
        lazy.TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)maximum_allocation);
    return options;
}

bool calotype_tiff_has_compression(uint16_t compression) {
    return lazy.TIFFIsCODECConfigured(compression);
}

/// Bytes in memory that behave as a file; those of a reader never change.
typedef struct {
    uint8_t *bytes;
    size_t count, capacity, position;
} memory_file;

static tmsize_t read_bytes(thandle_t handle, void *buffer, tmsize_t count) {
    memory_file *file = (memory_file *)handle;
    if (count < 0 || file->position >= file->count) return 0;
    size_t rest = file->count - file->position;
    if ((size_t)count > rest) count = (tmsize_t)rest;
    memcpy(buffer, file->bytes + file->position, (size_t)count);
    file->position += (size_t)count;
    return count;
}

static tmsize_t write_nothing(thandle_t handle, void *buffer, tmsize_t count) {
    (void)handle;
    (void)buffer;
    (void)count;
    return -1;
}

static tmsize_t write_bytes(thandle_t handle, void *buffer, tmsize_t count) {
    memory_file *file = (memory_file *)handle;
    size_t end = file->position + (size_t)count;
    if (end > file->capacity) {
        size_t capacity = end + end / 2 + 4096;
        uint8_t *bytes = realloc(file->bytes, capacity);
        if (!bytes) return -1;
        // What is skipped over is a file's zeros.
        memset(bytes + file->capacity, 0, capacity - file->capacity);
        file->bytes = bytes;
        file->capacity = capacity;
    }
    memcpy(file->bytes + file->position, buffer, (size_t)count);
    file->position = end;
    if (end > file->count) file->count = end;
    return count;
}

static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    memory_file *file = (memory_file *)handle;
    toff_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? file->position : file->count;
    file->position = (size_t)(base + offset);
    return file->position;
}

static int close_nothing(thandle_t handle) {
    (void)handle;
    return 0;
}

static toff_t size_of(thandle_t handle) { return ((memory_file *)handle)->count; }

static int map(thandle_t handle, void **start, toff_t *count) {
    memory_file *file = (memory_file *)handle;
    *start = file->bytes;
    *count = file->count;
    return 1;
}

static int map_nothing(thandle_t handle, void **start, toff_t *count) {
    (void)handle;
    (void)start;
    (void)count;
    return 0;
}

static void unmap(thandle_t handle, void *start, toff_t count) {
    (void)handle;
    (void)start;
    (void)count;
}

struct calotype_tiff_reader {
    memory_file file;
    TIFF *tiff;
    size_t maximum_allocation;
    message error;
};

calotype_tiff_reader *calotype_tiff_reader_create(const uint8_t *bytes, size_t count,
                                                  size_t maximum_allocation) {
    calotype_tiff_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    reader->file.bytes = (uint8_t *)bytes;
    reader->file.count = count;
    reader->maximum_allocation = maximum_allocation;
    return reader;
}

void calotype_tiff_reader_destroy(calotype_tiff_reader *reader) {
    if (reader->tiff) lazy.TIFFClose(reader->tiff);
    free(reader);
}

bool calotype_tiff_reader_open(calotype_tiff_reader *reader, uint64_t directory) {
    TIFFOpenOptions *options = make_options(&reader->error, reader->maximum_allocation);
    if (!options) return false;
    if (reader->tiff) lazy.TIFFClose(reader->tiff);
    reader->file.position = 0;
    // h: the first directory may not be the one that is wanted; c: strips are those of the directory,
    // even if the only one is large, because TIFFReadRGBAStrip returns one strip.
    reader->tiff =
        lazy.TIFFClientOpenExt("memory", "rhc", (thandle_t)&reader->file, read_bytes, write_nothing,
                               seek, close_nothing, size_of, map, unmap, options);
    lazy.TIFFOpenOptionsFree(options);
    if (!reader->tiff || !lazy.TIFFSetSubDirectory(reader->tiff, directory)) return false;
    TIFF *tiff = reader->tiff;
    uint16_t compression = COMPRESSION_NONE, photometric = PHOTOMETRIC_MINISBLACK;
    lazy.TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &compression);
    lazy.TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric);
    if (compression == COMPRESSION_JPEG && photometric == PHOTOMETRIC_YCBCR)
        lazy.TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    if (compression == COMPRESSION_SGILOG || compression == COMPRESSION_SGILOG24)
        lazy.TIFFSetField(tiff, TIFFTAG_SGILOGDATAFMT, SGILOGDATAFMT_8BIT);
    float *weights = NULL;
    // Luma without green is none: what such a file means is what every other says.
    if (photometric == PHOTOMETRIC_YCBCR &&
        lazy.TIFFGetField(tiff, TIFFTAG_YCBCRCOEFFICIENTS, &weights) && !(weights[1] > 0)) {
        float usual[3] = {0.299f, 0.587f, 0.114f};
        lazy.TIFFSetField(tiff, TIFFTAG_YCBCRCOEFFICIENTS, usual);
    }
    // Rows are delivered as they are stored.
    lazy.TIFFSetField(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
    // What could not be understood so far may not be needed.
    reader->error.text[0] = 0;
    return true;
}

size_t calotype_tiff_reader_row_size(const calotype_tiff_reader *reader) {
    return (size_t)lazy.TIFFScanlineSize64(reader->tiff);
}

size_t calotype_tiff_reader_tile_size(const calotype_tiff_reader *reader) {
    return (size_t)lazy.TIFFTileSize64(reader->tiff);
}

bool calotype_tiff_reader_read_row(calotype_tiff_reader *reader, uint8_t *samples, uint32_t row) {
    return lazy.TIFFReadScanline(reader->tiff, samples, row, 0) == 1;
}

bool calotype_tiff_reader_read_strip(calotype_tiff_reader *reader, uint32_t strip,
                                     uint8_t *samples, size_t count) {
    return lazy.TIFFReadEncodedStrip(reader->tiff, strip, samples, (tmsize_t)count) >= 0;
}

bool calotype_tiff_reader_read_tile(calotype_tiff_reader *reader, uint32_t tile, uint8_t *samples,
                                    size_t count) {
    return lazy.TIFFReadEncodedTile(reader->tiff, tile, samples, (tmsize_t)count) >= 0;
}

bool calotype_tiff_reader_read_colors(calotype_tiff_reader *reader, uint32_t x, uint32_t y,
                                      uint32_t *pixels) {
    return lazy.TIFFIsTiled(reader->tiff) ? lazy.TIFFReadRGBATileExt(reader->tiff, x, y, pixels, 1)
                                     : lazy.TIFFReadRGBAStripExt(reader->tiff, y, pixels, 1);
}

const char *calotype_tiff_reader_message(const calotype_tiff_reader *reader) {
    return reader->error.text;
}

struct calotype_tiff_writer {
    memory_file file;
    TIFF *tiff;
    message error;
};

calotype_tiff_writer *calotype_tiff_writer_create(bool is_big) {
    calotype_tiff_writer *writer = calloc(1, sizeof *writer);
    if (!writer) return NULL;
    TIFFOpenOptions *options = make_options(&writer->error, 0);
    if (options) {
        writer->tiff = lazy.TIFFClientOpenExt(
            "memory", is_big ? "wl8" : "wl", (thandle_t)&writer->file, read_bytes, write_bytes, seek,
            close_nothing, size_of, map_nothing, unmap, options);
        lazy.TIFFOpenOptionsFree(options);
    }
    if (!writer->tiff) {
        free(writer);
        return NULL;
    }
    return writer;
}

void calotype_tiff_writer_destroy(calotype_tiff_writer *writer) {
    if (writer->tiff) lazy.TIFFClose(writer->tiff);
    free(writer->file.bytes);
    free(writer);
}

bool calotype_tiff_writer_start(calotype_tiff_writer *writer,
                                const calotype_tiff_settings *settings) {
    TIFF *tiff = writer->tiff;
    bool is_done = lazy.TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, settings->width) &&
                   lazy.TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, settings->height) &&
                   lazy.TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, settings->depth) &&
                   lazy.TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, settings->channels) &&
                   lazy.TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) &&
                   lazy.TIFFSetField(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
    if (settings->is_reduced) lazy.TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, FILETYPE_REDUCEDIMAGE);
    if (settings->channels == 4) {
        uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
        is_done = is_done && lazy.TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &alpha);
    }
    uint16_t photometric = settings->channels == 1 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB;
    if (settings->jpeg_quality > 0) {
        if (settings->channels == 3) {
            photometric = PHOTOMETRIC_YCBCR;
            lazy.TIFFSetField(tiff, TIFFTAG_YCBCRSUBSAMPLING, settings->chroma_width,
                         settings->chroma_height);
        }
        is_done = is_done && lazy.TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_JPEG) &&
                  lazy.TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, photometric) &&
                  lazy.TIFFSetField(tiff, TIFFTAG_JPEGQUALITY, settings->jpeg_quality) &&
                  lazy.TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    } else {
        is_done = is_done && lazy.TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, photometric);
        if (settings->compression_level > 0)
            is_done = is_done && lazy.TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE) &&
                      lazy.TIFFSetField(tiff, TIFFTAG_ZIPQUALITY, settings->compression_level) &&
                      lazy.TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
    }
    if (settings->tile_side > 0)
        is_done = is_done && lazy.TIFFSetField(tiff, TIFFTAG_TILEWIDTH, settings->tile_side) &&
                  lazy.TIFFSetField(tiff, TIFFTAG_TILELENGTH, settings->tile_side);
    else
        is_done = is_done && lazy.TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP,
                                          lazy.TIFFDefaultStripSize(tiff, settings->width > 8192 ? 8 : 64));
    if (settings->icc_count > 0)
        is_done = is_done && lazy.TIFFSetField(tiff, TIFFTAG_ICCPROFILE, (uint32_t)settings->icc_count,
                                          settings->icc);
    if (settings->xmp_count > 0)
        is_done = is_done &&
                  lazy.TIFFSetField(tiff, TIFFTAG_XMLPACKET, (uint32_t)settings->xmp_count, settings->xmp);
    return is_done;
}

bool calotype_tiff_writer_write_row(calotype_tiff_writer *writer, const uint8_t *samples,
                                    uint32_t row) {
    return lazy.TIFFWriteScanline(writer->tiff, (void *)samples, row, 0) == 1;
}

bool calotype_tiff_writer_write_tile(calotype_tiff_writer *writer, const uint8_t *samples,
                                     size_t count, uint32_t tile) {
    return lazy.TIFFWriteEncodedTile(writer->tiff, tile, (void *)samples, (tmsize_t)count) >= 0;
}

bool calotype_tiff_writer_end_image(calotype_tiff_writer *writer) {
    return lazy.TIFFWriteDirectory(writer->tiff) == 1;
}

const uint8_t *calotype_tiff_writer_finish(calotype_tiff_writer *writer, size_t *count) {
    lazy.TIFFClose(writer->tiff);
    writer->tiff = NULL;
    *count = writer->file.count;
    return writer->file.bytes;
}

const char *calotype_tiff_writer_message(const calotype_tiff_writer *writer) {
    return writer->error.text;
}

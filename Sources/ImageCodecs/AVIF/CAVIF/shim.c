// SPDX-License-Identifier: Apache-2.0

#include "shim.h"
#include "lazy_library.h"

#include <avif/avif.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The name of the library version that the header describes.
#if AVIF_VERSION_MAJOR == 0
#define AVIF_LIBRARY "libavif.so.15"
#else
#define AVIF_LIBRARY "libavif.so.16"
#endif

#define FUNCTIONS(F) \
    F(avifCodecName) F(avifCropRectConvertCleanApertureBox) F(avifDecoderCreate) \
    F(avifDecoderDestroy) F(avifDecoderNextImage) F(avifDecoderParse) F(avifDecoderSetIO) \
    F(avifEncoderAddImage) F(avifEncoderCreate) F(avifEncoderDestroy) F(avifEncoderFinish) \
    F(avifImageAllocatePlanes) F(avifImageCreate) F(avifImageDestroy) F(avifImageRGBToYUV) \
    F(avifImageSetMetadataExif) F(avifImageSetMetadataXMP) F(avifImageSetProfileICC) \
    F(avifRGBImageAllocatePixels) F(avifRGBImageFreePixels) F(avifRGBImageSetDefaults) \
    F(avifRWDataFree) F(avifResultToString)

CALOTYPE_LAZY_LIBRARY(AVIF_LIBRARY, FUNCTIONS)

const char *calotype_avif_missing(void) { return load_lazily(); }

struct calotype_avif_reader {
    avifDecoder *decoder;
    avifIO io;
    /// The file; valid during a call only.
    const uint8_t *bytes;
    size_t count;
    /// Whether libavif requested bytes beyond the end of the file.
    bool ran_out;
    char message[AVIF_DIAGNOSTICS_ERROR_BUFFER_SIZE + 64];
};

static avifResult read_bytes(avifIO *io, uint32_t flags, uint64_t offset, size_t size,
                             avifROData *out) {
    calotype_avif_reader *reader = io->data;
    if (flags != 0) return AVIF_RESULT_IO_ERROR;
    if (offset > reader->count) {
        reader->ran_out = true;
        return AVIF_RESULT_TRUNCATED_DATA;
    }
    size_t rest = reader->count - (size_t)offset;
    // Boxes are searched in reads of 32 bytes; the last box may be shorter.
    if (size > rest && (size > 32 || rest == 0)) reader->ran_out = true;
    out->data = reader->bytes + offset;
    out->size = size < rest ? size : rest;
    return AVIF_RESULT_OK;
}

calotype_avif_reader *calotype_avif_reader_create(bool reads_metadata, uint32_t maximum_side,
                                                  uint32_t maximum_pixels,
                                                  uint32_t maximum_frames) {
    calotype_avif_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    reader->decoder = lazy.avifDecoderCreate();
    if (!reader->decoder) {
        free(reader);
        return NULL;
    }
    avifDecoder *decoder = reader->decoder;
    if (lazy.avifCodecName(AVIF_CODEC_CHOICE_DAV1D, AVIF_CODEC_FLAG_CAN_DECODE))
        decoder->codecChoice = AVIF_CODEC_CHOICE_DAV1D;
    decoder->maxThreads = 1;
    decoder->strictFlags = AVIF_STRICT_DISABLED;
    decoder->ignoreExif = decoder->ignoreXMP = !reads_metadata;
    decoder->imageDimensionLimit = maximum_side;
    decoder->imageSizeLimit = maximum_pixels < AVIF_DEFAULT_IMAGE_SIZE_LIMIT
                                  ? maximum_pixels
                                  : AVIF_DEFAULT_IMAGE_SIZE_LIMIT;
    decoder->imageCountLimit = maximum_frames;
    reader->io.read = read_bytes;
    reader->io.data = reader;
    lazy.avifDecoderSetIO(decoder, &reader->io);
    return reader;
}

void calotype_avif_reader_destroy(calotype_avif_reader *reader) {
    lazy.avifDecoderDestroy(reader->decoder);
    free(reader);
}

const char *calotype_avif_reader_message(const calotype_avif_reader *reader) {
    return reader->message;
}

static calotype_avif_status status_of(calotype_avif_reader *reader, avifResult result) {
    const char *detail = reader->decoder->diag.error;
    snprintf(reader->message, sizeof reader->message, "%s%s%s", lazy.avifResultToString(result),
             detail[0] ? ": " : "", detail);
    switch (result) {
    case AVIF_RESULT_OK: return calotype_avif_ok;
    case AVIF_RESULT_NO_IMAGES_REMAINING: return calotype_avif_no_more;
    case AVIF_RESULT_TRUNCATED_DATA:
    case AVIF_RESULT_WAITING_ON_IO: return calotype_avif_truncated;
    case AVIF_RESULT_NOT_IMPLEMENTED:
    case AVIF_RESULT_UNSUPPORTED_DEPTH:
    case AVIF_RESULT_NO_CODEC_AVAILABLE:
    case AVIF_RESULT_NO_AV1_ITEMS_FOUND:
        return reader->ran_out ? calotype_avif_truncated : calotype_avif_unsupported;
    case AVIF_RESULT_OUT_OF_MEMORY:
    case AVIF_RESULT_UNKNOWN_ERROR: return calotype_avif_failed;
    default: return reader->ran_out ? calotype_avif_truncated : calotype_avif_malformed;
    }
}

calotype_avif_status calotype_avif_reader_parse(calotype_avif_reader *reader,
                                                const uint8_t *bytes, size_t count) {
    reader->bytes = bytes;
    reader->count = count;
    calotype_avif_status status = status_of(reader, lazy.avifDecoderParse(reader->decoder));
    reader->bytes = NULL;
    return status;
}

static int subsampling_of(avifPixelFormat format) {
    switch (format) {
    case AVIF_PIXEL_FORMAT_YUV444: return 444;
    case AVIF_PIXEL_FORMAT_YUV422: return 422;
    case AVIF_PIXEL_FORMAT_YUV420: return 420;
    default: return 0;
    }
}

static avifPixelFormat format_of(int subsampling) {
    switch (subsampling) {
    case 444: return AVIF_PIXEL_FORMAT_YUV444;
    case 422: return AVIF_PIXEL_FORMAT_YUV422;
    case 420: return AVIF_PIXEL_FORMAT_YUV420;
    default: return AVIF_PIXEL_FORMAT_YUV400;
    }
}

void calotype_avif_reader_info(const calotype_avif_reader *reader, calotype_avif_info *info) {
    const avifDecoder *decoder = reader->decoder;
    const avifImage *image = decoder->image;
    memset(info, 0, sizeof *info);
    info->width = image->width;
    info->height = image->height;
    info->depth = image->depth;
    info->subsampling = subsampling_of(image->yuvFormat);
    info->has_alpha = decoder->alphaPresent;
    info->is_premultiplied = image->alphaPremultiplied;
    info->is_full_range = image->yuvRange == AVIF_RANGE_FULL;
    info->primaries = image->colorPrimaries;
    info->transfer = image->transferCharacteristics;
    info->matrix = image->matrixCoefficients;
    avifCropRect crop = {0, 0, image->width, image->height};
    avifDiagnostics diagnostics;
    if (!(image->transformFlags & AVIF_TRANSFORM_CLAP) ||
        !lazy.avifCropRectConvertCleanApertureBox(&crop, &image->clap, image->width, image->height,
                                             image->yuvFormat, &diagnostics))
        crop = (avifCropRect){0, 0, image->width, image->height};
    info->crop_x = crop.x;
    info->crop_y = crop.y;
    info->crop_width = crop.width;
    info->crop_height = crop.height;
    info->rotation = image->transformFlags & AVIF_TRANSFORM_IROT ? image->irot.angle & 3 : 0;
    info->mirror = image->transformFlags & AVIF_TRANSFORM_IMIR ? image->imir.mode & 1 : -1;
    info->frame_count = decoder->imageCount;
    info->icc = image->icc.data;
    info->icc_count = image->icc.size;
    info->exif = image->exif.data;
    info->exif_count = image->exif.size;
    info->xmp = image->xmp.data;
    info->xmp_count = image->xmp.size;
}

calotype_avif_status calotype_avif_reader_next(calotype_avif_reader *reader,
                                               const uint8_t *bytes, size_t count,
                                               calotype_avif_frame *frame) {
    reader->bytes = bytes;
    reader->count = count;
    calotype_avif_status status = status_of(reader, lazy.avifDecoderNextImage(reader->decoder));
    reader->bytes = NULL;
    if (status != calotype_avif_ok) return status;
    calotype_avif_reader_info(reader, &frame->info);
    const avifImage *image = reader->decoder->image;
    for (int i = 0; i < 3; i++) {
        frame->planes[i] = image->yuvPlanes[i];
        frame->row_bytes[i] = image->yuvRowBytes[i];
    }
    frame->planes[3] = image->alphaPlane;
    frame->row_bytes[3] = image->alphaRowBytes;
    frame->duration = reader->decoder->imageTiming.duration;
    return status;
}

struct calotype_avif_writer {
    avifEncoder *encoder;
    avifImage *image;
    avifRGBImage rgb;
    avifRWData output;
    int channels;
    char message[AVIF_DIAGNOSTICS_ERROR_BUFFER_SIZE + 64];
};

static const uint8_t *exif_of(const calotype_avif_settings *settings) {
    return settings->blocks + settings->icc_count;
}

static const uint8_t *xmp_of(const calotype_avif_settings *settings) {
    return exif_of(settings) + settings->exif_count;
}

static bool make_image(calotype_avif_writer *writer, const calotype_avif_settings *settings) {
    avifImage *image =
        lazy.avifImageCreate(settings->width, settings->height, (uint32_t)settings->depth,
                        format_of(settings->channels == 1 ? 0 : settings->subsampling));
    if (!image) return false;
    writer->image = image;
    bool is_identity = settings->is_lossless && settings->channels >= 3;
    image->yuvRange = AVIF_RANGE_FULL;
    image->matrixCoefficients =
        is_identity ? AVIF_MATRIX_COEFFICIENTS_IDENTITY : AVIF_MATRIX_COEFFICIENTS_BT601;
    image->colorPrimaries = (avifColorPrimaries)settings->primaries;
    image->transferCharacteristics = (avifTransferCharacteristics)settings->transfer;
    if (settings->icc_count) lazy.avifImageSetProfileICC(image, settings->blocks, settings->icc_count);
    if (settings->exif_count)
        lazy.avifImageSetMetadataExif(image, exif_of(settings), settings->exif_count);
    if (settings->xmp_count)
        lazy.avifImageSetMetadataXMP(image, xmp_of(settings), settings->xmp_count);
    // libavif would apply EXIF's orientation to pixels that are upright already.
    image->transformFlags = AVIF_TRANSFORM_NONE;
    if (settings->channels < 3)
        return lazy.avifImageAllocatePlanes(image, AVIF_PLANES_YUV) == AVIF_RESULT_OK;
    lazy.avifRGBImageSetDefaults(&writer->rgb, image);
    writer->rgb.format = settings->channels == 4 ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
    // Samples of more than 8 bits are passed as 16 bits.
    writer->rgb.depth = settings->depth > 8 ? 16 : 8;
    lazy.avifRGBImageAllocatePixels(&writer->rgb);
    return writer->rgb.pixels != NULL;
}

calotype_avif_writer *calotype_avif_writer_create(const calotype_avif_settings *settings) {
    calotype_avif_writer *writer = calloc(1, sizeof *writer);
    if (!writer) return NULL;
    writer->channels = settings->channels;
    writer->encoder = lazy.avifEncoderCreate();
    if (!writer->encoder || !make_image(writer, settings)) {
        calotype_avif_writer_destroy(writer);
        return NULL;
    }
    avifEncoder *encoder = writer->encoder;
    encoder->maxThreads = 1;
    encoder->speed = settings->speed;
    encoder->timescale = 1000;
    encoder->minQuantizer = encoder->maxQuantizer = settings->quantizer;
    encoder->minQuantizerAlpha = encoder->maxQuantizerAlpha =
        settings->is_lossless ? 0 : settings->quantizer / 2;
    return writer;
}

void calotype_avif_writer_destroy(calotype_avif_writer *writer) {
    if (writer->rgb.pixels) lazy.avifRGBImageFreePixels(&writer->rgb);
    if (writer->image) lazy.avifImageDestroy(writer->image);
    if (writer->encoder) lazy.avifEncoderDestroy(writer->encoder);
    lazy.avifRWDataFree(&writer->output);
    free(writer);
}

const char *calotype_avif_writer_message(const calotype_avif_writer *writer) {
    return writer->message;
}

void calotype_avif_writer_set_row(calotype_avif_writer *writer, int plane, uint32_t y,
                                  const uint8_t *row, size_t count) {
    if (writer->channels >= 3) {
        memcpy(writer->rgb.pixels + (size_t)y * writer->rgb.rowBytes, row, count);
    } else {
        memcpy(writer->image->yuvPlanes[plane] + (size_t)y * writer->image->yuvRowBytes[plane],
               row, count);
    }
}

static calotype_avif_status written(calotype_avif_writer *writer, avifResult result) {
    if (result == AVIF_RESULT_OK) return calotype_avif_ok;
    const char *detail = writer->encoder->diag.error;
    snprintf(writer->message, sizeof writer->message, "%s%s%s", lazy.avifResultToString(result),
             detail[0] ? ": " : "", detail);
    return calotype_avif_failed;
}

calotype_avif_status calotype_avif_writer_add(calotype_avif_writer *writer,
                                              uint64_t milliseconds) {
    if (writer->channels >= 3) {
        avifResult result = lazy.avifImageRGBToYUV(writer->image, &writer->rgb);
        if (result != AVIF_RESULT_OK) return written(writer, result);
    }
    return written(writer, lazy.avifEncoderAddImage(writer->encoder, writer->image,
                                               milliseconds ? milliseconds : 1,
                                               milliseconds ? AVIF_ADD_IMAGE_FLAG_NONE
                                                            : AVIF_ADD_IMAGE_FLAG_SINGLE));
}

calotype_avif_status calotype_avif_writer_finish(calotype_avif_writer *writer,
                                                 const uint8_t **bytes, size_t *count) {
    calotype_avif_status status =
        written(writer, lazy.avifEncoderFinish(writer->encoder, &writer->output));
    *bytes = writer->output.data;
    *count = writer->output.size;
    return status;
}

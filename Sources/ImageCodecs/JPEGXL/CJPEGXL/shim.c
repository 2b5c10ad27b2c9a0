// SPDX-License-Identifier: Apache-2.0

#include "shim.h"
#include "lazy_library.h"
#include "library.h"

#include <jxl/decode.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS(F) \
    F(JxlDecoderCloseInput) F(JxlDecoderCreate) F(JxlDecoderDestroy) F(JxlDecoderFlushImage) \
    F(JxlDecoderGetBasicInfo) F(JxlDecoderGetBoxType) F(JxlDecoderGetColorAsEncodedProfile) \
    F(JxlDecoderGetColorAsICCProfile) F(JxlDecoderGetExtraChannelInfo) \
    F(JxlDecoderGetFrameHeader) F(JxlDecoderGetICCProfileSize) F(JxlDecoderImageOutBufferSize) \
    F(JxlDecoderProcessInput) F(JxlDecoderReleaseBoxBuffer) F(JxlDecoderReleaseInput) \
    F(JxlDecoderReleaseJPEGBuffer) F(JxlDecoderSetBoxBuffer) F(JxlDecoderSetDecompressBoxes) \
    F(JxlDecoderSetImageOutBuffer) F(JxlDecoderSetInput) F(JxlDecoderSetJPEGBuffer) \
    F(JxlDecoderSetKeepOrientation) F(JxlDecoderSetPreferredColorProfile) \
    F(JxlDecoderSubscribeEvents)

CALOTYPE_LAZY_LIBRARY(JXL_LIBRARY, FUNCTIONS)

const char *calotype_jxl_reader_missing(void) { return load_lazily(); }

struct calotype_jxl_reader {
    JxlDecoder *decoder;
    calotype_jxl_info info;
    uint8_t *icc;
    uint8_t *pixels;
    uint32_t ticks;
    /// The number of bytes that have been read.
    size_t position;
};

calotype_jxl_reader *calotype_jxl_reader_create(void) {
    calotype_jxl_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    reader->decoder = lazy.JxlDecoderCreate(NULL);
    if (!reader->decoder) {
        free(reader);
        return NULL;
    }
    lazy.JxlDecoderSubscribeEvents(reader->decoder, JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING |
                                                   JXL_DEC_FRAME | JXL_DEC_FULL_IMAGE);
    lazy.JxlDecoderSetKeepOrientation(reader->decoder, JXL_TRUE);
    return reader;
}

void calotype_jxl_reader_destroy(calotype_jxl_reader *reader) {
    lazy.JxlDecoderDestroy(reader->decoder);
    free(reader->icc);
    free(reader->pixels);
    free(reader);
}

void calotype_jxl_reader_info(const calotype_jxl_reader *reader, calotype_jxl_info *info) {
    *info = reader->info;
}

const uint8_t *calotype_jxl_reader_icc(const calotype_jxl_reader *reader) { return reader->icc; }

const uint8_t *calotype_jxl_reader_pixels(const calotype_jxl_reader *reader) {
    return reader->pixels;
}

uint32_t calotype_jxl_reader_ticks(const calotype_jxl_reader *reader) { return reader->ticks; }

static bool take_info(calotype_jxl_reader *reader) {
    JxlBasicInfo basic;
    if (lazy.JxlDecoderGetBasicInfo(reader->decoder, &basic) != JXL_DEC_SUCCESS) return false;
    calotype_jxl_info *info = &reader->info;
    info->width = basic.xsize;
    info->height = basic.ysize;
    info->bits = basic.bits_per_sample;
    info->is_float = basic.exponent_bits_per_sample > 0;
    info->color_channels = basic.num_color_channels;
    info->has_alpha = basic.alpha_bits > 0;
    info->is_premultiplied = basic.alpha_premultiplied;
    info->is_animated = basic.have_animation;
    info->is_xyb = !basic.uses_original_profile;
    info->orientation = basic.orientation;
    if (basic.have_animation && basic.animation.tps_numerator) {
        info->seconds_per_tick =
            (double)basic.animation.tps_denominator / basic.animation.tps_numerator;
        info->loop_count = basic.animation.num_loops;
    }
    for (uint32_t i = 0; i < basic.num_extra_channels && i < 256; i++) {
        JxlExtraChannelInfo extra;
        if (lazy.JxlDecoderGetExtraChannelInfo(reader->decoder, i, &extra) == JXL_DEC_SUCCESS &&
            extra.type == JXL_CHANNEL_BLACK)
            info->has_black = true;
    }
    return true;
}

// ITU-T H.273 has no code points for custom primaries, white points and gammas.
static bool take_code_points(calotype_jxl_info *info, const JxlColorEncoding *encoding) {
    bool is_gray = encoding->color_space == JXL_COLOR_SPACE_GRAY;
    if (!is_gray && encoding->color_space != JXL_COLOR_SPACE_RGB) return false;
    int primaries = 0;
    if (is_gray || encoding->primaries == JXL_PRIMARIES_SRGB)
        primaries = 1;
    else if (encoding->primaries == JXL_PRIMARIES_2100)
        primaries = 9;
    else if (encoding->primaries == JXL_PRIMARIES_P3)
        primaries = encoding->white_point == JXL_WHITE_POINT_DCI ? 11 : 12;
    bool is_white_known = is_gray || encoding->white_point == JXL_WHITE_POINT_D65 ||
                          (primaries == 11 && encoding->white_point == JXL_WHITE_POINT_DCI);
    if (!primaries || !is_white_known) return false;
    switch (encoding->transfer_function) {
    case JXL_TRANSFER_FUNCTION_709:
    case JXL_TRANSFER_FUNCTION_LINEAR:
    case JXL_TRANSFER_FUNCTION_SRGB:
    case JXL_TRANSFER_FUNCTION_PQ:
    case JXL_TRANSFER_FUNCTION_DCI:
    case JXL_TRANSFER_FUNCTION_HLG: break;
    default: return false;
    }
    info->primaries = primaries;
    info->transfer = (int)encoding->transfer_function;
    return true;
}

static bool take_colors(calotype_jxl_reader *reader) {
    JxlPixelFormat format = {3, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
    JxlDecoder *decoder = reader->decoder;
    JxlColorEncoding encoding;
    memset(&encoding, 0, sizeof encoding);
    bool is_encoded =
        lazy.JxlDecoderGetColorAsEncodedProfile(decoder, &format, JXL_COLOR_PROFILE_TARGET_DATA,
                                           &encoding) == JXL_DEC_SUCCESS;
    if (is_encoded && take_code_points(&reader->info, &encoding)) return true;
    if (!is_encoded && reader->info.is_xyb) {
        // XYB images can be decoded to sRGB, whatever their original colour space.
        encoding.color_space =
            reader->info.color_channels == 1 ? JXL_COLOR_SPACE_GRAY : JXL_COLOR_SPACE_RGB;
        encoding.white_point = JXL_WHITE_POINT_D65;
        encoding.primaries = JXL_PRIMARIES_SRGB;
        encoding.transfer_function = JXL_TRANSFER_FUNCTION_SRGB;
        encoding.rendering_intent = JXL_RENDERING_INTENT_PERCEPTUAL;
        if (lazy.JxlDecoderSetPreferredColorProfile(decoder, &encoding) == JXL_DEC_SUCCESS &&
            lazy.JxlDecoderGetColorAsEncodedProfile(decoder, &format, JXL_COLOR_PROFILE_TARGET_DATA,
                                               &encoding) == JXL_DEC_SUCCESS &&
            take_code_points(&reader->info, &encoding))
            return true;
    }
    size_t count = 0;
    if (lazy.JxlDecoderGetICCProfileSize(decoder, &format, JXL_COLOR_PROFILE_TARGET_DATA, &count) !=
            JXL_DEC_SUCCESS ||
        count == 0)
        return true;
    reader->icc = malloc(count);
    if (!reader->icc) return false;
    if (lazy.JxlDecoderGetColorAsICCProfile(decoder, &format, JXL_COLOR_PROFILE_TARGET_DATA,
                                       reader->icc, count) == JXL_DEC_SUCCESS)
        reader->info.icc_count = count;
    return true;
}

static calotype_jxl_status status_of(JxlDecoderStatus status) {
    switch (status) {
    case JXL_DEC_SUCCESS: return calotype_jxl_no_more;
    case JXL_DEC_NEED_MORE_INPUT: return calotype_jxl_truncated;
    default: return calotype_jxl_malformed;
    }
}

static void lend(calotype_jxl_reader *reader, const uint8_t *bytes, size_t count) {
    if (reader->position > count) reader->position = count;
    lazy.JxlDecoderSetInput(reader->decoder, bytes + reader->position, count - reader->position);
}

static calotype_jxl_status give_back(calotype_jxl_reader *reader, size_t count,
                                     calotype_jxl_status status) {
    reader->position = count - lazy.JxlDecoderReleaseInput(reader->decoder);
    return status;
}

calotype_jxl_status calotype_jxl_reader_parse(calotype_jxl_reader *reader, const uint8_t *bytes,
                                              size_t count) {
    lend(reader, bytes, count);
    for (;;) {
        JxlDecoderStatus status = lazy.JxlDecoderProcessInput(reader->decoder);
        switch (status) {
        case JXL_DEC_BASIC_INFO:
            if (!take_info(reader)) return give_back(reader, count, calotype_jxl_malformed);
            break;
        case JXL_DEC_COLOR_ENCODING:
            return give_back(reader, count,
                             take_colors(reader) ? calotype_jxl_ok : calotype_jxl_failed);
        case JXL_DEC_SUCCESS: return give_back(reader, count, calotype_jxl_malformed);
        default: return give_back(reader, count, status_of(status));
        }
    }
}

calotype_jxl_status calotype_jxl_reader_next(calotype_jxl_reader *reader, const uint8_t *bytes,
                                             size_t count, int channels, bool is_wide) {
    JxlPixelFormat format = {(uint32_t)channels, is_wide ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8,
                             JXL_NATIVE_ENDIAN, 0};
    lend(reader, bytes, count);
    for (;;) {
        JxlDecoderStatus status = lazy.JxlDecoderProcessInput(reader->decoder);
        JxlFrameHeader header;
        size_t size = 0;
        switch (status) {
        case JXL_DEC_FRAME:
            reader->ticks = 0;
            if (lazy.JxlDecoderGetFrameHeader(reader->decoder, &header) == JXL_DEC_SUCCESS)
                reader->ticks = header.duration;
            break;
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
            if (lazy.JxlDecoderImageOutBufferSize(reader->decoder, &format, &size) !=
                JXL_DEC_SUCCESS)
                return give_back(reader, count, calotype_jxl_unsupported);
            if (size != (size_t)reader->info.width * reader->info.height * (size_t)channels *
                            (is_wide ? 2 : 1))
                return give_back(reader, count, calotype_jxl_malformed);
            if (!reader->pixels) reader->pixels = malloc(size);
            if (!reader->pixels) return give_back(reader, count, calotype_jxl_failed);
            if (lazy.JxlDecoderSetImageOutBuffer(reader->decoder, &format, reader->pixels, size) !=
                JXL_DEC_SUCCESS)
                return give_back(reader, count, calotype_jxl_unsupported);
            break;
        case JXL_DEC_FULL_IMAGE: return give_back(reader, count, calotype_jxl_ok);
        default: return give_back(reader, count, status_of(status));
        }
    }
}

bool calotype_jxl_reader_flush(calotype_jxl_reader *reader) {
    return reader->pixels && lazy.JxlDecoderFlushImage(reader->decoder) == JXL_DEC_SUCCESS;
}

calotype_jxl_status calotype_jxl_count_frames(const uint8_t *bytes, size_t count, int limit,
                                              int *frames) {
    JxlDecoder *decoder = lazy.JxlDecoderCreate(NULL);
    if (!decoder) return calotype_jxl_failed;
    lazy.JxlDecoderSubscribeEvents(decoder, JXL_DEC_FRAME);
    lazy.JxlDecoderSetInput(decoder, bytes, count);
    JxlDecoderStatus status;
    *frames = 0;
    while ((status = lazy.JxlDecoderProcessInput(decoder)) == JXL_DEC_FRAME && *frames < limit)
        ++*frames;
    lazy.JxlDecoderDestroy(decoder);
    return status == JXL_DEC_FRAME || status == JXL_DEC_SUCCESS ? calotype_jxl_ok
                                                                : status_of(status);
}

calotype_jxl_status calotype_jxl_copy_box(const uint8_t *bytes, size_t count, const char *type,
                                          size_t limit, uint8_t **box, size_t *box_count) {
    *box = NULL;
    *box_count = 0;
    JxlDecoder *decoder = lazy.JxlDecoderCreate(NULL);
    if (!decoder) return calotype_jxl_failed;
    calotype_jxl_status result = calotype_jxl_ok;
    size_t capacity = 0;
    bool is_wanted = false;
    lazy.JxlDecoderSubscribeEvents(decoder, JXL_DEC_BOX);
    lazy.JxlDecoderSetDecompressBoxes(decoder, JXL_TRUE);
    lazy.JxlDecoderSetInput(decoder, bytes, count);
    lazy.JxlDecoderCloseInput(decoder);
    for (;;) {
        JxlDecoderStatus status = lazy.JxlDecoderProcessInput(decoder);
        if (is_wanted && status != JXL_DEC_BOX_NEED_MORE_OUTPUT) {
            *box_count = capacity - lazy.JxlDecoderReleaseBoxBuffer(decoder);
            break;
        }
        if (status == JXL_DEC_BOX) {
            JxlBoxType found;
            if (lazy.JxlDecoderGetBoxType(decoder, found, JXL_TRUE) != JXL_DEC_SUCCESS) break;
            if (memcmp(found, type, 4) != 0) continue;
            is_wanted = true;
            capacity = 4096;
            *box = malloc(capacity);
            if (!*box) result = calotype_jxl_failed;
            if (!*box || lazy.JxlDecoderSetBoxBuffer(decoder, *box, capacity) != JXL_DEC_SUCCESS)
                break;
        } else if (status == JXL_DEC_BOX_NEED_MORE_OUTPUT) {
            size_t rest = lazy.JxlDecoderReleaseBoxBuffer(decoder);
            size_t used = capacity - rest;
            if (capacity > limit) {
                *box_count = capacity;
                break;
            }
            capacity *= 2;
            uint8_t *larger = realloc(*box, capacity);
            if (!larger) {
                result = calotype_jxl_failed;
                break;
            }
            *box = larger;
            if (lazy.JxlDecoderSetBoxBuffer(decoder, larger + used, capacity - used) !=
                JXL_DEC_SUCCESS)
                break;
        } else {
            break;
        }
    }
    lazy.JxlDecoderDestroy(decoder);
    return result;
}

calotype_jxl_status calotype_jxl_copy_jpeg(const uint8_t *bytes, size_t count, size_t limit,
                                           uint8_t **jpeg, size_t *jpeg_count) {
    *jpeg = NULL;
    *jpeg_count = 0;
    JxlDecoder *decoder = lazy.JxlDecoderCreate(NULL);
    if (!decoder) return calotype_jxl_failed;
    calotype_jxl_status result = calotype_jxl_unsupported;
    size_t capacity = 0;
    lazy.JxlDecoderSubscribeEvents(decoder, JXL_DEC_JPEG_RECONSTRUCTION | JXL_DEC_FULL_IMAGE);
    lazy.JxlDecoderSetInput(decoder, bytes, count);
    lazy.JxlDecoderCloseInput(decoder);
    for (;;) {
        JxlDecoderStatus status = lazy.JxlDecoderProcessInput(decoder);
        if (status == JXL_DEC_JPEG_RECONSTRUCTION || status == JXL_DEC_JPEG_NEED_MORE_OUTPUT) {
            size_t used = capacity ? capacity - lazy.JxlDecoderReleaseJPEGBuffer(decoder) : 0;
            capacity = capacity ? capacity * 2 : 64 << 10;
            uint8_t *larger = capacity / 2 <= limit ? realloc(*jpeg, capacity) : NULL;
            result = larger ? calotype_jxl_malformed : calotype_jxl_failed;
            if (!larger) break;
            *jpeg = larger;
            if (lazy.JxlDecoderSetJPEGBuffer(decoder, larger + used, capacity - used) !=
                JXL_DEC_SUCCESS)
                break;
        } else if (status == JXL_DEC_FULL_IMAGE && capacity) {
            *jpeg_count = capacity - lazy.JxlDecoderReleaseJPEGBuffer(decoder);
            result = calotype_jxl_ok;
            break;
        } else {
            // The decoder requests a pixel buffer if the file contains no JPEG reconstruction data.
            if (status == JXL_DEC_NEED_MORE_INPUT) result = calotype_jxl_truncated;
            if (status == JXL_DEC_ERROR) result = calotype_jxl_malformed;
            break;
        }
    }
    lazy.JxlDecoderDestroy(decoder);
    if (result != calotype_jxl_ok) {
        free(*jpeg);
        *jpeg = NULL;
    }
    return result;
}

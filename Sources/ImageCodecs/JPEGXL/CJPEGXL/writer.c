// SPDX-License-Identifier: Apache-2.0

#include "shim.h"
#include "lazy_library.h"
#include "library.h"

#include <jxl/encode.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS(F) \
    F(JxlColorEncodingSetToSRGB) F(JxlEncoderAddBox) F(JxlEncoderAddImageFrame) \
    F(JxlEncoderAddJPEGFrame) F(JxlEncoderCloseBoxes) F(JxlEncoderCloseInput) \
    F(JxlEncoderCreate) F(JxlEncoderDestroy) F(JxlEncoderFrameSettingsCreate) \
    F(JxlEncoderFrameSettingsSetOption) F(JxlEncoderInitBasicInfo) F(JxlEncoderInitFrameHeader) \
    F(JxlEncoderProcessOutput) F(JxlEncoderSetBasicInfo) F(JxlEncoderSetCodestreamLevel) \
    F(JxlEncoderSetColorEncoding) F(JxlEncoderSetFrameDistance) F(JxlEncoderSetFrameHeader) \
    F(JxlEncoderSetFrameLossless) F(JxlEncoderSetICCProfile) F(JxlEncoderStoreJPEGMetadata) \
    F(JxlEncoderUseBoxes) F(JxlEncoderUseContainer)

CALOTYPE_LAZY_LIBRARY(JXL_LIBRARY, FUNCTIONS)

const char *calotype_jxl_writer_missing(void) { return load_lazily(); }

struct calotype_jxl_writer {
    JxlEncoder *encoder;
    JxlEncoderFrameSettings *settings;
    JxlPixelFormat format;
    bool is_animated;
    uint8_t *output;
};

void calotype_jxl_writer_destroy(calotype_jxl_writer *writer) {
    if (writer->encoder) lazy.JxlEncoderDestroy(writer->encoder);
    free(writer->output);
    free(writer);
}

static calotype_jxl_writer *create(void) {
    calotype_jxl_writer *writer = calloc(1, sizeof *writer);
    if (!writer) return NULL;
    writer->encoder = lazy.JxlEncoderCreate(NULL);
    if (writer->encoder) return writer;
    free(writer);
    return NULL;
}

static const uint8_t *exif_of(const calotype_jxl_settings *settings) {
    return settings->blocks + settings->icc_count;
}

static const uint8_t *xmp_of(const calotype_jxl_settings *settings) {
    return exif_of(settings) + settings->exif_count;
}

static bool set_colors(JxlEncoder *encoder, const calotype_jxl_settings *settings) {
    if (settings->icc_count &&
        lazy.JxlEncoderSetICCProfile(encoder, settings->blocks, settings->icc_count) == JXL_ENC_SUCCESS)
        return true;
    JxlColorEncoding colors;
    lazy.JxlColorEncodingSetToSRGB(&colors, settings->channels < 3);
    switch (settings->primaries) {
    case 9: colors.primaries = JXL_PRIMARIES_2100; break;
    case 11:
        colors.primaries = JXL_PRIMARIES_P3;
        colors.white_point = JXL_WHITE_POINT_DCI;
        break;
    case 12: colors.primaries = JXL_PRIMARIES_P3; break;
    default: break;
    }
    switch (settings->transfer) {
    case 8: colors.transfer_function = JXL_TRANSFER_FUNCTION_LINEAR; break;
    case 16: colors.transfer_function = JXL_TRANSFER_FUNCTION_PQ; break;
    case 17: colors.transfer_function = JXL_TRANSFER_FUNCTION_DCI; break;
    case 18: colors.transfer_function = JXL_TRANSFER_FUNCTION_HLG; break;
    default: break;
    }
    return lazy.JxlEncoderSetColorEncoding(encoder, &colors) == JXL_ENC_SUCCESS;
}

static bool add_boxes(JxlEncoder *encoder, const calotype_jxl_settings *settings) {
    if (!settings->exif_count && !settings->xmp_count) return true;
    if (lazy.JxlEncoderUseBoxes(encoder) != JXL_ENC_SUCCESS) return false;
    bool is_added = true;
    if (settings->exif_count) {
        // The offset of the TIFF header comes first.
        uint8_t *box = calloc(1, settings->exif_count + 4);
        if (!box) return false;
        memcpy(box + 4, exif_of(settings), settings->exif_count);
        is_added = lazy.JxlEncoderAddBox(encoder, "Exif", box, settings->exif_count + 4, JXL_FALSE) ==
                   JXL_ENC_SUCCESS;
        free(box);
    }
    if (settings->xmp_count)
        is_added = is_added && lazy.JxlEncoderAddBox(encoder, "xml ", xmp_of(settings),
                                                settings->xmp_count, JXL_FALSE) ==
                                   JXL_ENC_SUCCESS;
    lazy.JxlEncoderCloseBoxes(encoder);
    return is_added;
}

calotype_jxl_writer *calotype_jxl_writer_create(const calotype_jxl_settings *settings) {
    calotype_jxl_writer *writer = create();
    if (!writer) return NULL;
    JxlEncoder *encoder = writer->encoder;
    bool has_alpha = settings->channels == 2 || settings->channels == 4;
    JxlBasicInfo info;
    lazy.JxlEncoderInitBasicInfo(&info);
    info.xsize = settings->width;
    info.ysize = settings->height;
    info.bits_per_sample = settings->is_wide ? 16 : 8;
    info.num_color_channels = settings->channels < 3 ? 1 : 3;
    info.num_extra_channels = has_alpha;
    info.alpha_bits = has_alpha ? info.bits_per_sample : 0;
    info.uses_original_profile = settings->is_lossless;
    if (settings->is_animated) {
        info.have_animation = JXL_TRUE;
        info.animation.tps_numerator = 1000;
        info.animation.tps_denominator = 1;
        info.animation.num_loops = settings->loop_count;
    }
    writer->is_animated = settings->is_animated;
    writer->format = (JxlPixelFormat){(uint32_t)settings->channels,
                                      settings->is_wide ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8,
                                      JXL_NATIVE_ENDIAN, 0};
    if ((settings->is_wide && settings->is_lossless &&
         lazy.JxlEncoderSetCodestreamLevel(encoder, 10) != JXL_ENC_SUCCESS) ||
        lazy.JxlEncoderSetBasicInfo(encoder, &info) != JXL_ENC_SUCCESS ||
        !set_colors(encoder, settings) || !add_boxes(encoder, settings)) {
        calotype_jxl_writer_destroy(writer);
        return NULL;
    }
    writer->settings = lazy.JxlEncoderFrameSettingsCreate(encoder, NULL);
    lazy.JxlEncoderFrameSettingsSetOption(writer->settings, JXL_ENC_FRAME_SETTING_EFFORT,
                                     settings->effort);
    if (settings->is_lossless)
        lazy.JxlEncoderSetFrameLossless(writer->settings, JXL_TRUE);
    else
        lazy.JxlEncoderSetFrameDistance(writer->settings, settings->distance);
    return writer;
}

calotype_jxl_writer *calotype_jxl_writer_create_from_jpeg(const uint8_t *bytes, size_t count,
                                                          int effort) {
    calotype_jxl_writer *writer = create();
    if (!writer) return NULL;
    lazy.JxlEncoderUseContainer(writer->encoder, JXL_TRUE);
    lazy.JxlEncoderStoreJPEGMetadata(writer->encoder, JXL_TRUE);
    writer->settings = lazy.JxlEncoderFrameSettingsCreate(writer->encoder, NULL);
    lazy.JxlEncoderFrameSettingsSetOption(writer->settings, JXL_ENC_FRAME_SETTING_EFFORT, effort);
    if (lazy.JxlEncoderAddJPEGFrame(writer->settings, bytes, count) == JXL_ENC_SUCCESS)
        return writer;
    calotype_jxl_writer_destroy(writer);
    return NULL;
}

calotype_jxl_status calotype_jxl_writer_add(calotype_jxl_writer *writer, const uint8_t *pixels,
                                            size_t count, uint32_t milliseconds, bool is_last) {
    if (writer->is_animated) {
        JxlFrameHeader header;
        lazy.JxlEncoderInitFrameHeader(&header);
        header.duration = milliseconds;
        if (lazy.JxlEncoderSetFrameHeader(writer->settings, &header) != JXL_ENC_SUCCESS)
            return calotype_jxl_failed;
    }
    JxlEncoderStatus status =
        lazy.JxlEncoderAddImageFrame(writer->settings, &writer->format, pixels, count);
    if (is_last) lazy.JxlEncoderCloseInput(writer->encoder);
    return status == JXL_ENC_SUCCESS ? calotype_jxl_ok : calotype_jxl_failed;
}

calotype_jxl_status calotype_jxl_writer_finish(calotype_jxl_writer *writer,
                                               const uint8_t **bytes, size_t *count) {
    lazy.JxlEncoderCloseInput(writer->encoder);
    size_t capacity = 64 << 10;
    writer->output = malloc(capacity);
    if (!writer->output) return calotype_jxl_failed;
    uint8_t *next = writer->output;
    size_t rest = capacity;
    JxlEncoderStatus status;
    while ((status = lazy.JxlEncoderProcessOutput(writer->encoder, &next, &rest)) ==
           JXL_ENC_NEED_MORE_OUTPUT) {
        size_t used = (size_t)(next - writer->output);
        uint8_t *larger = realloc(writer->output, capacity * 2);
        if (!larger) return calotype_jxl_failed;
        writer->output = larger;
        capacity *= 2;
        next = larger + used;
        rest = capacity - used;
    }
    *bytes = writer->output;
    *count = (size_t)(next - writer->output);
    return status == JXL_ENC_SUCCESS ? calotype_jxl_ok : calotype_jxl_failed;
}

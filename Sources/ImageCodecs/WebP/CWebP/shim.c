// SPDX-License-Identifier: Apache-2.0

#include "shim.h"
#include "lazy_library.h"

#include <stdlib.h>
#include <webp/decode.h>
#include <webp/encode.h>
#include <webp/mux.h>

// libwebpmux depends on libwebp, so the functions of both are found through it.
#define FUNCTIONS(F) \
    F(WebPAnimEncoderAdd) F(WebPAnimEncoderAssemble) F(WebPAnimEncoderDelete) \
    F(WebPAnimEncoderGetError) F(WebPAnimEncoderNewInternal) \
    F(WebPAnimEncoderOptionsInitInternal) F(WebPConfigInitInternal) F(WebPConfigLosslessPreset) \
    F(WebPEncode) F(WebPFree) F(WebPFreeDecBuffer) F(WebPIDecode) F(WebPIDecodedArea) \
    F(WebPIDelete) F(WebPIUpdate) F(WebPInitDecoderConfigInternal) F(WebPMemoryWrite) \
    F(WebPMemoryWriterClear) F(WebPMemoryWriterInit) F(WebPPictureFree) F(WebPPictureImportRGB) \
    F(WebPPictureImportRGBA) F(WebPPictureInitInternal) F(WebPValidateConfig)

CALOTYPE_LAZY_LIBRARY("libwebpmux.so.3", FUNCTIONS)

const char *calotype_webp_missing(void) { return load_lazily(); }

struct calotype_webp_reader {
    WebPDecoderConfig config;
    WebPIDecoder *decoder;
};

calotype_webp_reader *calotype_webp_reader_create(calotype_webp_layout layout,
                                                  bool smooths_blocks) {
    calotype_webp_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    if (!lazy.WebPInitDecoderConfigInternal(&reader->config, WEBP_DECODER_ABI_VERSION)) {
        free(reader);
        return NULL;
    }
    reader->config.output.colorspace = layout == calotype_webp_rgb    ? MODE_RGB
                                       : layout == calotype_webp_rgba ? MODE_RGBA
                                                                      : MODE_YUV;
    reader->config.options.bypass_filtering = !smooths_blocks;
    reader->decoder = lazy.WebPIDecode(NULL, 0, &reader->config);
    if (!reader->decoder) {
        free(reader);
        return NULL;
    }
    return reader;
}

void calotype_webp_reader_destroy(calotype_webp_reader *reader) {
    if (!reader) return;
    lazy.WebPIDelete(reader->decoder);
    lazy.WebPFreeDecBuffer(&reader->config.output);
    free(reader);
}

calotype_webp_status calotype_webp_reader_update(calotype_webp_reader *reader,
                                                 const uint8_t *bytes, size_t count) {
    switch (lazy.WebPIUpdate(reader->decoder, bytes, count)) {
    case VP8_STATUS_OK: return calotype_webp_ok;
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA: return calotype_webp_suspended;
    case VP8_STATUS_UNSUPPORTED_FEATURE: return calotype_webp_unsupported;
    case VP8_STATUS_OUT_OF_MEMORY: return calotype_webp_out_of_memory;
    default: return calotype_webp_malformed;
    }
}

int calotype_webp_reader_row_count(const calotype_webp_reader *reader) {
    int width = 0, height = 0;
    const WebPDecBuffer *area = lazy.WebPIDecodedArea(reader->decoder, NULL, NULL, &width, &height);
    return area ? height : 0;
}

int calotype_webp_reader_width(const calotype_webp_reader *reader) { return reader->config.output.width; }

int calotype_webp_reader_height(const calotype_webp_reader *reader) {
    return reader->config.output.height;
}

const uint8_t *calotype_webp_reader_row(const calotype_webp_reader *reader, int plane, int y) {
    const WebPDecBuffer *output = &reader->config.output;
    if (WebPIsRGBMode(output->colorspace)) {
        const WebPRGBABuffer *buffer = &output->u.RGBA;
        return buffer->rgba ? buffer->rgba + (ptrdiff_t)y * buffer->stride : NULL;
    }
    const WebPYUVABuffer *buffer = &output->u.YUVA;
    const uint8_t *start = plane == 0 ? buffer->y : plane == 1 ? buffer->u : buffer->v;
    int stride = plane == 0 ? buffer->y_stride : plane == 1 ? buffer->u_stride : buffer->v_stride;
    return start ? start + (ptrdiff_t)y * stride : NULL;
}

void calotype_webp_file_free(calotype_webp_file *file) {
    lazy.WebPFree((void *)file->bytes);
    file->bytes = NULL;
    file->count = 0;
}

static const char *message(WebPEncodingError error) {
    switch (error) {
    case VP8_ENC_OK: return "unknown libwebp error";
    case VP8_ENC_ERROR_OUT_OF_MEMORY:
    case VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY: return "out of memory while encoding WebP";
    case VP8_ENC_ERROR_BAD_DIMENSION: return "image size exceeds the WebP format";
    case VP8_ENC_ERROR_PARTITION0_OVERFLOW:
    case VP8_ENC_ERROR_PARTITION_OVERFLOW: return "WebP partition exceeds its maximum size";
    case VP8_ENC_ERROR_FILE_TOO_BIG: return "WebP file exceeds its maximum size";
    default: return "libwebp rejected the image";
    }
}

static bool configure(const calotype_webp_settings *settings, WebPConfig *config) {
    if (!lazy.WebPConfigInitInternal(config, WEBP_PRESET_DEFAULT, 75, WEBP_ENCODER_ABI_VERSION)) return false;
    if (settings->is_lossless) {
        if (!lazy.WebPConfigLosslessPreset(config, settings->effort)) return false;
    } else {
        config->quality = (float)settings->quality;
        // Effort 6 of 9 maps to libwebp's default method, 4.
        config->method = settings->effort * 2 / 3;
        config->use_sharp_yuv = settings->is_sharp;
    }
    config->thread_level = 0;
    return lazy.WebPValidateConfig(config);
}

static const char *import(const calotype_webp_settings *settings, const uint8_t *pixels,
                          size_t bytes_per_row, WebPPicture *picture) {
    if (!lazy.WebPPictureInitInternal(picture, WEBP_ENCODER_ABI_VERSION)) return "incompatible version of libwebp";
    picture->width = settings->width;
    picture->height = settings->height;
    picture->use_argb = settings->is_lossless || settings->is_sharp;
    int stride = (int)bytes_per_row;
    int imported = settings->channels == 4 ? lazy.WebPPictureImportRGBA(picture, pixels, stride)
                                           : lazy.WebPPictureImportRGB(picture, pixels, stride);
    return imported ? NULL : message(picture->error_code);
}

const char *calotype_webp_encode(const calotype_webp_settings *settings, const uint8_t *pixels,
                                 size_t bytes_per_row, calotype_webp_file *file) {
    WebPConfig config;
    WebPPicture picture;
    if (!configure(settings, &config)) return "libwebp rejected the settings";
    const char *problem = import(settings, pixels, bytes_per_row, &picture);
    WebPMemoryWriter writer;
    lazy.WebPMemoryWriterInit(&writer);
    picture.writer = lazy.WebPMemoryWrite;
    picture.custom_ptr = &writer;
    if (!problem && !lazy.WebPEncode(&config, &picture)) problem = message(picture.error_code);
    lazy.WebPPictureFree(&picture);
    if (problem) {
        lazy.WebPMemoryWriterClear(&writer);
        return problem;
    }
    file->bytes = writer.mem;
    file->count = writer.size;
    return NULL;
}

struct calotype_webp_animation {
    calotype_webp_settings settings;
    WebPConfig config;
    WebPAnimEncoder *encoder;
};

calotype_webp_animation *calotype_webp_animation_create(const calotype_webp_settings *settings,
                                                        int loop_count) {
    calotype_webp_animation *animation = calloc(1, sizeof *animation);
    if (!animation) return NULL;
    animation->settings = *settings;
    WebPAnimEncoderOptions options;
    if (configure(settings, &animation->config) && lazy.WebPAnimEncoderOptionsInitInternal(&options, WEBP_MUX_ABI_VERSION)) {
        options.anim_params.loop_count = loop_count;
        options.anim_params.bgcolor = 0;
        options.minimize_size = settings->effort > 8;
        animation->encoder = lazy.WebPAnimEncoderNewInternal(settings->width, settings->height, &options, WEBP_MUX_ABI_VERSION);
    }
    if (animation->encoder) return animation;
    free(animation);
    return NULL;
}

void calotype_webp_animation_destroy(calotype_webp_animation *animation) {
    if (!animation) return;
    lazy.WebPAnimEncoderDelete(animation->encoder);
    free(animation);
}

const char *calotype_webp_animation_add(calotype_webp_animation *animation, const uint8_t *pixels,
                                        size_t bytes_per_row, int milliseconds) {
    WebPPicture picture;
    calotype_webp_settings settings = animation->settings;
    // The animation encoder compares frames as ARGB.
    settings.is_lossless = true;
    const char *problem = import(&settings, pixels, bytes_per_row, &picture);
    if (!problem
        && !lazy.WebPAnimEncoderAdd(animation->encoder, &picture, milliseconds, &animation->config)) {
        problem = lazy.WebPAnimEncoderGetError(animation->encoder);
    }
    lazy.WebPPictureFree(&picture);
    return problem;
}

const char *calotype_webp_animation_finish(calotype_webp_animation *animation, int milliseconds,
                                           calotype_webp_file *file) {
    WebPData data = {NULL, 0};
    if (!lazy.WebPAnimEncoderAdd(animation->encoder, NULL, milliseconds, NULL)
        || !lazy.WebPAnimEncoderAssemble(animation->encoder, &data)) {
        return lazy.WebPAnimEncoderGetError(animation->encoder);
    }
    file->bytes = data.bytes;
    file->count = data.size;
    return NULL;
}

// SPDX-License-Identifier: Apache-2.0

#include "shim.h"
#include "lazy_library.h"
#include "matrix.h"

#include <lcms2.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS(F) \
    F(cmsBuildGamma) F(cmsBuildParametricToneCurve) F(cmsBuildTabulatedToneCurveFloat) \
    F(cmsCloseProfile) F(cmsCreateContext) F(cmsCreateRGBProfileTHR) F(cmsCreateTransformTHR) \
    F(cmsCreate_sRGBProfileTHR) F(cmsDeleteContext) F(cmsDeleteTransform) F(cmsDoTransform) \
    F(cmsEvalToneCurveFloat) F(cmsFreeToneCurve) F(cmsGetColorSpace) F(cmsGetPCS) \
    F(cmsIsMatrixShaper) F(cmsIsTag) F(cmsOpenProfileFromMemTHR) F(cmsReadTag)

CALOTYPE_LAZY_LIBRARY("liblcms2.so.2", FUNCTIONS)

const char *calotype_icc_missing(void) { return load_lazily(); }

// A private context: lcms2's global one is shared by the whole process.
struct calotype_icc_transform {
    cmsContext context;
    /// NULL for grey, and with one of the matrices.
    cmsHTRANSFORM transform;
    /// For RGB of 16 and of 8 bits, of profiles without tables of colours.
    calotype_icc_matrix *matrix;
    calotype_icc_byte_matrix *byte_matrix;
    size_t channel_count;
    uint8_t gray[256];
    /// 65536 entries for 16-bit grey.
    uint16_t *deep_gray;
};

static cmsColorSpaceSignature space_of(calotype_icc_layout layout) {
    switch (layout) {
    case calotype_icc_gray:
    case calotype_icc_gray16: return cmsSigGrayData;
    case calotype_icc_rgb:
    case calotype_icc_rgb16:
    case calotype_icc_rgba:
    case calotype_icc_rgba16:
    case calotype_icc_rgba_float: return cmsSigRgbData;
    default: return cmsSigCmykData;
    }
}

static cmsUInt32Number format_of(calotype_icc_layout layout) {
    switch (layout) {
    case calotype_icc_rgb: return TYPE_RGB_8;
    case calotype_icc_rgba: return TYPE_RGBA_8;
    case calotype_icc_rgb16: return TYPE_RGB_16;
    case calotype_icc_rgba16: return TYPE_RGBA_16;
    case calotype_icc_rgba_float: return TYPE_RGBA_FLT;
    case calotype_icc_cmyk: return TYPE_CMYK_8;
    default: return TYPE_CMYK_8_REV;
    }
}

static cmsUInt32Number result_format_of(calotype_icc_layout layout) {
    bool is_cmyk = layout == calotype_icc_cmyk || layout == calotype_icc_cmyk_inverted;
    return is_cmyk ? TYPE_RGB_8 : format_of(layout);
}

// Grey needs a single curve, so a table of all results is exact; lcms2's conversion through a
// profile connection space is up to ten levels off in the shadows.
static bool make_gray(calotype_icc_transform *result, const cmsToneCurve *from,
                      calotype_icc_layout layout) {
    static const cmsFloat64Number srgb[5] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    cmsToneCurve *to = from ? lazy.cmsBuildParametricToneCurve(result->context, -4, srgb) : NULL;
    if (!to) return false;
    int top = layout == calotype_icc_gray16 ? 65535 : 255;
    if (top > 255) result->deep_gray = malloc(65536 * sizeof *result->deep_gray);
    if (top > 255 && !result->deep_gray) {
        lazy.cmsFreeToneCurve(to);
        return false;
    }
    for (int i = 0; i <= top; i++) {
        float light = lazy.cmsEvalToneCurveFloat(from, (float)i / (float)top);
        float value = lazy.cmsEvalToneCurveFloat(to, light) * (float)top + 0.5f;
        int rounded = value > 0 ? value < (float)top ? (int)value : top : 0;
        if (result->deep_gray)
            result->deep_gray[i] = (uint16_t)rounded;
        else
            result->gray[i] = (uint8_t)rounded;
    }
    lazy.cmsFreeToneCurve(to);
    return true;
}

/// The curves and the primaries of a profile without tables of colours.
typedef struct {
    const cmsToneCurve *light[3];
    /// From light of the result to its signal.
    cmsToneCurve *signal;
    /// In CIE XYZ.
    double from[3][3], to[3][3];
} matrix_shaper;

// The curve of the signal is to be freed.
static bool make_shaper(calotype_icc_transform *result, cmsHPROFILE from, cmsHPROFILE to,
                        matrix_shaper *shaper) {
    static const cmsTagSignature primaries[3] = {cmsSigRedColorantTag, cmsSigGreenColorantTag,
                                                 cmsSigBlueColorantTag};
    static const cmsTagSignature curves[3] = {cmsSigRedTRCTag, cmsSigGreenTRCTag,
                                              cmsSigBlueTRCTag};
    static const cmsFloat64Number srgb[5] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    if (!lazy.cmsIsMatrixShaper(from) || lazy.cmsGetPCS(from) != cmsSigXYZData ||
        lazy.cmsIsTag(from, cmsSigAToB0Tag) || lazy.cmsIsTag(from, cmsSigDToB0Tag))
        return false;
    for (int i = 0; i < 3; i++) {
        const cmsCIEXYZ *source = lazy.cmsReadTag(from, primaries[i]);
        const cmsCIEXYZ *target = lazy.cmsReadTag(to, primaries[i]);
        shaper->light[i] = lazy.cmsReadTag(from, curves[i]);
        if (!shaper->light[i] || !source || !target) return false;
        memcpy(shaper->from[i], (double[3]){source->X, source->Y, source->Z},
               sizeof shaper->from[i]);
        memcpy(shaper->to[i], (double[3]){target->X, target->Y, target->Z}, sizeof shaper->to[i]);
    }
    shaper->signal = lazy.cmsBuildParametricToneCurve(result->context, -4, srgb);
    return shaper->signal != NULL;
}

// lcms2 converts such profiles by their curves and their matrix too, but 16 bits one pixel after the
// other in up to a microsecond, or from a table of colours that is up to 15 of 255 levels off.
static bool make_matrix(calotype_icc_transform *result, const matrix_shaper *shaper) {
    calotype_icc_matrix *matrix = malloc(sizeof *matrix);
    if (!matrix) return false;
    for (int step = 0; step <= calotype_icc_steps; step++) {
        float position = (float)step / calotype_icc_steps;
        for (int i = 0; i < 3; i++)
            matrix->light[i][step] = lazy.cmsEvalToneCurveFloat(shaper->light[i], position);
        float value = lazy.cmsEvalToneCurveFloat(shaper->signal, position);
        matrix->signal[step] = value > 0 ? value < 1 ? value * 65535 : 65535 : 0;
    }
    calotype_icc_matrix_set(matrix, shaper->from, shaper->to);
    result->matrix = matrix;
    return true;
}

static void set_signal(calotype_icc_byte_matrix *matrix, const matrix_shaper *shaper, int step) {
    float light = (float)step / calotype_icc_byte_steps;
    calotype_icc_byte_matrix_set_signal(matrix, step,
                                        lazy.cmsEvalToneCurveFloat(shaper->signal, light));
}

// Sets the signals between two steps; they ascend, so that most need not be computed.
static void set_signals(calotype_icc_byte_matrix *matrix, const matrix_shaper *shaper, int first,
                        int last) {
    if (matrix->signal[first] == matrix->signal[last]) {
        memset(matrix->signal + first, matrix->signal[first], (size_t)(last - first));
    } else if (last - first > 1) {
        int middle = (first + last) / 2;
        set_signal(matrix, shaper, middle);
        set_signals(matrix, shaper, first, middle);
        set_signals(matrix, shaper, middle, last);
    }
}

// The same numbers as lcms2's, which converts each pixel to 16 bits and back.
static bool make_byte_matrix(calotype_icc_transform *result, const matrix_shaper *shaper) {
    calotype_icc_byte_matrix *matrix = malloc(sizeof *matrix);
    if (!matrix) return false;
    float light[3][256];
    for (int i = 0; i < 3; i++)
        for (int byte = 0; byte < 256; byte++)
            light[i][byte] =
                lazy.cmsEvalToneCurveFloat(shaper->light[i], (float)(byte / 255.0));
    if (!calotype_icc_byte_matrix_set(matrix, light, shaper->from, shaper->to)) {
        free(matrix);
        return false;
    }
    set_signal(matrix, shaper, 0);
    set_signal(matrix, shaper, calotype_icc_byte_steps);
    set_signals(matrix, shaper, 0, calotype_icc_byte_steps);
    result->byte_matrix = matrix;
    return true;
}

static bool make_color(calotype_icc_transform *result, cmsHPROFILE from,
                       calotype_icc_layout layout) {
    cmsHPROFILE to = lazy.cmsCreate_sRGBProfileTHR(result->context);
    if (!to) return false;
    cmsUInt32Number flags = cmsFLAGS_COPY_ALPHA;
    bool is_deep = layout == calotype_icc_rgb16 || layout == calotype_icc_rgba16;
    if (is_deep || layout == calotype_icc_rgb || layout == calotype_icc_rgba) {
        bool has_alpha = layout == calotype_icc_rgba || layout == calotype_icc_rgba16;
        result->channel_count = has_alpha ? 4 : 3;
        matrix_shaper shaper = {.signal = NULL};
        bool is_made = make_shaper(result, from, to, &shaper) &&
                       (is_deep ? make_matrix(result, &shaper) : make_byte_matrix(result, &shaper));
        if (shaper.signal) lazy.cmsFreeToneCurve(shaper.signal);
        if (is_made) {
            lazy.cmsCloseProfile(to);
            return true;
        }
        if (is_deep) flags |= cmsFLAGS_NOOPTIMIZE;
    }
    result->transform = lazy.cmsCreateTransformTHR(result->context, from, format_of(layout), to,
                                              result_format_of(layout), INTENT_PERCEPTUAL,
                                              flags);
    lazy.cmsCloseProfile(to);
    return result->transform != NULL;
}

static calotype_icc_transform *create(void) {
    calotype_icc_transform *result = calloc(1, sizeof *result);
    if (!result) return NULL;
    result->context = lazy.cmsCreateContext(NULL, NULL);
    if (result->context) return result;
    free(result);
    return NULL;
}

static calotype_icc_transform *created(calotype_icc_transform *result, bool is_made) {
    if (is_made) return result;
    calotype_icc_transform_destroy(result);
    return NULL;
}

calotype_icc_transform *calotype_icc_transform_create(const uint8_t *profile, size_t count,
                                                      calotype_icc_layout layout) {
    calotype_icc_transform *result = create();
    if (!result) return NULL;
    cmsHPROFILE from =
        lazy.cmsOpenProfileFromMemTHR(result->context, profile, (cmsUInt32Number)count);
    bool is_made = false;
    if (from && lazy.cmsGetColorSpace(from) == space_of(layout))
        is_made = space_of(layout) == cmsSigGrayData
                      ? make_gray(result, lazy.cmsReadTag(from, cmsSigGrayTRCTag), layout)
                      : make_color(result, from, layout);
    if (from) lazy.cmsCloseProfile(from);
    return created(result, is_made);
}

calotype_icc_transform *calotype_icc_transform_create_output(const uint8_t *profile, size_t count) {
    calotype_icc_transform *result = create();
    if (!result) return NULL;
    cmsHPROFILE from = lazy.cmsCreate_sRGBProfileTHR(result->context);
    cmsHPROFILE to = lazy.cmsOpenProfileFromMemTHR(result->context, profile, (cmsUInt32Number)count);
    if (from && to && lazy.cmsGetColorSpace(to) == cmsSigRgbData)
        result->transform =
            lazy.cmsCreateTransformTHR(result->context, from, TYPE_RGBA_FLT, to, TYPE_RGBA_FLT,
                                       INTENT_PERCEPTUAL, cmsFLAGS_COPY_ALPHA);
    if (to) lazy.cmsCloseProfile(to);
    if (from) lazy.cmsCloseProfile(from);
    return created(result, result->transform != NULL);
}

// Takes ownership of the curve.
static calotype_icc_transform *create_from_curve(calotype_icc_transform *result,
                                                 cmsToneCurve *tone, const double xy[8],
                                                 calotype_icc_layout layout) {
    bool is_made = false;
    if (tone && space_of(layout) == cmsSigGrayData) {
        is_made = make_gray(result, tone, layout);
    } else if (tone) {
        cmsCIExyY white = {xy[0], xy[1], 1};
        cmsCIExyYTRIPLE primaries = {
            {xy[2], xy[3], 1}, {xy[4], xy[5], 1}, {xy[6], xy[7], 1}};
        cmsToneCurve *tones[3] = {tone, tone, tone};
        cmsHPROFILE from = lazy.cmsCreateRGBProfileTHR(result->context, &white, &primaries, tones);
        is_made = from && make_color(result, from, layout);
        if (from) lazy.cmsCloseProfile(from);
    }
    if (tone) lazy.cmsFreeToneCurve(tone);
    return created(result, is_made);
}

calotype_icc_transform *calotype_icc_transform_create_calibrated(double gamma,
                                                                 const double xy[8],
                                                                 calotype_icc_layout layout) {
    calotype_icc_transform *result = create();
    if (!result) return NULL;
    return create_from_curve(result, lazy.cmsBuildGamma(result->context, gamma), xy, layout);
}

calotype_icc_transform *calotype_icc_transform_create_curve(const float *curve, size_t count,
                                                            const double xy[8],
                                                            calotype_icc_layout layout) {
    calotype_icc_transform *result = create();
    if (!result) return NULL;
    cmsToneCurve *tone =
        lazy.cmsBuildTabulatedToneCurveFloat(result->context, (cmsUInt32Number)count, curve);
    return create_from_curve(result, tone, xy, layout);
}

void calotype_icc_transform_destroy(calotype_icc_transform *transform) {
    if (transform->transform) lazy.cmsDeleteTransform(transform->transform);
    lazy.cmsDeleteContext(transform->context);
    free(transform->matrix);
    free(transform->byte_matrix);
    free(transform->deep_gray);
    free(transform);
}

void calotype_icc_transform_convert(const calotype_icc_transform *transform, const void *from,
                                    void *to, size_t pixel_count) {
    if (transform->matrix) {
        calotype_icc_matrix_convert(transform->matrix, from, to, pixel_count,
                                    transform->channel_count);
    } else if (transform->byte_matrix) {
        calotype_icc_byte_matrix_convert(transform->byte_matrix, from, to, pixel_count,
                                         transform->channel_count);
    } else if (transform->transform) {
        lazy.cmsDoTransform(transform->transform, from, to, (cmsUInt32Number)pixel_count);
    } else if (transform->deep_gray) {
        const uint16_t *source = from;
        uint16_t *result = to;
        for (size_t i = 0; i < pixel_count; i++) result[i] = transform->deep_gray[source[i]];
    } else {
        const uint8_t *source = from;
        uint8_t *result = to;
        for (size_t i = 0; i < pixel_count; i++) result[i] = transform->gray[source[i]];
    }
}

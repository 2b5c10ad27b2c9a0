// SPDX-License-Identifier: Apache-2.0

#include "shim.h"

#include <lcms2.h>
#include <stdlib.h>

// A context of its own: lcms2's global one is shared by everything in the process.
struct calotype_icc_transform {
    cmsContext context;
    cmsHTRANSFORM transform;
};

static cmsHPROFILE srgb_gray(cmsContext context) {
    static const cmsFloat64Number curve[5] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    cmsToneCurve *tone = cmsBuildParametricToneCurve(context, 4, curve);
    cmsHPROFILE profile = cmsCreateGrayProfileTHR(context, cmsD50_xyY(), tone);
    cmsFreeToneCurve(tone);
    return profile;
}

static cmsColorSpaceSignature space_of(calotype_icc_layout layout) {
    switch (layout) {
    case calotype_icc_gray: return cmsSigGrayData;
    case calotype_icc_rgb:
    case calotype_icc_rgba: return cmsSigRgbData;
    default: return cmsSigCmykData;
    }
}

static cmsUInt32Number format_of(calotype_icc_layout layout) {
    switch (layout) {
    case calotype_icc_gray: return TYPE_GRAY_8;
    case calotype_icc_rgb: return TYPE_RGB_8;
    case calotype_icc_rgba: return TYPE_RGBA_8;
    case calotype_icc_cmyk: return TYPE_CMYK_8;
    default: return TYPE_CMYK_8_REV;
    }
}

static cmsUInt32Number result_format_of(calotype_icc_layout layout) {
    switch (layout) {
    case calotype_icc_gray: return TYPE_GRAY_8;
    case calotype_icc_rgba: return TYPE_RGBA_8;
    default: return TYPE_RGB_8;
    }
}

static calotype_icc_transform *make(cmsContext context, cmsHPROFILE from,
                                    calotype_icc_layout layout) {
    calotype_icc_transform *result = NULL;
    if (from && cmsGetColorSpace(from) == space_of(layout)) {
        cmsHPROFILE to =
            layout == calotype_icc_gray ? srgb_gray(context) : cmsCreate_sRGBProfileTHR(context);
        cmsHTRANSFORM transform =
            to ? cmsCreateTransformTHR(context, from, format_of(layout), to,
                                       result_format_of(layout), INTENT_PERCEPTUAL,
                                       cmsFLAGS_COPY_ALPHA)
               : NULL;
        if (to) cmsCloseProfile(to);
        result = transform ? malloc(sizeof *result) : NULL;
        if (result) {
            result->context = context;
            result->transform = transform;
        } else if (transform) {
            cmsDeleteTransform(transform);
        }
    }
    if (from) cmsCloseProfile(from);
    if (!result) cmsDeleteContext(context);
    return result;
}

calotype_icc_transform *calotype_icc_transform_create(const uint8_t *profile, size_t count,
                                                      calotype_icc_layout layout) {
    cmsContext context = cmsCreateContext(NULL, NULL);
    if (!context) return NULL;
    return make(context, cmsOpenProfileFromMemTHR(context, profile, (cmsUInt32Number)count),
                layout);
}

calotype_icc_transform *calotype_icc_transform_create_calibrated(double gamma,
                                                                 const double xy[8],
                                                                 calotype_icc_layout layout) {
    cmsContext context = cmsCreateContext(NULL, NULL);
    if (!context) return NULL;
    cmsToneCurve *tone = cmsBuildGamma(context, gamma);
    cmsHPROFILE from = NULL;
    if (tone && layout == calotype_icc_gray) {
        from = cmsCreateGrayProfileTHR(context, cmsD50_xyY(), tone);
    } else if (tone) {
        cmsCIExyY white = {xy[0], xy[1], 1};
        cmsCIExyYTRIPLE primaries = {
            {xy[2], xy[3], 1}, {xy[4], xy[5], 1}, {xy[6], xy[7], 1}};
        cmsToneCurve *tones[3] = {tone, tone, tone};
        from = cmsCreateRGBProfileTHR(context, &white, &primaries, tones);
    }
    if (tone) cmsFreeToneCurve(tone);
    return make(context, from, layout);
}

void calotype_icc_transform_destroy(calotype_icc_transform *transform) {
    cmsDeleteTransform(transform->transform);
    cmsDeleteContext(transform->context);
    free(transform);
}

void calotype_icc_transform_convert(const calotype_icc_transform *transform, const uint8_t *from,
                                    uint8_t *to, size_t pixel_count) {
    cmsDoTransform(transform->transform, from, to, (cmsUInt32Number)pixel_count);
}

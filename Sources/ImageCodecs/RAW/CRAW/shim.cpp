// SPDX-License-Identifier: Apache-2.0

#include "shim.h"
#include "lazy_library.h"

#include <libraw/libraw.h>
#include <new>

#define FUNCTIONS(F) \
    F(libraw_adjust_sizes_info_only) F(libraw_close) F(libraw_dcraw_clear_mem) \
    F(libraw_dcraw_make_mem_image) F(libraw_dcraw_process) F(libraw_init) F(libraw_open_buffer) \
    F(libraw_set_dataerror_handler) F(libraw_set_progress_handler) F(libraw_unpack) \
    F(libraw_unpack_thumb)

#define NAME_OF(NUMBER) "libraw_r.so." #NUMBER
#define LIBRARY(NUMBER) NAME_OF(NUMBER)
CALOTYPE_LAZY_LIBRARY(LIBRARY(LIBRAW_SHLIB_CURRENT), FUNCTIONS)

const char *calotype_raw_missing(void) { return load_lazily(); }

struct calotype_raw {
    libraw_data_t *data = nullptr;
    libraw_processed_image_t *image = nullptr;
    bool (*is_stopped)(const void *) = nullptr;
    const void *context = nullptr;
    bool is_truncated = false, is_damaged = false;
};

static calotype_raw_status status_of(int code) {
    switch (code) {
    case LIBRAW_SUCCESS: return calotype_raw_ok;
    case LIBRAW_IO_ERROR: return calotype_raw_truncated;
    case LIBRAW_FILE_UNSUPPORTED:
    case LIBRAW_NOT_IMPLEMENTED:
    case LIBRAW_NO_THUMBNAIL:
    case LIBRAW_UNSUPPORTED_THUMBNAIL:
    case LIBRAW_REQUEST_FOR_NONEXISTENT_IMAGE: return calotype_raw_unsupported;
    case LIBRAW_TOO_BIG: return calotype_raw_too_large;
    case LIBRAW_CANCELLED_BY_CALLBACK: return calotype_raw_stopped;
    case LIBRAW_UNSUFFICIENT_MEMORY:
    case LIBRAW_MEMPOOL_OVERFLOW: return calotype_raw_out_of_memory;
    default: return code > 0 ? calotype_raw_out_of_memory : calotype_raw_malformed;
    }
}

/// Calls `body` and returns its status, or that of its exception.
template <typename Body> static calotype_raw_status guarded(Body body) {
    try {
        return status_of(body());
    } catch (const std::bad_alloc &) {
        return calotype_raw_out_of_memory;
    } catch (...) {
        return calotype_raw_malformed;
    }
}

static void on_data_error(void *context, const char *, const int offset) {
    calotype_raw *raw = static_cast<calotype_raw *>(context);
    if (offset < 0) raw->is_truncated = true;
    else raw->is_damaged = true;
}

static int on_progress(void *context, enum LibRaw_progress, int, int) {
    calotype_raw *raw = static_cast<calotype_raw *>(context);
    return raw->is_stopped && raw->is_stopped(raw->context);
}

calotype_raw *calotype_raw_create(unsigned maximum_megabytes) {
    calotype_raw *raw = new (std::nothrow) calotype_raw;
    if (!raw) return nullptr;
    try {
        raw->data = lazy.libraw_init(LIBRAW_OPIONS_NO_MEMERR_CALLBACK |
                                LIBRAW_OPIONS_NO_DATAERR_CALLBACK);
    } catch (...) {
    }
    if (!raw->data) {
        delete raw;
        return nullptr;
    }
    lazy.libraw_set_dataerror_handler(raw->data, on_data_error, raw);
    lazy.libraw_set_progress_handler(raw->data, on_progress, raw);
    raw->data->params.max_raw_memory_mb = maximum_megabytes;
    return raw;
}

void calotype_raw_destroy(calotype_raw *raw) {
    if (raw->image) lazy.libraw_dcraw_clear_mem(raw->image);
    lazy.libraw_close(raw->data);
    delete raw;
}

calotype_raw_status calotype_raw_open(calotype_raw *raw, const uint8_t *bytes, size_t count) {
    return guarded([&] {
        return lazy.libraw_open_buffer(raw->data, const_cast<uint8_t *>(bytes), count);
    });
}

/// Converts LibRaw's flip (mirroring and transposition by bits, or a rotation in degrees) to EXIF's
/// orientation.
static int orientation_of(int flip) {
    switch ((flip + 3600) % 360) {
    case 270: flip = 5; break;
    case 180: flip = 3; break;
    case 90: flip = 6; break;
    }
    static const int orientations[8] = {1, 2, 4, 3, 5, 8, 6, 7};
    return orientations[flip & 7];
}

calotype_raw_status calotype_raw_get_info(calotype_raw *raw, calotype_raw_info *info) {
    libraw_data_t *data = raw->data;
    info->orientation = orientation_of(data->sizes.flip);
    info->sensor_width = data->sizes.raw_width;
    info->sensor_height = data->sizes.raw_height;
    info->is_mosaic = data->idata.filters != 0;
    info->channels = data->idata.colors == 1 ? 1 : 3;
    info->has_jpeg = data->thumbnail.tformat == LIBRAW_THUMBNAIL_JPEG;
    info->jpeg_width = data->thumbnail.twidth;
    info->jpeg_height = data->thumbnail.theight;
    info->jpeg_count = data->thumbnail.tlength;
    data->params.user_flip = 0;
    calotype_raw_status status =
        guarded([&] { return lazy.libraw_adjust_sizes_info_only(data); });
    info->width = data->sizes.iwidth;
    info->height = data->sizes.iheight;
    return status;
}

const char *calotype_raw_make(const calotype_raw *raw) { return raw->data->idata.make; }
const char *calotype_raw_model(const calotype_raw *raw) { return raw->data->idata.model; }

calotype_raw_status calotype_raw_preview(calotype_raw *raw, const uint8_t **bytes,
                                         size_t *count) {
    calotype_raw_status status = guarded([&] { return lazy.libraw_unpack_thumb(raw->data); });
    if (status != calotype_raw_ok) return status;
    if (raw->data->thumbnail.tformat != LIBRAW_THUMBNAIL_JPEG || !raw->data->thumbnail.thumb)
        return calotype_raw_unsupported;
    *bytes = reinterpret_cast<const uint8_t *>(raw->data->thumbnail.thumb);
    *count = raw->data->thumbnail.tlength;
    return calotype_raw_ok;
}

calotype_raw_status calotype_raw_decode(calotype_raw *raw,
                                        const calotype_raw_settings *settings) {
    libraw_data_t *data = raw->data;
    raw->is_stopped = settings->is_stopped;
    raw->context = settings->context;
    data->params.user_flip = 0;
    data->params.use_camera_wb = 1;
    data->params.output_color = 1;
    data->params.output_bps = 16;
    // The transfer function of sRGB instead of BT.709.
    data->params.gamm[0] = 1 / 2.4;
    data->params.gamm[1] = 12.92;
    data->params.half_size = settings->is_halved;
    if (settings->is_draft) data->params.user_qual = 0;
    calotype_raw_status status = guarded([&] { return lazy.libraw_unpack(data); });
    if (status == calotype_raw_ok)
        status = guarded([&] { return lazy.libraw_dcraw_process(data); });
    if (status != calotype_raw_ok) return status;
    return guarded([&] {
        int code = 0;
        raw->image = lazy.libraw_dcraw_make_mem_image(data, &code);
        if (!raw->image) return code ? code : (int)LIBRAW_UNSUFFICIENT_MEMORY;
        bool is_known = raw->image->type == LIBRAW_IMAGE_BITMAP && raw->image->bits == 16 &&
                        (raw->image->colors == 1 || raw->image->colors == 3);
        return (int)(is_known ? LIBRAW_SUCCESS : LIBRAW_NOT_IMPLEMENTED);
    });
}

bool calotype_raw_is_truncated(const calotype_raw *raw) { return raw->is_truncated; }
bool calotype_raw_is_damaged(const calotype_raw *raw) { return raw->is_damaged; }

const uint16_t *calotype_raw_pixels(const calotype_raw *raw, int *width, int *height,
                                    int *channels) {
    *width = raw->image->width;
    *height = raw->image->height;
    *channels = raw->image->colors;
    return reinterpret_cast<const uint16_t *>(raw->image->data);
}

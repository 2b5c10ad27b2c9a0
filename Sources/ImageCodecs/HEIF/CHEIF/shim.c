// SPDX-License-Identifier: Apache-2.0

#include "shim.h"
#include "lazy_library.h"
#include "zeroed_memory.h"

#include <libheif/heif.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS(F) \
    F(heif_context_alloc) F(heif_context_free) F(heif_context_get_image_handle) \
    F(heif_context_get_list_of_top_level_image_IDs) \
    F(heif_context_get_number_of_top_level_images) F(heif_context_get_primary_image_ID) \
    F(heif_context_get_primary_image_handle) \
    F(heif_context_read_from_memory_without_copy) F(heif_context_set_max_decoding_threads) \
    F(heif_context_set_maximum_image_size_limit) F(heif_decode_image) \
    F(heif_decoding_options_alloc) F(heif_decoding_options_free) \
    F(heif_image_get_bits_per_pixel) F(heif_image_get_bits_per_pixel_range) \
    F(heif_image_get_chroma_format) F(heif_image_get_colorspace) F(heif_image_get_height) \
    F(heif_image_get_nclx_color_profile) F(heif_image_get_plane_readonly) \
    F(heif_image_get_width) F(heif_image_handle_get_height) \
    F(heif_image_handle_get_list_of_metadata_block_IDs) \
    F(heif_image_handle_get_list_of_thumbnail_IDs) F(heif_image_handle_get_luma_bits_per_pixel) \
    F(heif_image_handle_get_metadata) F(heif_image_handle_get_metadata_content_type) \
    F(heif_image_handle_get_metadata_size) F(heif_image_handle_get_nclx_color_profile) \
    F(heif_image_handle_get_raw_color_profile) F(heif_image_handle_get_raw_color_profile_size) \
    F(heif_image_handle_get_thumbnail) F(heif_image_handle_get_width) \
    F(heif_image_handle_has_alpha_channel) F(heif_image_handle_is_premultiplied_alpha) \
    F(heif_image_handle_release) F(heif_image_has_channel) F(heif_image_is_premultiplied_alpha) \
    F(heif_image_release) F(heif_nclx_color_profile_free)

CALOTYPE_LAZY_LIBRARY("libheif.so.1", FUNCTIONS)

const char *calotype_heif_missing(void) { return load_lazily(); }

struct calotype_heif_reader {
    struct heif_context *context;
    struct heif_image_handle *handle;
    struct heif_image_handle *thumbnail;
    struct heif_image *image;
    heif_item_id item;
    char message[256];
};

// libde265 does not write the pixels of missing slices, and libheif does not write those of a grid
// that no tile covers. Neither has an option to change that; libde265 reports such an image as
// decoded.
static void zero_memory(void) {
    calotype_zero_memory_of_library("libheif.so.1");
    calotype_zero_memory_of_library("libde265.so.0");
}

calotype_heif_reader *calotype_heif_reader_create(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    calotype_heif_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    reader->context = lazy.heif_context_alloc();
    // The first context initializes the decoder plugins.
    pthread_once(&once, zero_memory);
    if (!reader->context) {
        free(reader);
        return NULL;
    }
    lazy.heif_context_set_max_decoding_threads(reader->context, 0);
    lazy.heif_context_set_maximum_image_size_limit(reader->context, 65536);
    return reader;
}

static void release(calotype_heif_reader *reader) {
    if (reader->image) lazy.heif_image_release(reader->image);
    if (reader->thumbnail) lazy.heif_image_handle_release(reader->thumbnail);
    if (reader->handle) lazy.heif_image_handle_release(reader->handle);
    reader->image = NULL;
    reader->thumbnail = NULL;
    reader->handle = NULL;
}

void calotype_heif_reader_destroy(calotype_heif_reader *reader) {
    release(reader);
    lazy.heif_context_free(reader->context);
    free(reader);
}

const char *calotype_heif_reader_message(const calotype_heif_reader *reader) {
    return reader->message;
}

static calotype_heif_status status_of(calotype_heif_reader *reader, struct heif_error error) {
    if (error.code == heif_error_Ok) return calotype_heif_ok;
    snprintf(reader->message, sizeof reader->message, "%s",
             error.message ? error.message : "unknown error");
    if (error.subcode == heif_suberror_End_of_data) return calotype_heif_truncated;
    switch (error.code) {
    case heif_error_Unsupported_filetype:
    case heif_error_Unsupported_feature:
    case heif_error_Plugin_loading_error: return calotype_heif_unsupported;
    case heif_error_Memory_allocation_error:
        return error.subcode == heif_suberror_Security_limit_exceeded ? calotype_heif_malformed
                                                                      : calotype_heif_failed;
    case heif_error_Usage_error: return calotype_heif_failed;
    default: return calotype_heif_malformed;
    }
}

calotype_heif_status calotype_heif_reader_parse(calotype_heif_reader *reader,
                                                const uint8_t *bytes, size_t count) {
    return status_of(reader, lazy.heif_context_read_from_memory_without_copy(reader->context, bytes,
                                                                       count, NULL));
}

// Returns the primary item and then the other top-level images; the caller frees them. The primary
// item is not a top-level image if it is also a thumbnail.
static heif_item_id *list_items(const calotype_heif_reader *reader, int *count) {
    int total = lazy.heif_context_get_number_of_top_level_images(reader->context);
    heif_item_id *items = calloc((size_t)total + 1, sizeof *items);
    *count = 0;
    if (!items) return NULL;
    if (lazy.heif_context_get_primary_image_ID(reader->context, items).code == heif_error_Ok)
        *count = 1;
    total = lazy.heif_context_get_list_of_top_level_image_IDs(reader->context, items + 1, total);
    for (int i = 1; i <= total; i++)
        if (items[i] != items[0]) items[(*count)++] = items[i];
    return items;
}

int calotype_heif_reader_count(calotype_heif_reader *reader) {
    int count;
    free(list_items(reader, &count));
    return count;
}

calotype_heif_status calotype_heif_reader_select(calotype_heif_reader *reader, int index) {
    release(reader);
    heif_item_id primary = 0;
    calotype_heif_status status =
        status_of(reader, lazy.heif_context_get_primary_image_ID(reader->context, &primary));
    if (status != calotype_heif_ok) return status;
    int count;
    heif_item_id *items = list_items(reader, &count);
    if (!items) return calotype_heif_failed;
    reader->item = index < count ? items[index] : primary;
    free(items);
    status = status_of(
        reader,
        reader->item == primary
            ? lazy.heif_context_get_primary_image_handle(reader->context, &reader->handle)
            : lazy.heif_context_get_image_handle(reader->context, reader->item, &reader->handle));
    heif_item_id thumbnail;
    if (status == calotype_heif_ok &&
        lazy.heif_image_handle_get_list_of_thumbnail_IDs(reader->handle, &thumbnail, 1) == 1 &&
        lazy.heif_image_handle_get_thumbnail(reader->handle, thumbnail, &reader->thumbnail).code)
        reader->thumbnail = NULL;
    return status;
}

void calotype_heif_reader_info(const calotype_heif_reader *reader, calotype_heif_info *info) {
    const struct heif_image_handle *handle = reader->handle;
    memset(info, 0, sizeof *info);
    info->item = reader->item;
    info->width = lazy.heif_image_handle_get_width(handle);
    info->height = lazy.heif_image_handle_get_height(handle);
    info->luma_bits = lazy.heif_image_handle_get_luma_bits_per_pixel(handle);
    info->has_alpha = lazy.heif_image_handle_has_alpha_channel(handle);
    info->is_premultiplied = lazy.heif_image_handle_is_premultiplied_alpha(handle);
    info->icc_count = lazy.heif_image_handle_get_raw_color_profile_size(handle);
    info->primaries = info->transfer = 2;
    struct heif_color_profile_nclx *colors = NULL;
    if (lazy.heif_image_handle_get_nclx_color_profile(handle, &colors).code == heif_error_Ok &&
        colors) {
        info->primaries = (int)colors->color_primaries;
        info->transfer = (int)colors->transfer_characteristics;
        lazy.heif_nclx_color_profile_free(colors);
    }
    if (reader->thumbnail) {
        info->thumbnail_width = lazy.heif_image_handle_get_width(reader->thumbnail);
        info->thumbnail_height = lazy.heif_image_handle_get_height(reader->thumbnail);
    }
}

bool calotype_heif_reader_copy_icc(const calotype_heif_reader *reader, uint8_t *bytes) {
    return lazy.heif_image_handle_get_raw_color_profile(reader->handle, bytes).code ==
           heif_error_Ok;
}

static bool metadata_item(const calotype_heif_reader *reader, bool is_exif,
                          heif_item_id *result) {
    heif_item_id items[16];
    int count = lazy.heif_image_handle_get_list_of_metadata_block_IDs(
        reader->handle, is_exif ? "Exif" : "mime", items, 16);
    for (int i = 0; i < count; i++) {
        const char *type =
            lazy.heif_image_handle_get_metadata_content_type(reader->handle, items[i]);
        if (!is_exif && (!type || strcmp(type, "application/rdf+xml") != 0)) continue;
        *result = items[i];
        return true;
    }
    return false;
}

size_t calotype_heif_reader_metadata_count(const calotype_heif_reader *reader, bool is_exif) {
    heif_item_id item;
    if (!metadata_item(reader, is_exif, &item)) return 0;
    return lazy.heif_image_handle_get_metadata_size(reader->handle, item);
}

bool calotype_heif_reader_copy_metadata(const calotype_heif_reader *reader, bool is_exif,
                                        uint8_t *bytes) {
    heif_item_id item;
    return metadata_item(reader, is_exif, &item) &&
           lazy.heif_image_handle_get_metadata(reader->handle, item, bytes).code == heif_error_Ok;
}

static void take_plane(const struct heif_image *image, enum heif_channel channel, int index,
                       calotype_heif_image *picture) {
    if (!lazy.heif_image_has_channel(image, channel)) return;
    picture->planes[index] =
        lazy.heif_image_get_plane_readonly(image, channel, &picture->row_bytes[index]);
    picture->widths[index] = lazy.heif_image_get_width(image, channel);
    picture->heights[index] = lazy.heif_image_get_height(image, channel);
    picture->is_wide[index] = lazy.heif_image_get_bits_per_pixel(image, channel) > 8;
}

calotype_heif_status calotype_heif_reader_decode(calotype_heif_reader *reader,
                                                 bool is_thumbnail, bool is_turned,
                                                 calotype_heif_image *picture) {
    struct heif_decoding_options *options = lazy.heif_decoding_options_alloc();
    if (!options) return calotype_heif_failed;
    options->ignore_transformations = !is_turned;
    struct heif_image_handle *handle = is_thumbnail ? reader->thumbnail : reader->handle;
    struct heif_error error =
        lazy.heif_decode_image(handle, &reader->image, heif_colorspace_undefined,
                               heif_chroma_undefined, options);
    lazy.heif_decoding_options_free(options);
    calotype_heif_status status = status_of(reader, error);
    if (status != calotype_heif_ok) return status;
    struct heif_image *image = reader->image;
    memset(picture, 0, sizeof *picture);
    picture->is_full_range = true;
    picture->primaries = picture->matrix = 2;
    struct heif_color_profile_nclx *colors = NULL;
    if ((lazy.heif_image_get_nclx_color_profile(image, &colors).code == heif_error_Ok ||
         lazy.heif_image_handle_get_nclx_color_profile(handle, &colors).code == heif_error_Ok) &&
        colors) {
        picture->is_full_range = colors->full_range_flag;
        picture->primaries = (int)colors->color_primaries;
        picture->matrix = (int)colors->matrix_coefficients;
        lazy.heif_nclx_color_profile_free(colors);
    }
    picture->is_premultiplied = lazy.heif_image_is_premultiplied_alpha(image);
    switch (lazy.heif_image_get_chroma_format(image)) {
    case heif_chroma_monochrome: break;
    case heif_chroma_420: picture->subsampling = 420; break;
    case heif_chroma_422: picture->subsampling = 422; break;
    case heif_chroma_444: picture->subsampling = 444; break;
    default:
        snprintf(reader->message, sizeof reader->message, "interleaved samples");
        return calotype_heif_unsupported;
    }
    enum heif_channel first = heif_channel_Y;
    if (lazy.heif_image_get_colorspace(image) == heif_colorspace_RGB) {
        picture->matrix = 0;
        picture->is_full_range = true;
        first = heif_channel_G;
        take_plane(image, heif_channel_G, 0, picture);
        take_plane(image, heif_channel_B, 1, picture);
        take_plane(image, heif_channel_R, 2, picture);
    } else {
        take_plane(image, heif_channel_Y, 0, picture);
        if (picture->subsampling) {
            take_plane(image, heif_channel_Cb, 1, picture);
            take_plane(image, heif_channel_Cr, 2, picture);
        }
    }
    take_plane(image, heif_channel_Alpha, 3, picture);
    picture->width = picture->widths[0];
    picture->height = picture->heights[0];
    picture->bits = lazy.heif_image_get_bits_per_pixel_range(image, first);
    picture->alpha_bits =
        picture->planes[3]
            ? lazy.heif_image_get_bits_per_pixel_range(image, heif_channel_Alpha)
            : 8;
    return status;
}

// SPDX-License-Identifier: Apache-2.0

#include "CGStreamerInterop.h"

#include "lazy_library.h"

#include <stdint.h>
#include <stdlib.h>

// GStreamer 1.0, whose structures do not change before 2.0.

typedef struct _GstBuffer GstBuffer;

typedef struct {
    void *memory;
    int flags;
    uint8_t *data;
    size_t size, maxsize;
    void *user_data[4];
    void *reserved[4];
} GstMapInfo;

typedef struct {
    int meta_flags;
    const void *info;
    GstBuffer *buffer;
    int flags;
    int format;
    int id;
    unsigned width, height, n_planes;
    size_t offset[4];
    int stride[4];
} GstVideoMeta;

enum { map_read = 1, memory_readonly = 2 };

int gst_is_initialized(void);
GstBuffer *gst_buffer_new_wrapped_full(int flags, void *data, size_t maxsize, size_t offset, size_t size,
                                       void *owner, void (*release)(void *));
int gst_buffer_map(GstBuffer *buffer, GstMapInfo *info, int flags);
void gst_buffer_unmap(GstBuffer *buffer, GstMapInfo *info);
void *gst_mini_object_ref(void *object);
void gst_mini_object_unref(void *object);
int gst_video_format_from_string(const char *format);
const char *gst_video_format_to_string(int format);
GstVideoMeta *gst_buffer_add_video_meta_full(GstBuffer *buffer, int flags, int format, unsigned width,
                                             unsigned height, unsigned n_planes, const size_t offset[4],
                                             const int stride[4]);
GstVideoMeta *gst_buffer_get_video_meta(GstBuffer *buffer);

#define FUNCTIONS(USE)                                                                                \
    USE(gst_is_initialized) USE(gst_buffer_new_wrapped_full) USE(gst_buffer_map)                      \
    USE(gst_buffer_unmap) USE(gst_mini_object_ref) USE(gst_mini_object_unref)                         \
    USE(gst_video_format_from_string) USE(gst_video_format_to_string)                                 \
    USE(gst_buffer_add_video_meta_full) USE(gst_buffer_get_video_meta)

// The libraries that this one depends on are searched as well.
CALOTYPE_LAZY_LIBRARY("libgstvideo-1.0.so.0", FUNCTIONS)

const char *calotype_gst_missing(void) {
    const char *problem = load_lazily();
    if (problem) return problem;
    return lazy.gst_is_initialized() ? NULL : "gst_init has not been called";
}

void *calotype_gst_buffer(const void *bytes, size_t count, const calotype_gst_layout *layout, void *owner,
                          void (*release)(void *)) {
    int format = lazy.gst_video_format_from_string(layout->format);
    // GST_VIDEO_FORMAT_UNKNOWN
    if (format == 0) return NULL;
    GstBuffer *buffer =
        lazy.gst_buffer_new_wrapped_full(memory_readonly, (void *)bytes, count, 0, count, owner, release);
    lazy.gst_buffer_add_video_meta_full(buffer, 0, format, layout->width, layout->height, layout->plane_count,
                                        layout->offsets, layout->strides);
    return buffer;
}

struct calotype_gst_mapping {
    GstBuffer *buffer;
    GstMapInfo info;
};

calotype_gst_mapping *calotype_gst_map(void *buffer, const void **bytes, size_t *count,
                                       calotype_gst_layout *layout) {
    calotype_gst_mapping *mapping = calloc(1, sizeof *mapping);
    if (!mapping) return NULL;
    if (!lazy.gst_buffer_map(buffer, &mapping->info, map_read)) {
        free(mapping);
        return NULL;
    }
    mapping->buffer = lazy.gst_mini_object_ref(buffer);
    *bytes = mapping->info.data;
    *count = mapping->info.size;
    const GstVideoMeta *meta = lazy.gst_buffer_get_video_meta(buffer);
    if (meta) {
        layout->format = lazy.gst_video_format_to_string(meta->format);
        layout->width = meta->width;
        layout->height = meta->height;
        layout->plane_count = meta->n_planes;
        for (int plane = 0; plane < calotype_gst_plane_count; plane++) {
            layout->offsets[plane] = meta->offset[plane];
            layout->strides[plane] = meta->stride[plane];
        }
    }
    return mapping;
}

void calotype_gst_unmap(calotype_gst_mapping *mapping) {
    lazy.gst_buffer_unmap(mapping->buffer, &mapping->info);
    lazy.gst_mini_object_unref(mapping->buffer);
    free(mapping);
}

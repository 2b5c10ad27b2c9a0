// SPDX-License-Identifier: Apache-2.0
//
// Buffers of GStreamer 1.0 in memory of the caller. GStreamer is loaded when it is first needed.

#ifndef CALOTYPE_CGSTREAMERINTEROP_H
#define CALOTYPE_CGSTREAMERINTEROP_H

#include <stdbool.h>
#include <stddef.h>

enum { calotype_gst_plane_count = 4 };

/// The layout of a video frame, as in GstVideoMeta.
typedef struct {
    /// Static memory; NULL for a buffer without GstVideoMeta.
    const char *format;
    unsigned width, height, plane_count;
    size_t offsets[calotype_gst_plane_count];
    int strides[calotype_gst_plane_count];
} calotype_gst_layout;

/// Returns NULL, or the reason why GStreamer cannot be used.
const char *calotype_gst_missing(void);

/// Creates a GstBuffer of read-only memory with a GstVideoMeta; `release` is called with `owner` when the last
/// reference to the memory is gone. Returns NULL on failure, and does not call `release` then.
void *calotype_gst_buffer(const void *bytes, size_t count, const calotype_gst_layout *layout, void *owner,
                          void (*release)(void *));

/// A buffer that is mapped for reading.
typedef struct calotype_gst_mapping calotype_gst_mapping;

/// Adds a reference to a GstBuffer and maps it. Returns NULL on failure.
calotype_gst_mapping *calotype_gst_map(void *buffer, const void **bytes, size_t *count,
                                       calotype_gst_layout *layout);
void calotype_gst_unmap(calotype_gst_mapping *mapping);

#endif

// SPDX-License-Identifier: Apache-2.0

#include "CGDKInterop.h"

#include "lazy_library.h"

void *g_bytes_new_with_free_func(const void *bytes, size_t count, void (*release)(void *), void *owner);
void g_bytes_unref(void *bytes);
void *gdk_memory_texture_new(int width, int height, int format, void *bytes, size_t stride);

#define FUNCTIONS(USE) USE(g_bytes_new_with_free_func) USE(g_bytes_unref) USE(gdk_memory_texture_new)

// The libraries that this one depends on are searched as well.
CALOTYPE_LAZY_LIBRARY("libgtk-4.so.1", FUNCTIONS)

const char *calotype_gdk_missing(void) { return load_lazily(); }

void *calotype_gdk_texture(const void *bytes, size_t count, int width, int height, size_t stride, int format,
                           void *owner, void (*release)(void *)) {
    void *memory = lazy.g_bytes_new_with_free_func(bytes, count, release, owner);
    void *texture = lazy.gdk_memory_texture_new(width, height, format, memory, stride);
    // The texture keeps the memory.
    lazy.g_bytes_unref(memory);
    return texture;
}

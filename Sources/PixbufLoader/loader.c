// SPDX-License-Identifier: Apache-2.0
//
// A loader of GdkPixbuf over libcalotype: scripts/pixbuf-loaders compiles it once for each format, because GdkPixbuf
// reads the name and the signatures of one format from each module.
//
// The size is reported as soon as the header is complete, and nothing is decoded before the end of the file: then the
// caller has chosen the size of the result, which is upright, in sRGB. Animations are still images of their first frame.
//
// There is none for JPEG and PNG: GdkPixbuf contains loaders of these and prefers them to modules. Where it recognizes
// files by their media type, formats that the system has no media type for, such as QOI, would not be found.

#define GDK_PIXBUF_ENABLE_BACKEND
#include <calotype.h>
#include <gdk-pixbuf/gdk-pixbuf.h>
#include <gmodule.h>
#include <string.h>

// Headers are tried when this many bytes exist, then each time four times as many; metadata may precede the size.
enum { FIRST_TRIAL = 4096, TRIAL_FACTOR = 4 };

struct context {
    GdkPixbufModuleSizeFunc size_function;
    GdkPixbufModulePreparedFunc prepared_function;
    GdkPixbufModuleUpdatedFunc updated_function;
    gpointer user_data;
    GByteArray *bytes;
    guint next_trial;
    // The width of the image and the size of the result; 0 until the header has been read.
    int full_width;
    int width, height;
};

static void set_error(GError **error, const calotype_error *reason) {
    gint code = GDK_PIXBUF_ERROR_FAILED;
    switch (reason->status) {
    case CALOTYPE_UNKNOWN_FORMAT: code = GDK_PIXBUF_ERROR_UNKNOWN_TYPE; break;
    case CALOTYPE_DAMAGED:
    case CALOTYPE_TRUNCATED: code = GDK_PIXBUF_ERROR_CORRUPT_IMAGE; break;
    case CALOTYPE_UNSUPPORTED:
    case CALOTYPE_NOT_BUILT_IN: code = GDK_PIXBUF_ERROR_UNSUPPORTED_OPERATION; break;
    case CALOTYPE_LIMIT_EXCEEDED: code = GDK_PIXBUF_ERROR_INSUFFICIENT_MEMORY; break;
    }
    g_set_error_literal(error, GDK_PIXBUF_ERROR, code, reason->message);
}

static gpointer begin_load(GdkPixbufModuleSizeFunc size_function, GdkPixbufModulePreparedFunc prepared_function,
                           GdkPixbufModuleUpdatedFunc updated_function, gpointer user_data, GError **error) {
    (void)error;
    struct context *context = g_new0(struct context, 1);
    context->size_function = size_function;
    context->prepared_function = prepared_function;
    context->updated_function = updated_function;
    context->user_data = user_data;
    context->bytes = g_byte_array_new();
    context->next_trial = FIRST_TRIAL;
    return context;
}

// Reports the size of the header and stores the size of the result.
static gboolean read_header(struct context *context, calotype_source *source, calotype_header *header,
                            GError **error) {
    calotype_error reason;
    header->struct_size = sizeof *header;
    if (calotype_source_header(source, header, &reason)) {
        set_error(error, &reason);
        return FALSE;
    }
    if (context->full_width == 0) {
        context->full_width = context->width = (int)header->width;
        context->height = (int)header->height;
        if (context->size_function) context->size_function(&context->width, &context->height, context->user_data);
    }
    if (context->width > 0 && context->height > 0) return TRUE;
    // A caller that only asked for the size.
    g_set_error(error, GDK_PIXBUF_ERROR, GDK_PIXBUF_ERROR_FAILED, "invalid size of the result: %d × %d",
                context->width, context->height);
    return FALSE;
}

static calotype_status open_bytes(struct context *context, calotype_source **source, calotype_error *error) {
    return calotype_open_bytes(context->bytes->data, context->bytes->len, NULL, NULL, source, error);
}

static gboolean load_increment(gpointer data, const guchar *bytes, guint count, GError **error) {
    struct context *context = data;
    if (count > G_MAXUINT - context->bytes->len) {
        g_set_error_literal(error, GDK_PIXBUF_ERROR, GDK_PIXBUF_ERROR_INSUFFICIENT_MEMORY,
                            "the file is larger than 4 GiB");
        return FALSE;
    }
    g_byte_array_append(context->bytes, bytes, count);
    if (context->full_width > 0 || context->bytes->len < context->next_trial) return TRUE;
    context->next_trial = context->bytes->len > G_MAXUINT / TRIAL_FACTOR ? G_MAXUINT
                                                                         : context->bytes->len * TRIAL_FACTOR;
    calotype_source *source = NULL;
    // An error may be due to the missing bytes.
    if (open_bytes(context, &source, NULL)) return TRUE;
    calotype_header header;
    gboolean result = read_header(context, source, &header, error);
    calotype_source_release(source);
    return result;
}

// Divides colours by alpha.
static void unpremultiply(guchar *rows, size_t bytes_per_row, int width, int height) {
    for (int y = 0; y < height; y++) {
        guchar *pixel = rows + (size_t)y * bytes_per_row;
        for (int x = 0; x < width; x++, pixel += 4) {
            const unsigned alpha = pixel[3];
            if (alpha == 0 || alpha == 255) continue;
            for (int i = 0; i < 3; i++) {
                const unsigned value = (pixel[i] * 255u + alpha / 2) / alpha;
                pixel[i] = (guchar)(value > 255 ? 255 : value);
            }
        }
    }
}

static GdkPixbuf *decoded(struct context *context, calotype_source *source, const calotype_header *header,
                          GError **error) {
    const gboolean has_alpha = header->has_alpha != 0;
    GdkPixbuf *pixbuf = gdk_pixbuf_new(GDK_COLORSPACE_RGB, has_alpha, 8, context->width, context->height);
    if (!pixbuf) {
        g_set_error(error, GDK_PIXBUF_ERROR, GDK_PIXBUF_ERROR_INSUFFICIENT_MEMORY,
                    "no memory for an image of %d × %d pixels", context->width, context->height);
        return NULL;
    }
    calotype_decode_options options = {.struct_size = sizeof options, .flags = CALOTYPE_ALLOW_ENLARGING};
    // A reduced image has no more colour resolution than most files.
    if (context->width * 2 <= context->full_width) options.flags |= CALOTYPE_HALF_CHROMA;
    const calotype_pixels pixels = {.struct_size = sizeof pixels,
                                    .data = gdk_pixbuf_get_pixels(pixbuf),
                                    .bytes_per_row = (size_t)gdk_pixbuf_get_rowstride(pixbuf),
                                    .width = (uint32_t)context->width,
                                    .height = (uint32_t)context->height,
                                    .format = has_alpha ? CALOTYPE_RGBA8 : CALOTYPE_RGB8};
    calotype_error reason;
    if (calotype_decode_into(source, &options, NULL, &pixels, gdk_pixbuf_get_byte_length(pixbuf), &reason)) {
        set_error(error, &reason);
        g_object_unref(pixbuf);
        return NULL;
    }
    if (has_alpha) {
        unpremultiply(gdk_pixbuf_get_pixels(pixbuf), pixels.bytes_per_row, context->width, context->height);
    }
    return pixbuf;
}

static gboolean finish(struct context *context, GError **error) {
    calotype_source *source = NULL;
    calotype_error reason;
    if (open_bytes(context, &source, &reason)) {
        set_error(error, &reason);
        return FALSE;
    }
    calotype_header header;
    GdkPixbuf *pixbuf = NULL;
    if (read_header(context, source, &header, error)) pixbuf = decoded(context, source, &header, error);
    calotype_source_release(source);
    if (!pixbuf) return FALSE;
    if (context->prepared_function) context->prepared_function(pixbuf, NULL, context->user_data);
    if (context->updated_function) {
        context->updated_function(pixbuf, 0, 0, context->width, context->height, context->user_data);
    }
    g_object_unref(pixbuf);
    return TRUE;
}

static gboolean stop_load(gpointer data, GError **error) {
    struct context *context = data;
    // The caller that only asked for the size has it, and passes no more bytes.
    GError *reason = NULL;
    gboolean result = finish(context, &reason);
    if (reason) g_propagate_error(error, reason);
    g_byte_array_unref(context->bytes);
    g_free(context);
    return result;
}

G_MODULE_EXPORT void fill_vtable(GdkPixbufModule *module) {
    module->begin_load = begin_load;
    module->load_increment = load_increment;
    module->stop_load = stop_load;
}

// The name, the media types and extensions, and the signatures of the format of this module. In masks, a space compares
// a byte, z requires 0, and x accepts any.
#if defined(CALOTYPE_LOADER_WEBP)
static char name[] = "webp", description[] = "WebP";
static char *media_types[] = {"image/webp", NULL}, *extensions[] = {"webp", NULL};
static GdkPixbufModulePattern signatures[] = {{"RIFFxxxxWEBP", "    xxxx    ", 100}, {NULL, NULL, 0}};
#elif defined(CALOTYPE_LOADER_AVIF)
static char name[] = "avif", description[] = "AVIF";
static char *media_types[] = {"image/avif", "image/avif-sequence", NULL}, *extensions[] = {"avif", "avifs", NULL};
static GdkPixbufModulePattern signatures[] = {
    {"xxxxftypavif", "xxxx        ", 100}, {"xxxxftypavis", "xxxx        ", 100}, {NULL, NULL, 0}};
#elif defined(CALOTYPE_LOADER_HEIF)
static char name[] = "heif", description[] = "HEIF";
static char *media_types[] = {"image/heif", "image/heic", "image/heif-sequence", "image/heic-sequence", NULL};
static char *extensions[] = {"heic", "heif", "hif", NULL};
static GdkPixbufModulePattern signatures[] = {
    {"xxxxftypheic", "xxxx        ", 100}, {"xxxxftypheix", "xxxx        ", 100},
    {"xxxxftyphevc", "xxxx        ", 100}, {"xxxxftypheim", "xxxx        ", 100},
    {"xxxxftypheis", "xxxx        ", 100}, {"xxxxftypmif1", "xxxx        ", 90},
    {"xxxxftypmsf1", "xxxx        ", 90},  {NULL, NULL, 0}};
#elif defined(CALOTYPE_LOADER_JXL)
static char name[] = "jxl", description[] = "JPEG XL";
static char *media_types[] = {"image/jxl", NULL}, *extensions[] = {"jxl", NULL};
static GdkPixbufModulePattern signatures[] = {
    {"\xff\x0a", "  ", 100}, {"xxx\x0cJXL \r\n\x87\n", "zzz         ", 100}, {NULL, NULL, 0}};
#elif defined(CALOTYPE_LOADER_JP2)
static char name[] = "jpeg2000", description[] = "JPEG 2000";
static char *media_types[] = {"image/jp2", "image/jpx", "image/x-jp2-codestream", NULL};
static char *extensions[] = {"jp2", "jpx", "jpf", "j2k", "j2c", NULL};
static GdkPixbufModulePattern signatures[] = {
    {"xxx\x0cjP  \r\n\x87\n", "zzz         ", 100}, {"\xff\x4f\xff\x51", "    ", 100}, {NULL, NULL, 0}};
#else
#error "define the format of the module, such as CALOTYPE_LOADER_WEBP"
#endif

G_MODULE_EXPORT void fill_info(GdkPixbufFormat *info) {
    static char license[] = "Apache-2.0";
    info->name = name;
    info->description = description;
    info->signature = signatures;
    info->mime_types = media_types;
    info->extensions = extensions;
    info->license = license;
    // Modules over libcalotype share no state: GdkPixbuf may call them from several threads.
    info->flags = GDK_PIXBUF_FORMAT_THREADSAFE;
}

// SPDX-License-Identifier: Apache-2.0

#include "shim.h"
#include "lazy_library.h"

#include <stdlib.h>
#include <string.h>

// GLib, librsvg 2.52 or later, cairo and fontconfig, declared as in their manuals.
typedef struct {
    uint32_t domain;
    int code;
    char *message;
} GError;
typedef struct {
    double x, y, width, height;
} RsvgRectangle;
typedef struct {
    double length;
    int unit;
} RsvgLength;
typedef struct _RsvgHandle RsvgHandle;
typedef struct _cairo cairo_t;
typedef struct _cairo_surface cairo_surface_t;

RsvgHandle *rsvg_handle_new_from_data(const uint8_t *data, size_t count, GError **error);
void rsvg_handle_set_dpi(RsvgHandle *handle, double dpi);
int rsvg_handle_get_intrinsic_size_in_pixels(RsvgHandle *handle, double *width, double *height);
void rsvg_handle_get_intrinsic_dimensions(RsvgHandle *handle, int *has_width, RsvgLength *width,
                                          int *has_height, RsvgLength *height, int *has_viewbox,
                                          RsvgRectangle *viewbox);
int rsvg_handle_render_document(RsvgHandle *handle, cairo_t *cr, const RsvgRectangle *viewport,
                                GError **error);
void g_object_unref(void *object);
void g_error_free(GError *error);
void g_log_set_writer_func(int (*writer)(int, const void *, size_t, void *), void *data,
                           void (*destroy)(void *));
cairo_surface_t *cairo_image_surface_create_for_data(unsigned char *data, int format, int width,
                                                     int height, int stride);
void cairo_surface_flush(cairo_surface_t *surface);
void cairo_surface_destroy(cairo_surface_t *surface);
cairo_t *cairo_create(cairo_surface_t *surface);
int cairo_status(cairo_t *cr);
void cairo_destroy(cairo_t *cr);

typedef struct _FcConfig FcConfig;
typedef struct _FcPattern FcPattern;

FcConfig *FcInitLoadConfig(void);
FcConfig *FcInitLoadConfigAndFonts(void);
int FcConfigParseAndLoadFromMemory(FcConfig *config, const unsigned char *text, int complains);
void FcConfigDestroy(FcConfig *config);
int FcConfigSetCurrent(FcConfig *config);
int FcConfigSetRescanInterval(FcConfig *config, int seconds);
int FcConfigAppFontAddFile(FcConfig *config, const unsigned char *file);
int FcConfigSubstitute(FcConfig *config, FcPattern *pattern, int kind);
void FcDefaultSubstitute(FcPattern *pattern);
FcPattern *FcNameParse(const unsigned char *name);
FcPattern *FcFontMatch(FcConfig *config, FcPattern *pattern, int *result);
int FcPatternGetString(const FcPattern *pattern, const char *object, int number,
                       unsigned char **string);
void FcPatternDestroy(FcPattern *pattern);

enum { cairo_format_argb32 = 0, fontconfig_match_pattern = 0, fontconfig_result_match = 0 };

#define FUNCTIONS(F) \
    F(rsvg_handle_new_from_data) F(rsvg_handle_set_dpi) \
    F(rsvg_handle_get_intrinsic_size_in_pixels) F(rsvg_handle_get_intrinsic_dimensions) \
    F(rsvg_handle_render_document) F(g_object_unref) F(g_error_free) \
    F(g_log_set_writer_func) F(cairo_image_surface_create_for_data) F(cairo_surface_flush) \
    F(cairo_surface_destroy) F(cairo_create) F(cairo_status) F(cairo_destroy) \
    F(FcInitLoadConfig) F(FcInitLoadConfigAndFonts) F(FcConfigParseAndLoadFromMemory) \
    F(FcConfigDestroy) F(FcConfigSetCurrent) F(FcConfigSetRescanInterval) \
    F(FcConfigAppFontAddFile) F(FcConfigSubstitute) F(FcDefaultSubstitute) F(FcNameParse) \
    F(FcFontMatch) F(FcPatternGetString) F(FcPatternDestroy)

// Its dependencies contain the functions of the other libraries.
CALOTYPE_LAZY_LIBRARY("librsvg-2.so.2", FUNCTIONS)

const char *calotype_svg_missing(void) { return load_lazily(); }

struct calotype_svg {
    RsvgHandle *handle;
    char message[256];
};

static void fail(calotype_svg *svg, GError *error, const char *otherwise) {
    const char *text = error ? error->message : otherwise;
    strncpy(svg->message, text, sizeof svg->message - 1);
    if (error) lazy.g_error_free(error);
}

static void add_font(FcConfig *all, FcConfig *few, const char *name) {
    FcPattern *pattern = lazy.FcNameParse((const unsigned char *)name);
    if (!pattern) return;
    lazy.FcConfigSubstitute(all, pattern, fontconfig_match_pattern);
    lazy.FcDefaultSubstitute(pattern);
    int result;
    FcPattern *font = lazy.FcFontMatch(all, pattern, &result);
    unsigned char *file;
    if (font && lazy.FcPatternGetString(font, "file", 0, &file) == fontconfig_result_match) {
        lazy.FcConfigAppFontAddFile(few, file);
    }
    if (font) lazy.FcPatternDestroy(font);
    lazy.FcPatternDestroy(pattern);
}

static int keep_quiet(int level, const void *fields, size_t count, void *data) {
    (void)level, (void)fields, (void)count, (void)data;
    return 1;
}

void calotype_svg_prepare(void) {
    // GLib's default writer checks its output stream before it drops a warning.
    lazy.g_log_set_writer_func(keep_quiet, NULL, NULL);
    // As many fonts as cairo keeps open.
    static const char *const names[] = {
        "sans-serif",  "sans-serif:bold", "sans-serif:italic", "sans-serif:bold:italic",
        "serif",       "serif:bold",      "serif:italic",      "monospace",
        "monospace:bold", "sans-serif:lang=zh-cn",
    };
    FcConfig *all = lazy.FcInitLoadConfigAndFonts();
    FcConfig *few = lazy.FcInitLoadConfig();
    // The font substitution rules of the system, without its font folders.
    static const char folders[] = "<fontconfig><reset-dirs/></fontconfig>";
    if (all && few &&
        lazy.FcConfigParseAndLoadFromMemory(few, (const unsigned char *)folders, 0)) {
        for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
            add_font(all, few, names[index]);
        }
        // Without this, fontconfig checks its files for changes again and again.
        lazy.FcConfigSetRescanInterval(few, 0);
        lazy.FcConfigSetCurrent(few);
    } else if (few) {
        lazy.FcConfigDestroy(few);
    }
    if (all) lazy.FcConfigDestroy(all);
}

calotype_svg *calotype_svg_create(const uint8_t *bytes, size_t count) {
    calotype_svg *svg = calloc(1, sizeof *svg);
    if (!svg) return NULL;
    GError *error = NULL;
    // Without a base URL librsvg resolves no reference outside of the document.
    svg->handle = lazy.rsvg_handle_new_from_data(bytes, count, &error);
    if (!svg->handle)
        fail(svg, error, "invalid SVG document");
    else
        lazy.rsvg_handle_set_dpi(svg->handle, 96);
    return svg;
}

void calotype_svg_destroy(calotype_svg *svg) {
    if (svg->handle) lazy.g_object_unref(svg->handle);
    free(svg);
}

const char *calotype_svg_message(const calotype_svg *svg) {
    return svg->message[0] ? svg->message : NULL;
}

bool calotype_svg_size(const calotype_svg *svg, double *width, double *height) {
    if (lazy.rsvg_handle_get_intrinsic_size_in_pixels(svg->handle, width, height)) return true;
    int has_width, has_height, has_viewbox;
    RsvgLength w, h;
    RsvgRectangle viewbox;
    lazy.rsvg_handle_get_intrinsic_dimensions(svg->handle, &has_width, &w, &has_height, &h,
                                         &has_viewbox, &viewbox);
    if (!has_viewbox) return false;
    *width = viewbox.width;
    *height = viewbox.height;
    return true;
}

bool calotype_svg_draw(calotype_svg *svg, uint32_t *pixels, int width, int height) {
    cairo_surface_t *surface = lazy.cairo_image_surface_create_for_data(
        (unsigned char *)pixels, cairo_format_argb32, width, height, width * 4);
    cairo_t *cr = lazy.cairo_create(surface);
    RsvgRectangle viewport = {0, 0, width, height};
    GError *error = NULL;
    bool is_drawn = lazy.cairo_status(cr) == 0 &&
                    lazy.rsvg_handle_render_document(svg->handle, cr, &viewport, &error);
    if (!is_drawn) fail(svg, error, "out of memory while rendering SVG");
    lazy.cairo_surface_flush(surface);
    lazy.cairo_destroy(cr);
    lazy.cairo_surface_destroy(surface);
    return is_drawn;
}

// SPDX-License-Identifier: Apache-2.0
//
// cairo 1.16, Pango 1.50 and fontconfig 2.14 or later, declared as in their manuals, and loaded when they
// are first needed.

#ifndef CALOTYPE_CDRAWING_LIBRARIES_H
#define CALOTYPE_CDRAWING_LIBRARIES_H

#include "lazy_library.h"

#include <stdint.h>

typedef struct _cairo cairo_t;
typedef struct _cairo_surface cairo_surface_t;
typedef struct _cairo_font_options cairo_font_options_t;
typedef struct {
    double xx, yx, xy, yy, x0, y0;
} cairo_matrix_t;

cairo_surface_t *cairo_image_surface_create_for_data(unsigned char *data, int format, int width,
                                                     int height, int stride);
void cairo_surface_set_device_offset(cairo_surface_t *surface, double x, double y);
void cairo_surface_destroy(cairo_surface_t *surface);
cairo_t *cairo_create(cairo_surface_t *surface);
int cairo_status(cairo_t *cr);
const char *cairo_status_to_string(int status);
void cairo_destroy(cairo_t *cr);
void cairo_set_matrix(cairo_t *cr, const cairo_matrix_t *matrix);
void cairo_set_source_rgba(cairo_t *cr, double red, double green, double blue, double alpha);
void cairo_set_fill_rule(cairo_t *cr, int rule);
void cairo_set_tolerance(cairo_t *cr, double tolerance);
void cairo_set_line_width(cairo_t *cr, double width);
void cairo_set_line_cap(cairo_t *cr, int cap);
void cairo_set_line_join(cairo_t *cr, int join);
void cairo_set_miter_limit(cairo_t *cr, double limit);
void cairo_set_dash(cairo_t *cr, const double *dashes, int count, double phase);
void cairo_move_to(cairo_t *cr, double x, double y);
void cairo_line_to(cairo_t *cr, double x, double y);
void cairo_curve_to(cairo_t *cr, double x1, double y1, double x2, double y2, double x3,
                    double y3);
void cairo_close_path(cairo_t *cr);
void cairo_fill(cairo_t *cr);
void cairo_stroke(cairo_t *cr);
cairo_font_options_t *cairo_font_options_create(void);
void cairo_font_options_destroy(cairo_font_options_t *options);
void cairo_font_options_set_antialias(cairo_font_options_t *options, int antialias);
void cairo_font_options_set_hint_style(cairo_font_options_t *options, int style);
void cairo_font_options_set_hint_metrics(cairo_font_options_t *options, int metrics);

enum {
    cairo_format_argb32 = 0,
    cairo_format_a8 = 2,
    cairo_antialias_gray = 2,
    cairo_hint_style_none = 1,
    cairo_hint_metrics_off = 1,
    fontconfig_match_pattern = 0,
};

typedef struct _FcConfig FcConfig;
typedef struct _FcPattern FcPattern;

FcConfig *FcConfigCreate(void);
FcConfig *FcInitLoadConfig(void);
FcConfig *FcInitLoadConfigAndFonts(void);
int FcConfigParseAndLoadFromMemory(FcConfig *config, const unsigned char *text, int complains);
int FcConfigSubstitute(FcConfig *config, FcPattern *pattern, int kind);
void FcDefaultSubstitute(FcPattern *pattern);
FcPattern *FcNameParse(const unsigned char *name);
FcPattern *FcFontMatch(FcConfig *config, FcPattern *pattern, int *result);
int FcPatternGetString(const FcPattern *pattern, const char *object, int number,
                       unsigned char **string);
void FcPatternDestroy(FcPattern *pattern);
void FcConfigDestroy(FcConfig *config);
int FcConfigSetRescanInterval(FcConfig *config, int seconds);
int FcConfigAppFontAddFile(FcConfig *config, const unsigned char *file);
int FcPatternGetBool(const FcPattern *pattern, const char *object, int number, int *result);

typedef struct _PangoFontMap PangoFontMap;
typedef struct _PangoContext PangoContext;
typedef struct _PangoLayout PangoLayout;
typedef struct _PangoLayoutIter PangoLayoutIter;
typedef struct _PangoLayoutLine PangoLayoutLine;
typedef struct _PangoFont PangoFont;
typedef struct _PangoFontDescription PangoFontDescription;
typedef struct _PangoAttrList PangoAttrList;
typedef struct _PangoAttribute PangoAttribute;
typedef struct _PangoLanguage PangoLanguage;
typedef struct {
    int x, y, width, height;
} PangoRectangle;
typedef struct {
    void *shape_engine;
    void *language_engine;
    PangoFont *font;
} PangoAnalysis;
typedef struct {
    int offset, length, character_count;
    PangoAnalysis analysis;
} PangoItem;
typedef struct _PangoGlyphString PangoGlyphString;
typedef struct {
    PangoItem *item;
    PangoGlyphString *glyphs;
} PangoLayoutRun;

enum { pango_scale = 1024, pango_wrap_word_char = 2, pango_ellipsize_end = 3 };

PangoFontMap *pango_cairo_font_map_new(void);
void pango_cairo_font_map_set_resolution(PangoFontMap *map, double dots_per_inch);
void pango_fc_font_map_set_config(PangoFontMap *map, FcConfig *config);
void pango_fc_font_map_shutdown(PangoFontMap *map);
FcPattern *pango_fc_font_get_pattern(PangoFont *font);
PangoContext *pango_font_map_create_context(PangoFontMap *map);
void pango_cairo_context_set_font_options(PangoContext *context,
                                          const cairo_font_options_t *options);
void pango_context_set_round_glyph_positions(PangoContext *context, int rounds);
void pango_context_set_language(PangoContext *context, PangoLanguage *language);
PangoLanguage *pango_language_from_string(const char *language);
PangoLayout *pango_layout_new(PangoContext *context);
void pango_layout_set_text(PangoLayout *layout, const char *text, int count);
PangoFontDescription *pango_font_description_from_string(const char *text);
void pango_font_description_set_absolute_size(PangoFontDescription *description, double size);
void pango_font_description_free(PangoFontDescription *description);
void pango_layout_set_font_description(PangoLayout *layout,
                                       const PangoFontDescription *description);
void pango_layout_set_width(PangoLayout *layout, int width);
void pango_layout_set_height(PangoLayout *layout, int height);
void pango_layout_set_wrap(PangoLayout *layout, int wrap);
void pango_layout_set_ellipsize(PangoLayout *layout, int mode);
void pango_layout_set_alignment(PangoLayout *layout, int alignment);
void pango_layout_set_attributes(PangoLayout *layout, PangoAttrList *attributes);
PangoAttrList *pango_attr_list_new(void);
void pango_attr_list_insert(PangoAttrList *list, PangoAttribute *attribute);
void pango_attr_list_unref(PangoAttrList *list);
PangoAttribute *pango_attr_letter_spacing_new(int spacing);
int pango_layout_get_line_count(PangoLayout *layout);
int pango_layout_is_ellipsized(PangoLayout *layout);
int pango_layout_get_unknown_glyphs_count(PangoLayout *layout);
PangoLayoutIter *pango_layout_get_iter(PangoLayout *layout);
void pango_layout_iter_free(PangoLayoutIter *iterator);
int pango_layout_iter_next_line(PangoLayoutIter *iterator);
int pango_layout_iter_next_run(PangoLayoutIter *iterator);
PangoLayoutLine *pango_layout_iter_get_line_readonly(PangoLayoutIter *iterator);
PangoLayoutRun *pango_layout_iter_get_run_readonly(PangoLayoutIter *iterator);
int pango_layout_iter_get_baseline(PangoLayoutIter *iterator);
void pango_layout_iter_get_line_extents(PangoLayoutIter *iterator, PangoRectangle *ink,
                                        PangoRectangle *logical);
void pango_layout_iter_get_run_extents(PangoLayoutIter *iterator, PangoRectangle *ink,
                                       PangoRectangle *logical);
void pango_cairo_show_layout_line(cairo_t *cr, PangoLayoutLine *line);
void pango_cairo_show_glyph_string(cairo_t *cr, PangoFont *font, PangoGlyphString *glyphs);
void g_object_unref(void *object);

#define FUNCTIONS(F) \
    F(cairo_image_surface_create_for_data) F(cairo_surface_set_device_offset) \
    F(cairo_surface_destroy) F(cairo_create) F(cairo_status) \
    F(cairo_status_to_string) F(cairo_destroy) F(cairo_set_matrix) \
    F(cairo_set_source_rgba) F(cairo_set_fill_rule) F(cairo_set_tolerance) \
    F(cairo_set_line_width) F(cairo_set_line_cap) \
    F(cairo_set_line_join) F(cairo_set_miter_limit) F(cairo_set_dash) F(cairo_move_to) \
    F(cairo_line_to) F(cairo_curve_to) F(cairo_close_path) F(cairo_fill) F(cairo_stroke) \
    F(cairo_font_options_create) F(cairo_font_options_destroy) \
    F(cairo_font_options_set_antialias) F(cairo_font_options_set_hint_style) \
    F(cairo_font_options_set_hint_metrics) F(FcConfigCreate) F(FcInitLoadConfigAndFonts) \
    F(FcConfigDestroy) F(FcConfigSetRescanInterval) F(FcConfigAppFontAddFile) \
    F(FcPatternGetBool) F(FcInitLoadConfig) F(FcConfigParseAndLoadFromMemory) \
    F(FcConfigSubstitute) F(FcDefaultSubstitute) F(FcNameParse) F(FcFontMatch) \
    F(FcPatternGetString) F(FcPatternDestroy) F(pango_cairo_font_map_new) F(pango_cairo_font_map_set_resolution) \
    F(pango_fc_font_map_set_config) F(pango_fc_font_map_shutdown) F(pango_fc_font_get_pattern) \
    F(pango_font_map_create_context) F(pango_cairo_context_set_font_options) \
    F(pango_context_set_round_glyph_positions) \
    F(pango_context_set_language) F(pango_language_from_string) F(pango_layout_new) \
    F(pango_layout_set_text) F(pango_font_description_from_string) \
    F(pango_font_description_set_absolute_size) F(pango_font_description_free) \
    F(pango_layout_set_font_description) F(pango_layout_set_width) F(pango_layout_set_height) \
    F(pango_layout_set_wrap) F(pango_layout_set_ellipsize) F(pango_layout_set_alignment) \
    F(pango_layout_set_attributes) F(pango_attr_list_new) \
    F(pango_attr_list_insert) F(pango_attr_list_unref) F(pango_attr_letter_spacing_new) \
    F(pango_layout_get_line_count) F(pango_layout_is_ellipsized) \
    F(pango_layout_get_unknown_glyphs_count) F(pango_layout_get_iter) \
    F(pango_layout_iter_free) F(pango_layout_iter_next_line) F(pango_layout_iter_next_run) \
    F(pango_layout_iter_get_line_readonly) F(pango_layout_iter_get_run_readonly) \
    F(pango_layout_iter_get_baseline) F(pango_layout_iter_get_line_extents) \
    F(pango_layout_iter_get_run_extents) F(pango_cairo_show_layout_line) \
    F(pango_cairo_show_glyph_string) F(g_object_unref)

#endif

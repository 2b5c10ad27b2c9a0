// SPDX-License-Identifier: Apache-2.0

#include "shim.h"

#include "libraries.h"

#include <stdlib.h>
#include <string.h>

// The libraries that this one depends on are searched as well.
CALOTYPE_LAZY_LIBRARY("libpangocairo-1.0.so.0", FUNCTIONS)

const char *calotype_drawing_missing(void) { return load_lazily(); }

/// Returns a context that draws opaque white into memory.
static cairo_t *create(void *pixels, int format, int stride, calotype_area area) {
    cairo_surface_t *surface = lazy.cairo_image_surface_create_for_data(
        pixels, format, area.width, area.height, stride);
    lazy.cairo_surface_set_device_offset(surface, -area.x, -area.y);
    cairo_t *cr = lazy.cairo_create(surface);
    // The context keeps the surface.
    lazy.cairo_surface_destroy(surface);
    lazy.cairo_set_source_rgba(cr, 1, 1, 1, 1);
    return cr;
}

static void set_matrix(cairo_t *cr, const double values[6]) {
    cairo_matrix_t matrix = {values[0], values[1], values[2], values[3], values[4], values[5]};
    lazy.cairo_set_matrix(cr, &matrix);
}

/// Destroys a context; returns NULL, or the message of its error.
static const char *finish(cairo_t *cr) {
    int status = lazy.cairo_status(cr);
    lazy.cairo_destroy(cr);
    return status == 0 ? NULL : lazy.cairo_status_to_string(status);
}

static void add_path(cairo_t *cr, const calotype_path *path) {
    const double *p = path->coordinates;
    for (size_t i = 0; i < path->verb_count; i++) {
        switch (path->verbs[i]) {
        case calotype_move: lazy.cairo_move_to(cr, p[0], p[1]), p += 2; break;
        case calotype_line: lazy.cairo_line_to(cr, p[0], p[1]), p += 2; break;
        case calotype_curve:
            lazy.cairo_curve_to(cr, p[0], p[1], p[2], p[3], p[4], p[5]);
            p += 6;
            break;
        default: lazy.cairo_close_path(cr); break;
        }
    }
}

static void draw_path(cairo_t *cr, const calotype_path *path) {
    // The largest distance of a curve from its chords, in pixels.
    lazy.cairo_set_tolerance(cr, 0.01);
    lazy.cairo_set_fill_rule(cr, path->is_even_odd);
    add_path(cr, path);
    if (path->is_stroke) {
        lazy.cairo_set_line_width(cr, path->width);
        lazy.cairo_set_line_cap(cr, path->cap);
        lazy.cairo_set_line_join(cr, path->join);
        lazy.cairo_set_miter_limit(cr, path->miter_limit);
        lazy.cairo_set_dash(cr, path->dashes, (int)path->dash_count, path->dash_phase);
        lazy.cairo_stroke(cr);
    } else {
        lazy.cairo_fill(cr);
    }
}

// cairo samples each row of pixels 15 times, and is exact along the row: up to 17 levels off at an edge
// that is nearly horizontal. The mean of four rows reduces that to 5.
enum { subrow_count = 4, largest_band = 1 << 20 };

/// Writes the means of each four rows.
static void reduce(const uint8_t *from, uint8_t *to, calotype_area area) {
    for (int y = 0; y < area.height; y++) {
        const uint8_t *rows = from + (size_t)y * area.stride * subrow_count;
        uint8_t *row = to + (size_t)y * area.stride;
        for (int x = 0; x < area.stride; x++) {
            int sum = subrow_count / 2;
            for (int i = 0; i < subrow_count; i++) sum += rows[x + i * area.stride];
            row[x] = (uint8_t)(sum / subrow_count);
        }
    }
}

const char *calotype_path_draw(const calotype_path *path, calotype_area area, uint8_t *coverage) {
    int band_height = largest_band / (area.stride * subrow_count);
    if (band_height < 1) band_height = 1;
    if (band_height > area.height) band_height = area.height;
    size_t count = (size_t)band_height * area.stride * subrow_count;
    uint8_t *rows = malloc(count);
    if (!rows) return "out of memory";
    const char *problem = NULL;
    for (int top = 0; top < area.height && !problem; top += band_height) {
        calotype_area band = area;
        band.y += top;
        if (band.height - top < band_height) band_height = band.height - top;
        band.height = band_height;
        calotype_area tall = band;
        tall.y *= subrow_count;
        tall.height *= subrow_count;
        memset(rows, 0, count);
        cairo_t *cr = create(rows, cairo_format_a8, area.stride, tall);
        const double *m = path->matrix;
        set_matrix(cr, (double[]){m[0], m[1] * subrow_count, m[2], m[3] * subrow_count, m[4],
                                  m[5] * subrow_count});
        draw_path(cr, path);
        problem = finish(cr);
        reduce(rows, coverage + (size_t)top * area.stride, band);
    }
    free(rows);
    return problem;
}

struct calotype_fonts {
    FcConfig *config;
    PangoFontMap *map;
    PangoContext *context;
};

void calotype_fonts_destroy(calotype_fonts *fonts) {
    if (fonts->context) lazy.g_object_unref(fonts->context);
    if (fonts->map) {
        lazy.pango_fc_font_map_shutdown(fonts->map);
        lazy.g_object_unref(fonts->map);
    }
    if (fonts->config) lazy.FcConfigDestroy(fonts->config);
    free(fonts);
}

/// Adds the file of the font that the rules of the system choose for a name.
static void add_font(FcConfig *all, FcConfig *few, const char *name) {
    FcPattern *pattern = lazy.FcNameParse((const unsigned char *)name);
    if (!pattern) return;
    lazy.FcConfigSubstitute(all, pattern, fontconfig_match_pattern);
    lazy.FcDefaultSubstitute(pattern);
    int result;
    FcPattern *font = lazy.FcFontMatch(all, pattern, &result);
    unsigned char *file;
    if (font && lazy.FcPatternGetString(font, "file", 0, &file) == 0) {
        lazy.FcConfigAppFontAddFile(few, file);
    }
    if (font) lazy.FcPatternDestroy(font);
    lazy.FcPatternDestroy(pattern);
}

static FcConfig *create_few(void) {
    // As many fonts as cairo keeps open.
    static const char *const names[] = {
        "sans-serif",  "sans-serif:bold", "sans-serif:italic", "sans-serif:bold:italic",
        "serif",       "serif:bold",      "serif:italic",      "monospace",
        "sans-serif:lang=zh-cn", "emoji",
    };
    FcConfig *all = lazy.FcInitLoadConfigAndFonts();
    FcConfig *few = lazy.FcInitLoadConfig();
    // The rules of the system, without its font folders.
    static const char folders[] = "<fontconfig><reset-dirs/></fontconfig>";
    if (all && few &&
        lazy.FcConfigParseAndLoadFromMemory(few, (const unsigned char *)folders, 0)) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) add_font(all, few, names[i]);
    } else if (few) {
        lazy.FcConfigDestroy(few);
        few = NULL;
    }
    if (all) lazy.FcConfigDestroy(all);
    return few;
}

/// Takes over the configuration, which may be NULL.
static calotype_fonts *create_fonts(FcConfig *config) {
    calotype_fonts *fonts = calloc(1, sizeof *fonts);
    if (!fonts || !config) {
        if (config) lazy.FcConfigDestroy(config);
        free(fonts);
        return NULL;
    }
    fonts->config = config;
    // A map of its own: the default one is shared by the code of the process.
    fonts->map = lazy.pango_cairo_font_map_new();
    if (!fonts->map) {
        calotype_fonts_destroy(fonts);
        return NULL;
    }
    // Without this, fontconfig checks its files for changes again and again.
    lazy.FcConfigSetRescanInterval(fonts->config, 0);
    lazy.pango_fc_font_map_set_config(fonts->map, fonts->config);
    lazy.pango_cairo_font_map_set_resolution(fonts->map, 72);
    fonts->context = lazy.pango_font_map_create_context(fonts->map);
    cairo_font_options_t *options = lazy.cairo_font_options_create();
    lazy.cairo_font_options_set_antialias(options, cairo_antialias_gray);
    lazy.cairo_font_options_set_hint_style(options, cairo_hint_style_none);
    lazy.cairo_font_options_set_hint_metrics(options, cairo_hint_metrics_off);
    lazy.pango_cairo_context_set_font_options(fonts->context, options);
    lazy.cairo_font_options_destroy(options);
    lazy.pango_context_set_round_glyph_positions(fonts->context, 0);
    return fonts;
}

calotype_fonts *calotype_fonts_create(const char *const *files, size_t count, size_t *failed) {
    *failed = count;
    FcConfig *config = count > 0 ? lazy.FcConfigCreate() : lazy.FcInitLoadConfigAndFonts();
    for (size_t i = 0; i < count && config; i++) {
        if (lazy.FcConfigAppFontAddFile(config, (const unsigned char *)files[i])) continue;
        *failed = i;
        lazy.FcConfigDestroy(config);
        return NULL;
    }
    return create_fonts(config);
}

calotype_fonts *calotype_fonts_create_few(void) { return create_fonts(create_few()); }

struct calotype_text {
    PangoLayout *layout;
    /// The distance of baselines; 0 for that of the fonts of each line.
    int pitch;
    /// The number of lines that are drawn.
    int line_count;
    bool is_shortened;
};

static int units(double pixels) {
    // Positions are 32-bit integers.
    double limit = 1 << 20;
    return (int)((pixels < -limit ? -limit : pixels > limit ? limit : pixels) * pango_scale);
}

/// Returns the height of a line of a font, without other fonts in the line. The metrics of a font of bitmaps
/// are those of another size.
static int line_height(calotype_fonts *fonts, const PangoFontDescription *description) {
    PangoLayout *layout = lazy.pango_layout_new(fonts->context);
    lazy.pango_layout_set_font_description(layout, description);
    lazy.pango_layout_set_text(layout, " ", 1);
    PangoLayoutIter *iterator = lazy.pango_layout_get_iter(layout);
    PangoRectangle logical;
    lazy.pango_layout_iter_get_line_extents(iterator, NULL, &logical);
    lazy.pango_layout_iter_free(iterator);
    lazy.g_object_unref(layout);
    return logical.height;
}

/// The lines of a layout from the top, at equal distances if the text has a pitch.
typedef struct {
    PangoLayoutIter *iterator;
    int line, pitch, first_baseline;
} line_walk;

static line_walk walk_lines(const calotype_text *text) {
    line_walk walk = {lazy.pango_layout_get_iter(text->layout), 0, text->pitch, 0};
    walk.first_baseline = lazy.pango_layout_iter_get_baseline(walk.iterator);
    return walk;
}

/// Goes to the next line, unless `count` lines have been visited; then frees the iterator.
static bool go_on(line_walk *walk, int count) {
    if (++walk->line < count && lazy.pango_layout_iter_next_line(walk->iterator)) return true;
    lazy.pango_layout_iter_free(walk->iterator);
    return false;
}

static int baseline(const line_walk *walk) {
    if (walk->pitch == 0) return lazy.pango_layout_iter_get_baseline(walk->iterator);
    return walk->first_baseline + walk->line * walk->pitch;
}

/// Reads the extents of the current line; `ink` may be NULL.
static void get_extents(const line_walk *walk, PangoRectangle *ink, PangoRectangle *logical) {
    lazy.pango_layout_iter_get_line_extents(walk->iterator, ink, logical);
    int shift = baseline(walk) - lazy.pango_layout_iter_get_baseline(walk->iterator);
    if (ink) ink->y += shift;
    logical->y += shift;
}

/// Sets the number of lines that are drawn.
static void limit_lines(calotype_text *text, const calotype_text_style *style) {
    int count = lazy.pango_layout_get_line_count(text->layout);
    if (style->line_limit > 0 && count > style->line_limit) count = style->line_limit;
    line_walk walk = walk_lines(text);
    do {
        PangoRectangle logical;
        get_extents(&walk, NULL, &logical);
        // Half a pixel of tolerance, since the heights of lines are fractions.
        if (style->height < 0
            || logical.y + logical.height <= units(style->height) + pango_scale / 2)
            text->line_count = walk.line + 1;
        else
            count = walk.line;
    } while (go_on(&walk, count));
    if (text->line_count == 0) text->line_count = 1;
    text->is_shortened = text->line_count < lazy.pango_layout_get_line_count(text->layout)
                         || lazy.pango_layout_is_ellipsized(text->layout);
}

/// Returns the height of `pango_layout_set_height`, at which an ellipsis is inserted.
static int ellipsis_height(const calotype_text_style *style, int line_height, int pitch) {
    int lines = style->line_limit;
    if (pitch > 0 && style->height >= 0) {
        int room = units(style->height) + pango_scale / 2 - line_height;
        int fitting = room < 0 ? 1 : 1 + room / pitch;
        if (lines <= 0 || fitting < lines) lines = fitting;
    }
    if (lines > 0) return -lines;
    return style->height >= 0 ? units(style->height) : units(1 << 20);
}

calotype_text *calotype_text_create(calotype_fonts *fonts, const calotype_text_style *style) {
    calotype_text *text = calloc(1, sizeof *text);
    if (!text) return NULL;
    lazy.pango_context_set_language(fonts->context,
                                    lazy.pango_language_from_string(style->language));
    PangoLayout *layout = text->layout = lazy.pango_layout_new(fonts->context);
    PangoFontDescription *font = lazy.pango_font_description_from_string(style->font);
    lazy.pango_font_description_set_absolute_size(font, units(style->size));
    lazy.pango_layout_set_font_description(layout, font);
    int height = style->line_spacing > 0 ? line_height(fonts, font) : 0;
    text->pitch = (int)(height * style->line_spacing);
    lazy.pango_font_description_free(font);
    if (style->letter_spacing != 0) {
        PangoAttrList *attributes = lazy.pango_attr_list_new();
        lazy.pango_attr_list_insert(
            attributes, lazy.pango_attr_letter_spacing_new(units(style->letter_spacing)));
        lazy.pango_layout_set_attributes(layout, attributes);
        lazy.pango_attr_list_unref(attributes);
    }
    if (style->width >= 0) lazy.pango_layout_set_width(layout, units(style->width));
    lazy.pango_layout_set_wrap(layout, pango_wrap_word_char);
    if (style->is_ellipsized) {
        lazy.pango_layout_set_ellipsize(layout, pango_ellipsize_end);
        lazy.pango_layout_set_height(layout, ellipsis_height(style, height, text->pitch));
    }
    // PANGO_ALIGN_LEFT is the start of the line's direction.
    lazy.pango_layout_set_alignment(layout, style->alignment);
    lazy.pango_layout_set_text(layout, style->text, (int)style->byte_count);
    limit_lines(text, style);
    return text;
}

void calotype_text_destroy(calotype_text *text) {
    lazy.g_object_unref(text->layout);
    free(text);
}

/// Returns whether the glyphs of a font have colours of their own.
static bool has_colors(PangoFont *font) {
    int result = 0;
    FcPattern *pattern = lazy.pango_fc_font_get_pattern(font);
    return pattern && lazy.FcPatternGetBool(pattern, "color", 0, &result) == 0 && result;
}

static void unite(double box[4], PangoRectangle part, bool is_first) {
    double left = (double)part.x / pango_scale, top = (double)part.y / pango_scale;
    double right = left + (double)part.width / pango_scale;
    double bottom = top + (double)part.height / pango_scale;
    if (!is_first) {
        if (box[0] < left) left = box[0];
        if (box[1] < top) top = box[1];
        if (box[0] + box[2] > right) right = box[0] + box[2];
        if (box[1] + box[3] > bottom) bottom = box[1] + box[3];
    }
    box[0] = left, box[1] = top, box[2] = right - left, box[3] = bottom - top;
}

void calotype_text_measure(const calotype_text *text, calotype_text_extents *extents) {
    *extents = (calotype_text_extents){.line_count = text->line_count,
                                       .is_shortened = text->is_shortened};
    line_walk walk = walk_lines(text);
    do {
        PangoRectangle ink, logical;
        get_extents(&walk, &ink, &logical);
        unite(extents->ink, ink, walk.line == 0);
        unite(extents->logical, logical, walk.line == 0);
    } while (go_on(&walk, text->line_count));
    PangoLayoutIter *iterator = lazy.pango_layout_get_iter(text->layout);
    do {
        PangoLayoutRun *run = lazy.pango_layout_iter_get_run_readonly(iterator);
        if (run && has_colors(run->item->analysis.font)) extents->has_colors = true;
    } while (!extents->has_colors && lazy.pango_layout_iter_next_run(iterator));
    lazy.pango_layout_iter_free(iterator);
    extents->missing_count = lazy.pango_layout_get_unknown_glyphs_count(text->layout);
}

/// Draws the runs whose glyphs have, or do not have, colours of their own.
static void draw_runs(const calotype_text *text, cairo_t *cr, bool colors) {
    line_walk walk = walk_lines(text);
    do {
        PangoLayoutRun *run = lazy.pango_layout_iter_get_run_readonly(walk.iterator);
        if (!run) {
            // The end of a line.
            walk.line++;
        } else if (has_colors(run->item->analysis.font) == colors) {
            PangoRectangle logical;
            lazy.pango_layout_iter_get_run_extents(walk.iterator, NULL, &logical);
            lazy.cairo_move_to(cr, (double)logical.x / pango_scale,
                               (double)baseline(&walk) / pango_scale);
            lazy.pango_cairo_show_glyph_string(cr, run->item->analysis.font, run->glyphs);
        }
    } while (walk.line < text->line_count && lazy.pango_layout_iter_next_run(walk.iterator));
    lazy.pango_layout_iter_free(walk.iterator);
}

static void draw_lines(const calotype_text *text, cairo_t *cr) {
    line_walk walk = walk_lines(text);
    do {
        PangoRectangle logical;
        lazy.pango_layout_iter_get_line_extents(walk.iterator, NULL, &logical);
        lazy.cairo_move_to(cr, (double)logical.x / pango_scale,
                           (double)baseline(&walk) / pango_scale);
        lazy.pango_cairo_show_layout_line(
            cr, lazy.pango_layout_iter_get_line_readonly(walk.iterator));
    } while (go_on(&walk, text->line_count));
}

const char *calotype_text_draw(const calotype_text *text, const double matrix[6],
                               calotype_area area, uint8_t *coverage, uint32_t *colors) {
    cairo_t *cr = create(coverage, cairo_format_a8, area.stride, area);
    set_matrix(cr, matrix);
    if (colors)
        draw_runs(text, cr, false);
    else
        draw_lines(text, cr);
    const char *problem = finish(cr);
    if (problem || !colors) return problem;
    cr = create(colors, cairo_format_argb32, area.stride * 4, area);
    set_matrix(cr, matrix);
    draw_runs(text, cr, true);
    return finish(cr);
}

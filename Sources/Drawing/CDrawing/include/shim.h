// SPDX-License-Identifier: Apache-2.0
//
// Coverage of paths by cairo, and text by Pango. The headers of GLib, cairo and Pango are in folders
// that only pkg-config can locate, so the functions that are used are declared in the shim.

#ifndef CALOTYPE_CDRAWING_H
#define CALOTYPE_CDRAWING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Returns NULL if the libraries are loaded, otherwise the error; must be called first.
const char *calotype_drawing_missing(void);

typedef enum {
    /// One point.
    calotype_move,
    /// One point.
    calotype_line,
    /// Three points.
    calotype_curve,
    /// No point.
    calotype_close,
} calotype_verb;

typedef struct {
    const uint8_t *verbs;
    size_t verb_count;
    /// Pairs of x and y.
    const double *coordinates;
    /// From the path to pixels: xx, yx, xy, yy, x0, y0.
    double matrix[6];
    bool is_even_odd;
    bool is_stroke;
    double width;
    double miter_limit;
    /// 0 butt, 1 round, 2 square.
    int cap;
    /// 0 miter, 1 round, 2 bevel.
    int join;
    const double *dashes;
    size_t dash_count;
    double dash_phase;
} calotype_path;

/// A part of the pixels of a drawing; its rows start at multiples of `stride` bytes.
typedef struct {
    int x, y, width, height, stride;
} calotype_area;

/// Adds the coverage of a path to bytes that are 0. Returns NULL, or an error message.
const char *calotype_path_draw(const calotype_path *path, calotype_area area, uint8_t *coverage);

/// The fonts of one thread.
typedef struct calotype_fonts calotype_fonts;

/// Opens font files, or the fonts of the system if `count` is 0; NULL if memory is exhausted or a
/// file contains no font. `*failed` receives the index of that file.
calotype_fonts *calotype_fonts_create(const char *const *files, size_t count, size_t *failed);

/// Returns the usual ten fonts of the system, few enough to stay open; NULL if there is no memory.
calotype_fonts *calotype_fonts_create_few(void);
void calotype_fonts_destroy(calotype_fonts *fonts);

typedef struct {
    /// UTF-8.
    const char *text;
    size_t byte_count;
    /// A Pango font description without a size, such as "Inter Bold".
    const char *font;
    const char *language;
    /// The size of an em in pixels.
    double size;
    /// The width in pixels at which lines are broken; negative if they are not.
    double width;
    /// The number of lines that are drawn; 0 for all.
    int line_limit;
    /// The height in pixels beyond which no line is drawn; negative for no limit.
    double height;
    bool is_ellipsized;
    /// 0 start, 1 centre, 2 end.
    int alignment;
    /// The distance of baselines as a multiple of the height of the font; 0 for the height of each line.
    double line_spacing;
    /// In pixels.
    double letter_spacing;
} calotype_text_style;

typedef struct calotype_text calotype_text;

calotype_text *calotype_text_create(calotype_fonts *fonts, const calotype_text_style *style);
void calotype_text_destroy(calotype_text *text);

typedef struct {
    /// x, y, width and height in pixels.
    double ink[4], logical[4];
    int line_count;
    /// Whether not all of the text is drawn.
    bool is_shortened;
    bool has_colors;
    /// The number of characters that no font contains.
    int missing_count;
} calotype_text_extents;

void calotype_text_measure(const calotype_text *text, calotype_text_extents *extents);

/// Draws the text with its top left corner at the origin of the matrix. Glyphs of one colour are added
/// to `coverage`, those with colours of their own to `colors`, premultiplied 32-bit ARGB words in
/// the byte order of the machine; it may be NULL. `stride` is that of the coverage, the rows of the
/// colours have four times as many bytes. Returns NULL, or an error message.
const char *calotype_text_draw(const calotype_text *text, const double matrix[6],
                               calotype_area area, uint8_t *coverage, uint32_t *colors);

#endif

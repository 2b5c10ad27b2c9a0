// SPDX-License-Identifier: Apache-2.0
//
// A window of GTK 4 whose content the caller draws. All functions are called on the main thread. Lengths
// and positions are in device pixels.

#ifndef CALOTYPE_CGTK_H
#define CALOTYPE_CGTK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct calotype_texture calotype_texture;

/// The functions that receive the events of the window; `context` is passed to each.
typedef struct {
    void *context;
    /// Draws a frame with the functions below; returns whether another frame follows.
    bool (*draw)(void *context, double seconds, int width, int height, int scale);
    /// Handles a key, such as `Ctrl+z`; returns whether it is known.
    bool (*key)(void *context, const char *name);
    /// Handles typed text that is no known key.
    void (*text)(void *context, uint32_t character);
    /// Handles the name that the user entered after `calotype_ask_for_name`.
    void (*name)(void *context, const char *name);
    /// Handles the answer to `calotype_set_wallpaper`; `error` is NULL if the desktop accepts the file.
    void (*wallpaper)(void *context, const char *error);
    /// Handles a wheel or a touchpad, in steps of a wheel.
    void (*scroll)(void *context, double dx, double dy, double x, double y, bool has_control);
    /// Handles the press of the primary button; `count` is 2 for a double click.
    void (*press)(void *context, int count, double x, double y);
    /// Handles the release of the primary button.
    void (*release)(void *context);
    /// Handles the end of a movement of a finger, with its velocity in pixels per second.
    void (*swipe)(void *context, double x, double y);
    /// Returns the URI of the file at a position that is dragged out of the window, which the caller
    /// frees with `free`; NULL if there is none.
    char *(*dragged_uri)(void *context, double x, double y);
    /// Handles the activation of a cell by a screen reader.
    void (*activate)(void *context, int id);
    /// Handles a drag of the primary button by a distance since the last call.
    void (*drag)(void *context, double dx, double dy);
    /// Handles the URI of a file or a folder that another process was started for.
    void (*open)(void *context, const char *uri);
    /// Handles a pinch gesture; `factor` is relative to the last call.
    void (*pinch)(void *context, double factor, double x, double y);
} calotype_window_events;

/// Opens the display; returns false if this fails. Must be called before all other functions.
bool calotype_window_open(void);
/// Passes the URI of a file to the process that displays files in this session; returns false if there is
/// none. This process then becomes the one that others pass theirs to.
bool calotype_application_pass(const char *uri);
/// Opens the window and handles events until it is closed, with the main dispatch queue as part of the
/// event loop.
void calotype_window_run(const calotype_window_events *events, const char *title, int width,
                         int height);
void calotype_window_close(void);
void calotype_window_set_title(const char *title);
void calotype_window_set_full_screen(bool fills_screen);
/// Draws a frame soon, unless one is scheduled.
void calotype_window_redraw(void);

/// Copies pixels, RGB or premultiplied RGBA, into a texture.
calotype_texture *calotype_texture_create(const uint8_t *bytes, size_t count, int width,
                                          int height, size_t stride, bool has_alpha);
void calotype_texture_destroy(calotype_texture *texture);

/// Draws a texture, scaled to a rectangle.
void calotype_draw_texture(const calotype_texture *texture, double x, double y, double width,
                           double height);
/// Fills a rectangle; `color` is 0xRRGGBBAA.
void calotype_draw_color(uint32_t color, double x, double y, double width, double height);
/// Draws text of one or more lines that is wrapped at `width`; returns its height.
double calotype_draw_text(const char *text, uint32_t color, double x, double y, double width);
/// Returns the height of text that is wrapped at `width`.
double calotype_text_height(const char *text, double width);
/// Restricts drawing to a rectangle until `calotype_draw_pop`.
void calotype_draw_clip(double x, double y, double width, double height);
void calotype_draw_pop(void);

/// Returns whether the theme of the desktop is dark.
bool calotype_theme_is_dark(void);
/// Returns the ICC profile that the X11 display specifies for its first monitor, which the caller frees;
/// NULL if there is none.
uint8_t *calotype_monitor_profile(size_t *count);
void calotype_monitor_profile_free(uint8_t *profile);

/// Copies a file to the clipboard: as a list of URIs for file managers, and as text.
void calotype_clipboard_set_file(const char *uri, const char *path);
/// Lets the user enter another name, of which the first `selected_count` characters are selected.
void calotype_ask_for_name(const char *title, const char *name, int selected_count);
/// Lets the user print an image in RGB, which is copied, on a page in its orientation.
void calotype_print(const uint8_t *bytes, int width, int height, size_t stride, const char *name);
/// Requests that a file becomes the background of the desktop; the event `wallpaper` follows.
void calotype_set_wallpaper(const char *path);
/// Lets the user choose a program that opens a file.
void calotype_open_with(const char *path);

/// Begins a new list of the cells for screen readers.
void calotype_cells_begin(void);
/// Adds a cell, which is focused if it is the current one.
void calotype_cells_add(int id, const char *label, double x, double y, double width, double height,
                        bool is_image, bool is_current);
/// Ends the list.
void calotype_cells_end(void);

#endif

// SPDX-License-Identifier: Apache-2.0

#include "view.h"

#ifdef CALOTYPE_VIEWER

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

gboolean gtk_init_check(void);
unsigned gtk_get_minor_version(void);
GtkWidget *gtk_window_new(void);
void gtk_window_set_title(GtkWidget *window, const char *title);
void gtk_window_set_default_size(GtkWidget *window, int width, int height);
void gtk_window_get_default_size(GtkWidget *window, int *width, int *height);
void gtk_window_set_child(GtkWidget *window, GtkWidget *child);
void gtk_window_present(GtkWidget *window);
void gtk_window_set_application(GtkWidget *window, void *application);
void gtk_window_destroy(GtkWidget *window);
void gtk_window_fullscreen(GtkWidget *window);
void gtk_window_unfullscreen(GtkWidget *window);
GtkWidget *gtk_overlay_new(void);
void gtk_overlay_set_child(GtkWidget *overlay, GtkWidget *child);
void gtk_overlay_add_overlay(GtkWidget *overlay, GtkWidget *child);
GtkWidget *gtk_picture_new(void);
void gtk_picture_set_paintable(GtkWidget *picture, GObject *paintable);
void gtk_picture_set_keep_aspect_ratio(GtkWidget *picture, gboolean keeps);
void gtk_picture_set_can_shrink(GtkWidget *picture, gboolean can);
int gtk_widget_get_width(GtkWidget *widget);
int gtk_widget_get_height(GtkWidget *widget);
unsigned gtk_widget_add_tick_callback(GtkWidget *widget, gboolean (*call)(GtkWidget *, GObject *, void *),
                                      void *data, void (*destroy)(void *));
void gtk_widget_set_hexpand(GtkWidget *widget, gboolean expands);
void gtk_widget_set_vexpand(GtkWidget *widget, gboolean expands);
GObject *gtk_widget_create_pango_layout(GtkWidget *widget, const char *text);
int64_t gdk_frame_clock_get_frame_time(GObject *clock);
int64_t g_get_monotonic_time(void);
GObject *gtk_event_controller_key_new(void);
GObject *gtk_event_controller_scroll_new(unsigned flags);
GObject *gtk_event_controller_motion_new(void);
unsigned gtk_event_controller_get_current_event_state(GObject *controller);
void gtk_event_controller_set_propagation_phase(GObject *controller, int phase);
GObject *gtk_gesture_swipe_new(void);
void gtk_gesture_single_set_touch_only(GObject *gesture, gboolean is_touch_only);
GObject *gtk_gesture_click_new(void);
GObject *gtk_gesture_drag_new(void);
GObject *gtk_gesture_zoom_new(void);
gboolean gtk_gesture_get_bounding_box_center(GObject *gesture, double *x, double *y);
const char *gdk_keyval_name(unsigned value);
uint32_t gdk_keyval_to_unicode(unsigned value);
void *g_object_ref(void *object);
void *g_bytes_new(const void *bytes, size_t count);
void g_bytes_unref(void *bytes);
GObject *gdk_memory_texture_new(int width, int height, int format, void *bytes, size_t stride);
GObject *gtk_snapshot_new(void);
void gtk_snapshot_append_texture(GObject *snapshot, GObject *texture, const Rectangle *bounds);
void gtk_snapshot_append_color(GObject *snapshot, const Color *color, const Rectangle *bounds);
void gtk_snapshot_append_layout(GObject *snapshot, GObject *layout, const Color *color);
void gtk_snapshot_push_clip(GObject *snapshot, const Rectangle *bounds);
void gtk_snapshot_pop(GObject *snapshot);
void gtk_snapshot_save(GObject *snapshot);
void gtk_snapshot_restore(GObject *snapshot);
void gtk_snapshot_translate(GObject *snapshot, const Point *point);
GObject *gtk_snapshot_free_to_paintable(GObject *snapshot, const Size *size);
void pango_layout_set_width(GObject *layout, int width);
void pango_layout_set_wrap(GObject *layout, int mode);
void pango_layout_get_pixel_size(GObject *layout, int *width, int *height);
void *g_main_loop_new(void *context, gboolean is_running);
void g_main_loop_run(void *loop);
void g_main_loop_quit(void *loop);
unsigned g_unix_fd_add_full(int priority, int descriptor, unsigned condition,
                            gboolean (*call)(int, unsigned, void *), void *data, void *destroy);

enum { memory_rgba = 2, memory_rgb = 7, shift_mask = 1, control_mask = 4, alt_mask = 8, io_in = 1 };
enum { scroll_both_axes = 3, wrap_word_char = 2, phase_capture = 1, pango_scale = 1024, priority_default = 0 };

// The main queue of libdispatch, as part of another event loop.
int _dispatch_get_main_queue_handle_4CF(void);
void _dispatch_main_queue_callback_4CF(void *message);

struct calotype_view calotype_view;
#define view calotype_view


struct calotype_texture {
    GObject *texture;
};

static double scale(void) { return gtk_widget_get_scale_factor(view.picture); }

static Rectangle rectangle(double x, double y, double width, double height) {
    double s = scale();
    Rectangle result = {(float)(x / s), (float)(y / s), (float)(width / s), (float)(height / s)};
    return result;
}

static Color components(uint32_t color) {
    Color result = {(float)(color >> 24) / 255, (float)(color >> 16 & 255) / 255,
                    (float)(color >> 8 & 255) / 255, (float)(color & 255) / 255};
    return result;
}

// Drawing ---------------------------------------------------------------------------------------

// Returns whether another frame follows.
static bool draw(int64_t microseconds) {
    int width = gtk_widget_get_width(view.picture), height = gtk_widget_get_height(view.picture);
    // Until its first layout, the picture has no size.
    bool is_first = width < 1 || height < 1;
    if (is_first) gtk_window_get_default_size(view.window, &width, &height);
    int s = gtk_widget_get_scale_factor(view.picture);
    view.is_scheduled = false;
    view.snapshot = gtk_snapshot_new();
    bool continues = view.events.draw(view.events.context, (double)microseconds / 1e6, width * s, height * s, s);
    Size size = {(float)width, (float)height};
    GObject *paintable = gtk_snapshot_free_to_paintable(view.snapshot, &size);
    view.snapshot = NULL;
    gtk_picture_set_paintable(view.picture, paintable);
    if (paintable) g_object_unref(paintable);
    return continues || is_first;
}

static gboolean draw_frame(GtkWidget *widget, GObject *clock, void *data) {
    (void)widget, (void)data;
    bool continues = draw(gdk_frame_clock_get_frame_time(clock));
    // A redraw that was requested meanwhile continues with this callback.
    view.is_scheduled = view.is_scheduled || continues;
    return view.is_scheduled;
}

void calotype_window_redraw(void) {
    if (view.is_scheduled || !view.picture) return;
    view.is_scheduled = true;
    if (!view.snapshot) gtk_widget_add_tick_callback(view.picture, draw_frame, NULL, NULL);
}

calotype_texture *calotype_texture_create(const uint8_t *bytes, size_t count, int width, int height,
                                          size_t stride, bool has_alpha) {
    calotype_texture *result = malloc(sizeof *result);
    if (!result) return NULL;
    void *copy = g_bytes_new(bytes, count);
    result->texture =
        gdk_memory_texture_new(width, height, has_alpha ? memory_rgba : memory_rgb, copy, stride);
    g_bytes_unref(copy);
    return result;
}

void calotype_texture_destroy(calotype_texture *texture) {
    g_object_unref(texture->texture);
    free(texture);
}

void calotype_draw_texture(const calotype_texture *texture, double x, double y, double width,
                           double height) {
    Rectangle bounds = rectangle(x, y, width, height);
    gtk_snapshot_append_texture(view.snapshot, texture->texture, &bounds);
}

void calotype_draw_color(uint32_t color, double x, double y, double width, double height) {
    Rectangle bounds = rectangle(x, y, width, height);
    Color parts = components(color);
    gtk_snapshot_append_color(view.snapshot, &parts, &bounds);
}

double calotype_text_height(const char *text, double width) {
    GObject *layout = gtk_widget_create_pango_layout(view.picture, text);
    pango_layout_set_width(layout, (int)(width / scale() * pango_scale));
    pango_layout_set_wrap(layout, wrap_word_char);
    int height = 0;
    pango_layout_get_pixel_size(layout, NULL, &height);
    g_object_unref(layout);
    return height * scale();
}

double calotype_draw_text(const char *text, uint32_t color, double x, double y, double width) {
    Rectangle bounds = rectangle(x, y, width, 0);
    GObject *layout = gtk_widget_create_pango_layout(view.picture, text);
    pango_layout_set_width(layout, (int)(bounds.width * pango_scale));
    pango_layout_set_wrap(layout, wrap_word_char);
    Color parts = components(color);
    Point origin = {bounds.x, bounds.y};
    gtk_snapshot_save(view.snapshot);
    gtk_snapshot_translate(view.snapshot, &origin);
    gtk_snapshot_append_layout(view.snapshot, layout, &parts);
    gtk_snapshot_restore(view.snapshot);
    int height = 0;
    pango_layout_get_pixel_size(layout, NULL, &height);
    g_object_unref(layout);
    return height * scale();
}

void calotype_draw_clip(double x, double y, double width, double height) {
    Rectangle bounds = rectangle(x, y, width, height);
    gtk_snapshot_push_clip(view.snapshot, &bounds);
}

void calotype_draw_pop(void) { gtk_snapshot_pop(view.snapshot); }

// Input -----------------------------------------------------------------------------------------

static gboolean key_pressed(GObject *controller, unsigned value, unsigned code, unsigned state,
                            void *data) {
    (void)controller, (void)code, (void)data;
    const char *name = gdk_keyval_name(value);
    if (!name || strlen(name) > 60) return 0;
    char text[96];
    uint32_t character = gdk_keyval_to_unicode(value);
    bool has_modifier = (state & (control_mask | alt_mask)) != 0;
    // The keysym of a character includes the effect of Shift.
    bool has_shift = (state & shift_mask) && (!character || has_modifier);
    snprintf(text, sizeof text, "%s%s%s%s", state & control_mask ? "Ctrl+" : "",
             state & alt_mask ? "Alt+" : "", has_shift ? "Shift+" : "", name);
    if (view.events.key(view.events.context, text)) return 1;
    if (character >= 32 && !has_modifier) view.events.text(view.events.context, character);
    return 0;
}

static void moved(GObject *controller, double x, double y, void *data) {
    (void)controller, (void)data;
    view.pointer_x = x;
    view.pointer_y = y;
}

static gboolean scrolled(GObject *controller, double dx, double dy, void *data) {
    (void)data;
    double s = scale();
    bool has_control = gtk_event_controller_get_current_event_state(controller) & control_mask;
    view.events.scroll(view.events.context, dx, dy, view.pointer_x * s, view.pointer_y * s,
                       has_control);
    return 1;
}

static void pressed(GObject *gesture, int count, double x, double y, void *data) {
    (void)gesture, (void)data;
    view.events.press(view.events.context, count, x * scale(), y * scale());
}

static void released(GObject *gesture, int count, double x, double y, void *data) {
    (void)gesture, (void)count, (void)x, (void)y, (void)data;
    view.events.release(view.events.context);
}

static void swiped(GObject *gesture, double x, double y, void *data) {
    (void)gesture, (void)data;
    view.events.swipe(view.events.context, x * scale(), y * scale());
}

static void drag_began(GObject *gesture, double x, double y, void *data) {
    (void)gesture, (void)data;
    view.dragged_x = view.dragged_y = 0;
    view.pointer_x = x;
    view.pointer_y = y;
}

static void dragged(GObject *gesture, double x, double y, void *data) {
    (void)gesture, (void)data;
    double s = scale();
    view.events.drag(view.events.context, (x - view.dragged_x) * s, (y - view.dragged_y) * s);
    view.dragged_x = x;
    view.dragged_y = y;
}

static void pinch_began(GObject *gesture, void *sequence, void *data) {
    (void)gesture, (void)sequence, (void)data;
    view.pinched = 1;
}

static void pinched(GObject *gesture, double factor, void *data) {
    (void)data;
    double x = view.pointer_x, y = view.pointer_y;
    gtk_gesture_get_bounding_box_center(gesture, &x, &y);
    view.events.pinch(view.events.context, factor / view.pinched, x * scale(), y * scale());
    view.pinched = factor;
}

void calotype_connect(void *object, const char *signal, void (*call)(void)) {
    g_signal_connect_data(object, signal, call, NULL, NULL, 0);
}

static void add_controllers(void) {
    GObject *keys = gtk_event_controller_key_new();
    calotype_connect(keys, "key-pressed", (void (*)(void))key_pressed);
    // Before the widgets of the cells, for which some keys have a meaning of their own.
    gtk_event_controller_set_propagation_phase(keys, phase_capture);
    gtk_widget_add_controller(view.window, keys);
    GObject *motion = gtk_event_controller_motion_new();
    calotype_connect(motion, "motion", (void (*)(void))moved);
    gtk_widget_add_controller(view.picture, motion);
    GObject *scroll = gtk_event_controller_scroll_new(scroll_both_axes);
    calotype_connect(scroll, "scroll", (void (*)(void))scrolled);
    gtk_widget_add_controller(view.picture, scroll);
    GObject *drag = gtk_gesture_drag_new();
    calotype_connect(drag, "drag-begin", (void (*)(void))drag_began);
    calotype_connect(drag, "drag-update", (void (*)(void))dragged);
    gtk_widget_add_controller(view.picture, drag);
    GObject *click = gtk_gesture_click_new();
    calotype_connect(click, "pressed", (void (*)(void))pressed);
    calotype_connect(click, "released", (void (*)(void))released);
    gtk_widget_add_controller(view.picture, click);
    GObject *swipe = gtk_gesture_swipe_new();
    gtk_gesture_single_set_touch_only(swipe, 1);
    calotype_connect(swipe, "swipe", (void (*)(void))swiped);
    gtk_widget_add_controller(view.picture, swipe);
    GObject *zoom = gtk_gesture_zoom_new();
    calotype_connect(zoom, "begin", (void (*)(void))pinch_began);
    calotype_connect(zoom, "scale-changed", (void (*)(void))pinched);
    gtk_widget_add_controller(view.picture, zoom);
}

// The window ------------------------------------------------------------------------------------

static gboolean drain_main_queue(int descriptor, unsigned condition, void *data) {
    (void)condition, (void)data;
    uint64_t count;
    ssize_t received = read(descriptor, &count, sizeof count);
    (void)received;
    _dispatch_main_queue_callback_4CF(NULL);
    return 1;
}

static void resized(void) { calotype_window_redraw(); }

static gboolean close_requested(void) {
    g_main_loop_quit(view.loop);
    return 0;
}

// GTK loads the driver of OpenGL even if cairo draws. Where there is no graphics card, that of Mesa loads LLVM,
// which takes longer than all else until the first frame, and later versions of GTK draw with cairo themselves.
static gboolean initialize(void) {
    const char *renderer = getenv("GSK_RENDERER");
    bool uses_opengl = renderer ? strcmp(renderer, "cairo") != 0 : access("/dev/dri", F_OK) == 0;
    bool is_older = gtk_get_minor_version() < 16;
    const char *variable = is_older ? "GDK_DEBUG" : "GDK_DISABLE";
    if (uses_opengl || getenv(variable)) return gtk_init_check();
    setenv(variable, is_older ? "gl-disable,vulkan-disable" : "gl,vulkan", 1);
    gboolean is_initialized = gtk_init_check();
    // Not for programs that are started from the window.
    unsetenv(variable);
    return is_initialized;
}

bool calotype_window_open(void) {
#ifdef __GLIBC__
    // Otherwise each thread that decoded an image keeps its memory, because a freed block that was mapped
    // stays in the arena of its thread from then on.
    mallopt(M_ARENA_MAX, 2);
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
#endif
    return initialize();
}

void calotype_window_run(const calotype_window_events *events, const char *title, int width,
                         int height) {
    view.events = *events;
    view.loop = g_main_loop_new(NULL, 0);
    g_unix_fd_add_full(priority_default, _dispatch_get_main_queue_handle_4CF(), io_in,
                       drain_main_queue, NULL, NULL);
    view.window = gtk_window_new();
    if (view.application) gtk_window_set_application(view.window, view.application);
    view.picture = gtk_picture_new();
    gtk_picture_set_keep_aspect_ratio(view.picture, 0);
    gtk_picture_set_can_shrink(view.picture, 1);
    gtk_widget_set_hexpand(view.picture, 1);
    gtk_widget_set_vexpand(view.picture, 1);
    gtk_window_set_title(view.window, title);
    gtk_window_set_default_size(view.window, width, height);
    GtkWidget *overlay = gtk_overlay_new();
    gtk_overlay_set_child(overlay, view.picture);
    view.cells = calotype_cells_create();
    gtk_overlay_add_overlay(overlay, view.cells);
    gtk_window_set_child(view.window, overlay);
    add_controllers();
    calotype_add_drag_source();
    calotype_follow_theme();
    calotype_connect(view.window, "close-request", (void (*)(void))close_requested);
    for (size_t index = 0; index < 4; index++) {
        static const char *const signals[] = {"notify::default-width", "notify::default-height",
                                              "notify::maximized", "notify::fullscreened"};
        calotype_connect(view.window, signals[index], resized);
    }
    calotype_connect(view.picture, "notify::scale-factor", resized);
    calotype_connect(view.picture, "map", resized);
    // The first images load while GTK opens the window.
    _dispatch_main_queue_callback_4CF(NULL);
    calotype_window_redraw();
    draw(g_get_monotonic_time());
    view.is_scheduled = true;
    gtk_window_present(view.window);
    g_main_loop_run(view.loop);
    // Files that are opened from now on need another process.
    if (view.application) g_object_unref(view.application);
    view.picture = NULL;
    view.cells = NULL;
}

void calotype_window_close(void) { g_main_loop_quit(view.loop); }

void calotype_window_set_title(const char *title) {
    if (view.window) gtk_window_set_title(view.window, title);
}

void calotype_window_set_full_screen(bool fills_screen) {
    if (fills_screen) {
        gtk_window_fullscreen(view.window);
    } else {
        gtk_window_unfullscreen(view.window);
    }
}

#endif

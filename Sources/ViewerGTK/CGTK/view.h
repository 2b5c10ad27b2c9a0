// SPDX-License-Identifier: Apache-2.0
//
// Shared by the files of the window.

#ifndef CALOTYPE_VIEW_H
#define CALOTYPE_VIEW_H

#include "CGTK.h"

// GTK 4.8 or later, as in its manual. Its headers are in folders that only pkg-config can locate, so the
// few functions that are used are declared here.
typedef int gboolean;
typedef struct _GtkWidget GtkWidget;
typedef struct _GObject GObject;
typedef struct {
    float x, y, width, height;
} Rectangle;
typedef struct {
    float width, height;
} Size;
typedef struct {
    float x, y;
} Point;
typedef struct {
    float red, green, blue, alpha;
} Color;

void g_object_unref(void *object);
unsigned long g_signal_connect_data(void *object, const char *signal, void (*call)(void), void *data,
                                    void *destroy, int flags);
void gtk_widget_add_controller(GtkWidget *widget, GObject *controller);
int gtk_widget_get_scale_factor(GtkWidget *widget);

/// The window and what belongs to it; GTK allows one thread to use it.
struct calotype_view {
    calotype_window_events events;
    /// The picture displays what the caller draws; `cells` contains the widgets for screen readers.
    GtkWidget *window, *picture, *cells;
    GObject *snapshot;
    void *loop;
    /// The name of this process in the D-Bus session; NULL if it has none.
    void *application;
    double dragged_x, dragged_y, pinched;
    double pointer_x, pointer_y;
    bool is_scheduled;
};

extern struct calotype_view calotype_view;

/// Connects a signal without data.
void calotype_connect(void *object, const char *signal, void (*call)(void));
/// Creates the widget that contains those of the cells.
GtkWidget *calotype_cells_create(void);
/// Draws a frame when the theme of the desktop changes.
void calotype_follow_theme(void);
/// Lets files be dragged out of the window.
void calotype_add_drag_source(void);

#endif

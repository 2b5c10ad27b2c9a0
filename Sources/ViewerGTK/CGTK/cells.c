// SPDX-License-Identifier: Apache-2.0
//
// Widgets for screen readers. GTK 4.8 reports widgets only, so that each cell that is drawn has an
// invisible button with its name, its position, the focus and the action "click".

#include "view.h"

#ifdef CALOTYPE_VIEWER

#define view calotype_view

typedef uintptr_t GType;

GtkWidget *gtk_fixed_new(void);
void gtk_fixed_put(GtkWidget *fixed, GtkWidget *child, double x, double y);
void gtk_fixed_move(GtkWidget *fixed, GtkWidget *child, double x, double y);
GType gtk_button_get_type(void);
GObject *g_object_new(GType type, const char *first, ...);
void gtk_accessible_update_property(void *accessible, int first, ...);
void gtk_widget_set_can_target(GtkWidget *widget, gboolean can);
void gtk_widget_set_opacity(GtkWidget *widget, double opacity);
void gtk_widget_set_overflow(GtkWidget *widget, int overflow);
void gtk_widget_set_size_request(GtkWidget *widget, int width, int height);
void gtk_widget_set_visible(GtkWidget *widget, gboolean is_visible);
gboolean gtk_widget_grab_focus(GtkWidget *widget);

enum { maximum_count = 512 };
// Values of GtkAccessibleRole, GtkAccessibleProperty, GtkAccessibleState and GtkOverflow.
enum { role_grid_cell = 17, role_image = 20, property_label = 4, overflow_hidden = 1 };

// The role of a widget never changes: cells and images have widgets of their own.
static struct {
    GtkWidget *widgets[maximum_count];
    int ids[maximum_count];
    int count, made_count;
} lists[2];

static void clicked(GtkWidget *button, void *data) {
    (void)data;
    for (int list = 0; list < 2; list++)
        for (int i = 0; i < lists[list].count; i++)
            if (lists[list].widgets[i] == button) {
                view.events.activate(view.events.context, lists[list].ids[i]);
                return;
            }
}

GtkWidget *calotype_cells_create(void) {
    GtkWidget *fixed = gtk_fixed_new();
    gtk_widget_set_can_target(fixed, 0);
    gtk_widget_set_opacity(fixed, 0);
    gtk_widget_set_overflow(fixed, overflow_hidden);
    return fixed;
}

void calotype_cells_begin(void) { lists[0].count = lists[1].count = 0; }

void calotype_cells_add(int id, const char *label, double x, double y, double width, double height,
                        bool is_image, bool is_current) {
    int list = is_image;
    int index = lists[list].count;
    if (index == maximum_count || !view.cells) return;
    double s = gtk_widget_get_scale_factor(view.picture);
    if (index == lists[list].made_count) {
        GObject *button = g_object_new(gtk_button_get_type(), "accessible-role",
                                       is_image ? role_image : role_grid_cell, (char *)0);
        lists[list].widgets[index] = (GtkWidget *)button;
        gtk_fixed_put(view.cells, lists[list].widgets[index], x / s, y / s);
        calotype_connect(button, "clicked", (void (*)(void))clicked);
        lists[list].made_count++;
    }
    GtkWidget *widget = lists[list].widgets[index];
    lists[list].ids[index] = id;
    lists[list].count++;
    gtk_fixed_move(view.cells, widget, x / s, y / s);
    gtk_widget_set_size_request(widget, (int)(width / s), (int)(height / s));
    gtk_accessible_update_property(widget, property_label, label, -1);
    gtk_widget_set_visible(widget, 1);
    if (is_current) gtk_widget_grab_focus(widget);
}

void calotype_cells_end(void) {
    for (int list = 0; list < 2; list++)
        for (int i = lists[list].count; i < lists[list].made_count; i++)
            gtk_widget_set_visible(lists[list].widgets[i], 0);
}

#endif

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
void gtk_accessible_update_state(void *accessible, int first, ...);
void gtk_widget_set_can_target(GtkWidget *widget, gboolean can);
void gtk_widget_set_opacity(GtkWidget *widget, double opacity);
void gtk_widget_set_overflow(GtkWidget *widget, int overflow);
void gtk_widget_set_size_request(GtkWidget *widget, int width, int height);
void gtk_widget_set_visible(GtkWidget *widget, gboolean is_visible);
gboolean gtk_widget_grab_focus(GtkWidget *widget);

enum { maximum_count = 512 };
// Values of GtkAccessibleRole, GtkAccessibleProperty, GtkAccessibleState and GtkOverflow.
enum { role_grid_cell = 17, role_image = 20, property_label = 4, overflow_hidden = 1 };

static struct {
    GtkWidget *widget;
    int id;
} cells[maximum_count];
static int count, made_count;

static void clicked(GtkWidget *button, void *data) {
    (void)data;
    for (int i = 0; i < count; i++)
        if (cells[i].widget == button) view.events.activate(view.events.context, cells[i].id);
}

GtkWidget *calotype_cells_create(void) {
    GtkWidget *fixed = gtk_fixed_new();
    gtk_widget_set_can_target(fixed, 0);
    gtk_widget_set_opacity(fixed, 0);
    gtk_widget_set_overflow(fixed, overflow_hidden);
    return fixed;
}

void calotype_cells_begin(void) { count = 0; }

void calotype_cells_add(int id, const char *label, double x, double y, double width, double height,
                        bool is_image, bool is_current) {
    if (count == maximum_count || !view.cells) return;
    double s = gtk_widget_get_scale_factor(view.picture);
    if (count == made_count) {
        GObject *button = g_object_new(gtk_button_get_type(), "accessible-role",
                                       is_image ? role_image : role_grid_cell, (char *)0);
        cells[count].widget = (GtkWidget *)button;
        gtk_fixed_put(view.cells, cells[count].widget, x / s, y / s);
        calotype_connect(button, "clicked", (void (*)(void))clicked);
        made_count++;
    }
    GtkWidget *widget = cells[count].widget;
    cells[count++].id = id;
    gtk_fixed_move(view.cells, widget, x / s, y / s);
    gtk_widget_set_size_request(widget, (int)(width / s), (int)(height / s));
    gtk_accessible_update_property(widget, property_label, label, -1);
    gtk_widget_set_visible(widget, 1);
    if (is_current) gtk_widget_grab_focus(widget);
}

void calotype_cells_end(void) {
    for (int i = count; i < made_count; i++) gtk_widget_set_visible(cells[i].widget, 0);
}

#endif

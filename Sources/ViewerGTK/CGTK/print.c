// SPDX-License-Identifier: Apache-2.0
//
// Prints an image by the dialog of GTK.

#include "view.h"

#ifdef CALOTYPE_VIEWER

#include <stdlib.h>
#include <string.h>

#define view calotype_view

typedef struct cairo cairo;
typedef struct cairo_surface cairo_surface;

GObject *gtk_print_operation_new(void);
void gtk_print_operation_set_n_pages(GObject *operation, int count);
void gtk_print_operation_set_job_name(GObject *operation, const char *name);
void gtk_print_operation_set_default_page_setup(GObject *operation, GObject *setup);
int gtk_print_operation_run(GObject *operation, int action, GtkWidget *parent, void **error);
GObject *gtk_page_setup_new(void);
void gtk_page_setup_set_orientation(GObject *setup, int orientation);
cairo *gtk_print_context_get_cairo_context(GObject *context);
double gtk_print_context_get_width(GObject *context);
double gtk_print_context_get_height(GObject *context);
void g_clear_error(void **error);
unsigned g_idle_add(gboolean (*call)(void *data), void *data);
cairo_surface *cairo_image_surface_create(int format, int width, int height);
unsigned char *cairo_image_surface_get_data(cairo_surface *surface);
int cairo_image_surface_get_width(cairo_surface *surface);
int cairo_image_surface_get_height(cairo_surface *surface);
int cairo_image_surface_get_stride(cairo_surface *surface);
void cairo_surface_mark_dirty(cairo_surface *surface);
void cairo_surface_destroy(cairo_surface *surface);
void cairo_translate(cairo *cr, double x, double y);
void cairo_scale(cairo *cr, double x, double y);
void cairo_set_source_surface(cairo *cr, cairo_surface *surface, double x, double y);
void cairo_paint(cairo *cr);

enum { action_dialog = 0, orientation_landscape = 1, format_rgb24 = 1 };

static void draw_page(GObject *operation, GObject *context, int page, void *surface) {
    (void)operation, (void)page;
    cairo *cr = gtk_print_context_get_cairo_context(context);
    double page_width = gtk_print_context_get_width(context);
    double page_height = gtk_print_context_get_height(context);
    double width = cairo_image_surface_get_width(surface);
    double height = cairo_image_surface_get_height(surface);
    double factor = page_width / width < page_height / height ? page_width / width : page_height / height;
    cairo_translate(cr, (page_width - width * factor) / 2, (page_height - height * factor) / 2);
    cairo_scale(cr, factor, factor);
    cairo_set_source_surface(cr, surface, 0, 0);
    cairo_paint(cr);
}

static void destroy_surface(void *surface, void *closure) {
    (void)closure;
    cairo_surface_destroy(surface);
}

static gboolean run(void *operation) {
    void *error = NULL;
    gtk_print_operation_run(operation, action_dialog, view.window, &error);
    g_clear_error(&error);
    g_object_unref(operation);
    return 0;
}

void calotype_print(const uint8_t *bytes, int width, int height, size_t stride, const char *name) {
    cairo_surface *surface = cairo_image_surface_create(format_rgb24, width, height);
    unsigned char *data = cairo_image_surface_get_data(surface);
    if (!data) {
        cairo_surface_destroy(surface);
        return;
    }
    for (int y = 0; y < height; y++) {
        uint32_t *row = (uint32_t *)(void *)(data + (size_t)y * cairo_image_surface_get_stride(surface));
        const uint8_t *source = bytes + (size_t)y * stride;
        for (int x = 0; x < width; x++, source += 3)
            row[x] = (uint32_t)source[0] << 16 | (uint32_t)source[1] << 8 | source[2];
    }
    cairo_surface_mark_dirty(surface);
    GObject *operation = gtk_print_operation_new();
    gtk_print_operation_set_n_pages(operation, 1);
    gtk_print_operation_set_job_name(operation, name);
    GObject *setup = gtk_page_setup_new();
    if (width > height) gtk_page_setup_set_orientation(setup, orientation_landscape);
    gtk_print_operation_set_default_page_setup(operation, setup);
    g_object_unref(setup);
    // The surface is destroyed with the operation.
    g_signal_connect_data(operation, "draw-page", (void (*)(void))draw_page, surface, destroy_surface, 0);
    // The dialog has an event loop of its own, in which the main dispatch queue is drained only if this
    // function is not called from it.
    g_idle_add(run, operation);
}

#endif

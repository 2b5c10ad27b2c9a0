// SPDX-License-Identifier: Apache-2.0
//
// One process displays the files of all: it owns a name in the D-Bus session, to which others pass theirs.

#include "view.h"

#ifdef CALOTYPE_VIEWER

#define view calotype_view

void *gtk_application_new(const char *id, int flags);
gboolean g_application_register(void *application, void *cancellable, void **error);
gboolean g_application_get_is_remote(void *application);
void g_application_open(void *application, void **files, int count, const char *hint);
void *g_application_get_dbus_connection(void *application);
gboolean g_dbus_connection_flush_sync(void *connection, void *cancellable, void **error);
void *g_file_new_for_uri(const char *uri);
char *g_file_get_uri(void *file);
void g_free(void *bytes);
void g_clear_error(void **error);
void gtk_window_present(GtkWidget *window);

enum { handles_open = 4 };

static void activated(void) {
    if (view.window) gtk_window_present(view.window);
}

static void opened(void *application, void **files, int count, const char *hint, void *data) {
    (void)application, (void)hint, (void)data;
    char *uri = count > 0 && view.window ? g_file_get_uri(files[0]) : NULL;
    if (!uri) return;
    view.events.open(view.events.context, uri);
    g_free(uri);
    activated();
}

bool calotype_application_pass(const char *uri) {
    void *error = NULL;
    void *application = gtk_application_new("calotype.Viewer", handles_open);
    if (!g_application_register(application, NULL, &error)) {
        g_clear_error(&error);
        g_object_unref(application);
        return false;
    }
    if (!g_application_get_is_remote(application)) {
        calotype_connect(application, "open", (void (*)(void))opened);
        calotype_connect(application, "activate", activated);
        view.application = application;
        return false;
    }
    void *file = g_file_new_for_uri(uri);
    g_application_open(application, &file, 1, "");
    bool is_passed =
        g_dbus_connection_flush_sync(g_application_get_dbus_connection(application), NULL, NULL);
    g_object_unref(file);
    g_object_unref(application);
    return is_passed;
}

#endif

// SPDX-License-Identifier: Apache-2.0
//
// What the window exchanges with the desktop: the theme, the profile of the monitor, the clipboard, files
// that are dragged out, and other programs.

#include "view.h"

#ifdef CALOTYPE_VIEWER

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define view calotype_view

typedef uintptr_t GType;

void *gdk_display_get_default(void);
GType gdk_x11_display_get_type(void);
void *gdk_x11_display_get_xdisplay(void *display);
unsigned long gdk_x11_display_get_xrootwindow(void *display);
gboolean g_type_check_instance_is_a(void *instance, GType type);
GObject *gtk_settings_get_default(void);
void g_object_get(void *object, const char *first, ...);
void g_free(void *bytes);
void *gdk_display_get_clipboard(void *display);
gboolean gdk_clipboard_set_content(void *clipboard, void *provider);
void *g_bytes_new(const void *bytes, size_t count);
void g_bytes_unref(void *bytes);
void *gdk_content_provider_new_for_bytes(const char *type, void *bytes);
void *gdk_content_provider_new_union(void **providers, size_t count);
GObject *gtk_drag_source_new(void);
void *g_file_new_for_path(const char *path);
void *g_bus_get_sync(int type, void *cancellable, void **error);
void *g_unix_fd_list_new(void);
int g_unix_fd_list_append(void *list, int descriptor, void **error);
void *g_variant_new_parsed(const char *format, ...);
void g_variant_unref(void *value);
void g_dbus_connection_call_with_unix_fd_list(
    void *bus, const char *name, const char *path, const char *interface, const char *method, void *parameters,
    const void *reply_type, int flags, int timeout, void *list, void *cancellable,
    void (*call)(void *source, void *result, void *data), void *data);
void *g_dbus_connection_call_with_unix_fd_list_finish(void *bus, void **list, void *result, void **error);
GtkWidget *gtk_app_chooser_dialog_new(GtkWidget *parent, int flags, void *file);
void *gtk_app_chooser_get_app_info(void *chooser);
gboolean g_app_info_launch(void *info, void *files, void *context, void **error);
void g_clear_error(void **error);
void *g_list_append(void *list, void *data);
void g_list_free(void *list);
void gtk_window_present(GtkWidget *window);
void gtk_window_destroy(GtkWidget *window);
GtkWidget *gtk_window_new(void);
void gtk_window_set_title(GtkWidget *window, const char *title);
void gtk_window_set_modal(GtkWidget *window, gboolean is_modal);
void gtk_window_set_transient_for(GtkWidget *window, GtkWidget *parent);
void gtk_window_set_default_size(GtkWidget *window, int width, int height);
void gtk_window_set_child(GtkWidget *window, GtkWidget *child);
GtkWidget *gtk_entry_new(void);
void gtk_editable_set_text(GtkWidget *entry, const char *text);
const char *gtk_editable_get_text(GtkWidget *entry);
void gtk_editable_select_region(GtkWidget *entry, int start, int end);
gboolean gtk_widget_grab_focus(GtkWidget *widget);
GObject *gtk_event_controller_key_new(void);
void gtk_event_controller_set_propagation_phase(GObject *controller, int phase);

// Xlib.
unsigned long XInternAtom(void *display, const char *name, int only_if_exists);
int XGetWindowProperty(void *display, unsigned long window, unsigned long property, long offset,
                       long length, int deletes, unsigned long required_type, unsigned long *type,
                       int *format, unsigned long *count, unsigned long *rest, unsigned char **value);
int XFree(void *value);

enum { dialog_is_modal = 1, response_ok = -5, key_escape = 0xff1b, bus_session = 2, phase_capture = 1 };

static bool is_dark_name(const char *name) {
    size_t length = name ? strlen(name) : 0;
    // Such as "Adwaita-dark", or "Adwaita:dark" in GTK_THEME.
    return length > 4 && strchr("-:", name[length - 5]) &&
           (!strcmp(name + length - 4, "dark") || !strcmp(name + length - 4, "Dark"));
}

bool calotype_theme_is_dark(void) {
    gboolean is_dark = 0;
    char *name = NULL;
    GObject *settings = gtk_settings_get_default();
    if (!settings) return false;
    g_object_get(settings, "gtk-application-prefer-dark-theme", &is_dark, "gtk-theme-name", &name,
                 (char *)0);
    // The variable overrides the setting.
    const char *theme = getenv("GTK_THEME");
    bool result = theme ? is_dark_name(theme) : is_dark || is_dark_name(name);
    g_free(name);
    return result;
}

void calotype_follow_theme(void) {
    GObject *settings = gtk_settings_get_default();
    if (!settings) return;
    calotype_connect(settings, "notify::gtk-theme-name", calotype_window_redraw);
    calotype_connect(settings, "notify::gtk-application-prefer-dark-theme", calotype_window_redraw);
}

uint8_t *calotype_monitor_profile(size_t *count) {
    void *display = gdk_display_get_default();
    if (!display || !g_type_check_instance_is_a(display, gdk_x11_display_get_type())) return NULL;
    void *xdisplay = gdk_x11_display_get_xdisplay(display);
    unsigned long type, item_count, rest;
    int format;
    unsigned char *value = NULL;
    uint8_t *result = NULL;
    // At most 16 MiB, in units of four bytes; 0 is AnyPropertyType.
    int status = XGetWindowProperty(xdisplay, gdk_x11_display_get_xrootwindow(display),
                                    XInternAtom(xdisplay, "_ICC_PROFILE", 0), 0, 4 << 20, 0, 0, &type,
                                    &format, &item_count, &rest, &value);
    if (status == 0 && value && format == 8 && item_count > 0 && rest == 0)
        result = malloc(item_count);
    if (result) {
        memcpy(result, value, item_count);
        *count = item_count;
    }
    if (value) XFree(value);
    return result;
}

void calotype_monitor_profile_free(uint8_t *profile) { free(profile); }

static void *provider(const char *type, const char *text, const char *end) {
    size_t count = strlen(text), end_count = strlen(end);
    char *all = malloc(count + end_count + 1);
    if (!all) return NULL;
    memcpy(all, text, count);
    memcpy(all + count, end, end_count + 1);
    void *bytes = g_bytes_new(all, count + end_count);
    free(all);
    void *result = gdk_content_provider_new_for_bytes(type, bytes);
    g_bytes_unref(bytes);
    return result;
}

void calotype_clipboard_set_file(const char *uri, const char *path) {
    void *providers[] = {provider("text/uri-list", uri, "\r\n"),
                         provider("text/plain;charset=utf-8", path, "")};
    if (!providers[0] || !providers[1]) return;
    // Takes ownership of the providers.
    void *all = gdk_content_provider_new_union(providers, 2);
    gdk_clipboard_set_content(gdk_display_get_clipboard(gdk_display_get_default()), all);
    g_object_unref(all);
}

static void *drag_prepared(GObject *source, double x, double y, void *data) {
    (void)source, (void)data;
    double s = gtk_widget_get_scale_factor(view.picture);
    char *uri = view.events.dragged_uri(view.events.context, x * s, y * s);
    void *result = uri ? provider("text/uri-list", uri, "\r\n") : NULL;
    free(uri);
    return result;
}

void calotype_add_drag_source(void) {
    GObject *source = gtk_drag_source_new();
    calotype_connect(source, "prepare", (void (*)(void))drag_prepared);
    gtk_widget_add_controller(view.picture, source);
}

static void name_entered(GtkWidget *entry, void *window) {
    char *name = strdup(gtk_editable_get_text(entry));
    gtk_window_destroy(window);
    if (name) view.events.name(view.events.context, name);
    free(name);
}

static gboolean name_key_pressed(GObject *controller, unsigned value, unsigned code, unsigned state,
                                 void *window) {
    (void)controller, (void)code, (void)state;
    if (value != key_escape) return 0;
    gtk_window_destroy(window);
    return 1;
}

void calotype_ask_for_name(const char *title, const char *name, int selected_count) {
    GtkWidget *window = gtk_window_new();
    gtk_window_set_title(window, title);
    gtk_window_set_transient_for(window, view.window);
    gtk_window_set_modal(window, 1);
    gtk_window_set_default_size(window, 480, -1);
    GtkWidget *entry = gtk_entry_new();
    gtk_editable_set_text(entry, name);
    gtk_window_set_child(window, entry);
    g_signal_connect_data(entry, "activate", (void (*)(void))name_entered, window, NULL, 0);
    GObject *keys = gtk_event_controller_key_new();
    gtk_event_controller_set_propagation_phase(keys, phase_capture);
    g_signal_connect_data(keys, "key-pressed", (void (*)(void))name_key_pressed, window, NULL, 0);
    gtk_widget_add_controller(window, keys);
    gtk_window_present(window);
    gtk_widget_grab_focus(entry);
    gtk_editable_select_region(entry, 0, selected_count);
}

static void wallpaper_set(void *bus, void *result, void *data) {
    (void)data;
    struct {
        uint32_t domain;
        int code;
        char *message;
    } *error = NULL;
    void *value = g_dbus_connection_call_with_unix_fd_list_finish(bus, NULL, result, (void **)&error);
    if (value) g_variant_unref(value);
    view.events.wallpaper(view.events.context, error ? error->message : NULL);
    g_clear_error((void **)&error);
    g_object_unref(bus);
}

void calotype_set_wallpaper(const char *path) {
    void *error = NULL;
    void *bus = g_bus_get_sync(bus_session, NULL, &error);
    int descriptor = bus ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *list = g_unix_fd_list_new();
    int handle = descriptor < 0 ? -1 : g_unix_fd_list_append(list, descriptor, NULL);
    if (handle >= 0) {
        // A preview with a button is shown, so that the program need not be trusted.
        g_dbus_connection_call_with_unix_fd_list(
            bus, "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop",
            "org.freedesktop.portal.Wallpaper", "SetWallpaperFile",
            g_variant_new_parsed("('', %h, {'show-preview': <true>, 'set-on': <'background'>})",
                                 handle),
            NULL, 0, -1, list, NULL, wallpaper_set, NULL);
    } else {
        view.events.wallpaper(view.events.context, bus ? strerror(errno) : "no D-Bus session");
        if (bus) g_object_unref(bus);
    }
    if (descriptor >= 0) close(descriptor);
    g_object_unref(list);
    g_clear_error(&error);
}

static void program_chosen(GtkWidget *dialog, int response, void *file) {
    void *info = response == response_ok ? gtk_app_chooser_get_app_info(dialog) : NULL;
    if (info) {
        void *files = g_list_append(NULL, file);
        void *error = NULL;
        g_app_info_launch(info, files, NULL, &error);
        g_clear_error(&error);
        g_list_free(files);
        g_object_unref(info);
    }
    g_object_unref(file);
    gtk_window_destroy(dialog);
}

void calotype_open_with(const char *path) {
    void *file = g_file_new_for_path(path);
    GtkWidget *dialog = gtk_app_chooser_dialog_new(view.window, dialog_is_modal, file);
    g_signal_connect_data(dialog, "response", (void (*)(void))program_chosen, file, NULL, 0);
    gtk_window_present(dialog);
}

#endif

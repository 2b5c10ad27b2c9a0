// SPDX-License-Identifier: Apache-2.0

#include "shim.h"
#include "lazy_library.h"

#include <stdio.h>
#include <stdlib.h>

// GLib, poppler-glib 0.82 or later and cairo, declared as in their manuals.
typedef struct {
    uint32_t domain;
    int code;
    char *message;
} GError;
typedef struct _GBytes GBytes;
typedef struct _PopplerDocument PopplerDocument;
typedef struct _PopplerPage PopplerPage;
typedef struct _PopplerFontInfo PopplerFontInfo;
typedef struct _PopplerFontsIter PopplerFontsIter;
typedef struct _cairo cairo_t;
typedef struct _cairo_surface cairo_surface_t;

PopplerDocument *poppler_document_new_from_bytes(GBytes *bytes, const char *password,
                                                 GError **error);
PopplerPage *poppler_document_get_page(PopplerDocument *document, int index);
void poppler_page_get_size(PopplerPage *page, double *width, double *height);
void poppler_page_render(PopplerPage *page, cairo_t *cr);
PopplerFontInfo *poppler_font_info_new(PopplerDocument *document);
int poppler_font_info_scan(PopplerFontInfo *info, int page_count, PopplerFontsIter **fonts);
void poppler_font_info_free(PopplerFontInfo *info);
int poppler_fonts_iter_is_embedded(PopplerFontsIter *fonts);
const char *poppler_fonts_iter_get_name(PopplerFontsIter *fonts);
int poppler_fonts_iter_next(PopplerFontsIter *fonts);
void poppler_fonts_iter_free(PopplerFontsIter *fonts);
GBytes *g_bytes_new(const void *data, size_t count);
void g_bytes_unref(GBytes *bytes);
void g_object_unref(void *object);
void g_error_free(GError *error);
void *g_log_set_default_handler(void (*handler)(const char *, int, const char *, void *),
                                void *data);
cairo_surface_t *cairo_image_surface_create_for_data(unsigned char *data, int format, int width,
                                                     int height, int stride);
void cairo_surface_flush(cairo_surface_t *surface);
void cairo_surface_destroy(cairo_surface_t *surface);
cairo_t *cairo_create(cairo_surface_t *surface);
void cairo_scale(cairo_t *cr, double x, double y);
int cairo_status(cairo_t *cr);
const char *cairo_status_to_string(int status);
void cairo_destroy(cairo_t *cr);

enum { cairo_format_argb32 = 0, poppler_error_encrypted = 1 };

#define FUNCTIONS(F) \
    F(poppler_document_new_from_bytes) F(poppler_document_get_page) F(poppler_page_get_size) \
    F(poppler_page_render) F(poppler_font_info_new) F(poppler_font_info_scan) \
    F(poppler_font_info_free) F(poppler_fonts_iter_is_embedded) F(poppler_fonts_iter_get_name) \
    F(poppler_fonts_iter_next) F(poppler_fonts_iter_free) F(g_bytes_new) F(g_bytes_unref) \
    F(g_object_unref) F(g_error_free) F(g_log_set_default_handler) \
    F(cairo_image_surface_create_for_data) F(cairo_surface_flush) F(cairo_surface_destroy) \
    F(cairo_create) F(cairo_scale) F(cairo_status) F(cairo_status_to_string) F(cairo_destroy)

// Its dependencies contain the functions of GLib and cairo.
CALOTYPE_LAZY_LIBRARY("libpoppler-glib.so.8", FUNCTIONS)

static void keep_quiet(const char *domain, int level, const char *message, void *data) {
    (void)domain, (void)level, (void)message, (void)data;
}

static PopplerDocument *parse(const void *bytes, size_t count, GError **error) {
    GBytes *copy = lazy.g_bytes_new(bytes, count);
    PopplerDocument *document = lazy.poppler_document_new_from_bytes(copy, NULL, error);
    lazy.g_bytes_unref(copy);
    return document;
}

// Never closed: poppler reads its files again for the first document after the last one was closed.
static PopplerDocument *permanent;

static void prepare(void) {
    if (lazy_problem) return;
    // GLib's handler checks its output stream before it drops a warning.
    lazy.g_log_set_default_handler(keep_quiet, NULL);
    static const char file[] = "%PDF-1.4\n1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj\n"
                               "2 0 obj <</Type /Pages /Kids [] /Count 0>> endobj\n"
                               "trailer <</Root 1 0 R>>\n%%EOF\n";
    GError *error = NULL;
    permanent = parse(file, sizeof file - 1, &error);
    if (error) lazy.g_error_free(error);
}

const char *calotype_pdf_missing(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char *problem = load_lazily();
    pthread_once(&once, prepare);
    return problem;
}

struct calotype_pdf {
    PopplerDocument *document;
    PopplerPage *page;
    char message[256];
};

calotype_pdf *calotype_pdf_create(void) { return calloc(1, sizeof(calotype_pdf)); }

void calotype_pdf_destroy(calotype_pdf *pdf) {
    if (pdf->page) lazy.g_object_unref(pdf->page);
    if (pdf->document) lazy.g_object_unref(pdf->document);
    free(pdf);
}

const char *calotype_pdf_message(const calotype_pdf *pdf) { return pdf->message; }

calotype_pdf_status calotype_pdf_open(calotype_pdf *pdf, const uint8_t *bytes, size_t count) {
    GError *error = NULL;
    pdf->document = parse(bytes, count, &error);
    if (!pdf->document) {
        bool is_encrypted = error && error->code == poppler_error_encrypted;
        snprintf(pdf->message, sizeof pdf->message, "%s",
                 is_encrypted ? "a PDF file that requires a password"
                 : error      ? error->message
                              : "invalid PDF file");
        if (error) lazy.g_error_free(error);
        return is_encrypted ? calotype_pdf_unsupported : calotype_pdf_malformed;
    }
    pdf->page = lazy.poppler_document_get_page(pdf->document, 0);
    if (pdf->page) return calotype_pdf_ok;
    snprintf(pdf->message, sizeof pdf->message, "PDF file without a page");
    return calotype_pdf_malformed;
}

void calotype_pdf_size(calotype_pdf *pdf, double *width, double *height) {
    lazy.poppler_page_get_size(pdf->page, width, height);
}

// A sandboxed process cannot open the fonts of the system, which poppler opens for each document.
static calotype_pdf_status check_fonts(calotype_pdf *pdf) {
    calotype_pdf_status status = calotype_pdf_ok;
    PopplerFontInfo *info = lazy.poppler_font_info_new(pdf->document);
    PopplerFontsIter *fonts = NULL;
    if (lazy.poppler_font_info_scan(info, 1, &fonts) && fonts) {
        do {
            if (lazy.poppler_fonts_iter_is_embedded(fonts)) continue;
            const char *name = lazy.poppler_fonts_iter_get_name(fonts);
            snprintf(pdf->message, sizeof pdf->message,
                     "a PDF page with the font %s, which the file does not contain",
                     name ? name : "without a name");
            status = calotype_pdf_unsupported;
        } while (status == calotype_pdf_ok && lazy.poppler_fonts_iter_next(fonts));
    }
    if (fonts) lazy.poppler_fonts_iter_free(fonts);
    lazy.poppler_font_info_free(info);
    return status;
}

calotype_pdf_status calotype_pdf_draw(calotype_pdf *pdf, uint32_t *pixels, int width, int height) {
    calotype_pdf_status status = check_fonts(pdf);
    if (status != calotype_pdf_ok) return status;
    double page_width, page_height;
    lazy.poppler_page_get_size(pdf->page, &page_width, &page_height);
    cairo_surface_t *surface = lazy.cairo_image_surface_create_for_data(
        (unsigned char *)pixels, cairo_format_argb32, width, height, width * 4);
    cairo_t *cr = lazy.cairo_create(surface);
    lazy.cairo_scale(cr, width / page_width, height / page_height);
    lazy.poppler_page_render(pdf->page, cr);
    int problem = lazy.cairo_status(cr);
    lazy.cairo_surface_flush(surface);
    lazy.cairo_destroy(cr);
    lazy.cairo_surface_destroy(surface);
    if (problem == 0) return calotype_pdf_ok;
    snprintf(pdf->message, sizeof pdf->message, "cairo: %s", lazy.cairo_status_to_string(problem));
    return calotype_pdf_failed;
}

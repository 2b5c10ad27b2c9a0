// SPDX-License-Identifier: Apache-2.0
//
// Takes error paths of the C interface again and again: errors_test WORKER IMAGE FILE...
//
// WORKER is calotype-decoder, IMAGE a JPEG file, each FILE one that may be invalid. Each status that a program can
// cause occurs, and the memory in use does not grow. Run under valgrind as well: scripts/test-c-library.

#define _GNU_SOURCE
#include <calotype.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

static int failures;
static int counts[CALOTYPE_SANDBOX_UNAVAILABLE + 1];
#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            printf("errors_test.c:%d: failed: %s\n", __LINE__, #condition);         \
            failures++;                                                             \
        }                                                                           \
    } while (0)

// Counts a status, whose error must have a text.
static calotype_status count(calotype_status status, const calotype_error *error) {
    counts[status]++;
    if (status) CHECK(error->status == status && error->message[0]);
    return status;
}

// Opens, decodes and encodes a file; the objects of steps that fail do not exist.
static void process(const char *path) {
    calotype_error error;
    calotype_source *source = NULL;
    if (count(calotype_open_path(path, NULL, NULL, &source, &error), &error)) {
        CHECK(!source && strstr(error.message, path));
        return;
    }
    calotype_data *data = NULL;
    for (calotype_metadata kind = CALOTYPE_EXIF; kind <= CALOTYPE_ICC; kind++) {
        count(calotype_source_metadata(source, kind, &data, &error), &error);
        calotype_data_release(data);
        data = NULL;
    }
    const calotype_format formats[] = {CALOTYPE_FORMAT_OF_FILE, CALOTYPE_RGBA16, CALOTYPE_YCBCR420};
    for (int i = 0; i < 3; i++) {
        calotype_decode_options options = {.struct_size = sizeof options, .width = 50, .height = 50,
                                           .format = formats[i], .flags = CALOTYPE_REJECT_TRUNCATED};
        calotype_image *image = NULL;
        if (count(calotype_decode(source, &options, NULL, &image, &error), &error)) CHECK(!image);
        calotype_image_release(image);
        if (count(calotype_thumbnail(source, &options, "png", NULL, NULL, &data, &error), &error)) CHECK(!data);
        calotype_data_release(data);
        data = NULL;
    }
    calotype_source_release(source);
}

// Writes the first bytes of a file.
static void write_part(const char *path, const char *bytes, size_t byte_count) {
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(bytes, 1, byte_count, file) == byte_count);
    if (file) fclose(file);
}

static void take_paths_of_arguments(const char *image_path, const char *worker) {
    calotype_error error;
    calotype_source *source = NULL;
    calotype_image *image = NULL;
    calotype_data *data = NULL;
    calotype_sandbox *sandbox = NULL;
    count(calotype_open_path(NULL, NULL, NULL, &source, &error), &error);
    count(calotype_open_path("/nonexistent", NULL, NULL, &source, &error), &error);
    count(calotype_open_bytes("text", 4, NULL, NULL, &source, &error), &error);
    calotype_limits limits = {.struct_size = sizeof limits, .side = 10};
    count(calotype_open_path(image_path, &limits, NULL, &source, &error), &error);
    count(calotype_sandbox_create("/nonexistent", 1, &sandbox, &error), &error);
    count(calotype_sandbox_create("/bin/true", 1, &sandbox, &error), &error);
    CHECK(!source && !sandbox);
    CHECK(calotype_open_path(image_path, NULL, NULL, &source, &error) == CALOTYPE_OK);
    calotype_decode_options options = {.struct_size = sizeof options, .flags = 1u << 31};
    count(calotype_decode(source, &options, NULL, &image, &error), &error);
    options.flags = 0;
    options.page = 9;
    count(calotype_decode(source, &options, NULL, &image, &error), &error);
    count(calotype_thumbnail(source, NULL, "doc", NULL, NULL, &data, &error), &error);
    calotype_cancellation *cancellation = calotype_cancellation_create();
    calotype_cancellation_cancel(cancellation);
    count(calotype_decode(source, NULL, cancellation, &image, &error), &error);
    count(calotype_thumbnail(source, NULL, "jpeg", NULL, cancellation, &data, &error), &error);
    calotype_cancellation_release(cancellation);
    CHECK(!image && !data);
    calotype_source_release(source);
    // A source of a sandbox that has been released.
    if (count(calotype_sandbox_create(worker, 1, &sandbox, &error), &error)) return;
    CHECK(calotype_open_path(image_path, NULL, sandbox, &source, &error) == CALOTYPE_OK);
    calotype_sandbox_release(sandbox);
    CHECK(count(calotype_decode(source, NULL, NULL, &image, &error), &error) != CALOTYPE_OK && !image);
    calotype_source_release(source);
}

// A truncated file, and one that becomes shorter after it has been opened.
static void take_paths_of_short_files(const char *image_path) {
    FILE *file = fopen(image_path, "rb");
    char bytes[1 << 16], path[] = "/tmp/calotype-errors-XXXXXX";
    size_t byte_count = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file) fclose(file);
    int descriptor = mkstemp(path);
    CHECK(byte_count > 1000 && descriptor >= 0);
    write_part(path, bytes, byte_count / 2);
    process(path);
    write_part(path, bytes, byte_count);
    calotype_error error;
    calotype_source *source = NULL;
    calotype_image *image = NULL;
    CHECK(calotype_open_path(path, NULL, NULL, &source, &error) == CALOTYPE_OK);
    CHECK(ftruncate(descriptor, 0) == 0);
    // Valgrind does not deliver SIGBUS on a stack that would have to grow.
    if (RUNNING_ON_VALGRIND) {
        counts[CALOTYPE_FILE_CHANGED]++;
    } else {
        count(calotype_decode(source, NULL, NULL, &image, &error), &error);
    }
    calotype_image_release(image);
    calotype_source_release(source);
    close(descriptor);
    unlink(path);
}

int main(int argument_count, char **arguments) {
    if (argument_count < 4) return 2;
    enum { ROUNDS = 16 };
    size_t in_use[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        take_paths_of_arguments(arguments[2], arguments[1]);
        take_paths_of_short_files(arguments[2]);
        for (int i = 3; i < argument_count; i++) process(arguments[i]);
        in_use[round] = mallinfo2().uordblks;
    }
    // Caches are filled in the first rounds.
    CHECK(in_use[ROUNDS - 1] <= in_use[ROUNDS / 2] + 4096);
    const calotype_status expected[] = {
        CALOTYPE_OK, CALOTYPE_INVALID_ARGUMENT, CALOTYPE_UNKNOWN_FORMAT, CALOTYPE_DAMAGED, CALOTYPE_TRUNCATED,
        CALOTYPE_UNSUPPORTED, CALOTYPE_LIMIT_EXCEEDED, CALOTYPE_CANCELLED, CALOTYPE_FILE, CALOTYPE_FILE_CHANGED,
        CALOTYPE_SANDBOX_UNAVAILABLE};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (!counts[expected[i]]) {
            printf("errors_test.c: status %d did not occur\n", expected[i]);
            failures++;
        }
    for (int i = 0; i <= CALOTYPE_SANDBOX_UNAVAILABLE; i++) printf("%d×%d ", i, counts[i]);
    printf("(status × count); %zu, %zu, %zu bytes in use after rounds 1, %d, %d\n", in_use[0], in_use[ROUNDS / 2],
           in_use[ROUNDS - 1], ROUNDS / 2 + 1, ROUNDS);
    return failures ? 1 : 0;
}

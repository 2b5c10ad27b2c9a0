// SPDX-License-Identifier: Apache-2.0
//
// Tests of the C interface: interface_test IMAGE DAMAGED WORKER
//
// IMAGE is an image of at least 16x16 pixels, DAMAGED a file that cannot be decoded, WORKER calotype-decoder.

#define _GNU_SOURCE
#include <calotype.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;
#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            printf("interface_test.c:%d: failed: %s\n", __LINE__, #condition);      \
            failures++;                                                             \
        }                                                                           \
    } while (0)

static const char *image_path;

static calotype_source *opened(void) {
    calotype_error error = {0};
    calotype_source *source = NULL;
    if (calotype_open_path(image_path, NULL, NULL, &source, &error)) printf("%s\n", error.message);
    CHECK(source);
    return source;
}

// Returns a digest of the pixels of an image of 64x64 pixels; 0 after an error.
static uint64_t decoded_digest(void) {
    calotype_source *source = opened();
    calotype_decode_options options = {.struct_size = sizeof options, .width = 64, .height = 64,
                                       .resize = CALOTYPE_EXACT, .format = CALOTYPE_RGB8,
                                       .flags = CALOTYPE_ALLOW_ENLARGING};
    calotype_image *image = NULL;
    calotype_error error = {0};
    CHECK(calotype_decode(source, &options, NULL, &image, &error) == CALOTYPE_OK);
    calotype_source_release(source);
    if (!image) return 0;
    calotype_pixels pixels = {.struct_size = sizeof pixels};
    CHECK(calotype_image_pixels(image, &pixels, &error) == CALOTYPE_OK);
    CHECK(pixels.width == 64 && pixels.height == 64 && pixels.format == CALOTYPE_RGB8);
    CHECK((uintptr_t)pixels.data % 16 == 0 && pixels.bytes_per_row % 64 == 0);
    uint64_t digest = 14695981039346656037u;
    for (uint32_t y = 0; y < pixels.height; y++)
        for (uint32_t x = 0; x < 3 * pixels.width; x++)
            digest = (digest ^ ((const uint8_t *)pixels.data)[y * pixels.bytes_per_row + x]) * 1099511628211u;
    calotype_image_release(image);
    return digest;
}

static int child_decodes(uint64_t expected) {
    pid_t child = fork();
    if (child == 0) {
        uint64_t digest = decoded_digest();
        _exit(failures == 0 && digest && (expected == 0 || digest == expected) ? 0 : 1);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int thread_count(void) {
    char line[256];
    int count = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file)) sscanf(line, "Threads: %d", &count);
    if (file) fclose(file);
    return count;
}

static void test_before_first_call(void) {
    struct sigaction action;
    CHECK(thread_count() == 1);
    CHECK(sigaction(SIGBUS, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
    CHECK(calotype_abi_version() >= CALOTYPE_ABI_VERSION);
    CHECK(child_decodes(0));
}

static void test_header_and_descriptor(void) {
    calotype_source *source = opened(), *again = NULL;
    calotype_header header = {.struct_size = sizeof header}, other = {.struct_size = sizeof other};
    CHECK(calotype_source_header(source, &header, NULL) == CALOTYPE_OK);
    CHECK(header.width >= 16 && header.height >= 16 && header.page_count == 1 && strlen(header.format) > 2);
    int descriptor = open(image_path, O_RDONLY);
    CHECK(calotype_open_descriptor(descriptor, NULL, NULL, &again, NULL) == CALOTYPE_OK);
    close(descriptor);
    CHECK(calotype_source_header(again, &other, NULL) == CALOTYPE_OK);
    CHECK(memcmp(&header, &other, sizeof header) == 0);
    calotype_data *data = NULL;
    CHECK(calotype_source_metadata(source, CALOTYPE_EXIF, &data, NULL) == CALOTYPE_OK);
    calotype_data_release(data);
    CHECK(calotype_source_metadata(source, 99, &data, NULL) == CALOTYPE_INVALID_ARGUMENT);
    calotype_source_release(again);
    calotype_source_release(source);
}

static void test_own_memory(void) {
    calotype_source *source = opened();
    const calotype_format formats[] = {CALOTYPE_GRAY8, CALOTYPE_RGB8, CALOTYPE_RGBA8,
                                       CALOTYPE_GRAY16, CALOTYPE_RGB16, CALOTYPE_RGBA16};
    const size_t sizes[] = {1, 3, 4, 2, 6, 8};
    for (size_t i = 0; i < 6; i++) {
        const size_t stride = 31 * sizes[i] + 5, count = 17 * stride;
        uint8_t *memory = malloc(count + 1);
        memset(memory, 0xA5, count + 1);
        calotype_pixels pixels = {.struct_size = sizeof pixels, .data = memory, .bytes_per_row = stride,
                                  .width = 31, .height = 17, .format = formats[i]};
        CHECK(calotype_decode_into(source, NULL, NULL, &pixels, count, NULL) == CALOTYPE_OK);
        // The bytes between rows and after the last one are not touched.
        CHECK(memory[stride - 1] == 0xA5 && memory[stride - 5] == 0xA5 && memory[count] == 0xA5);
        CHECK(calotype_decode_into(source, NULL, NULL, &pixels, count / 2, NULL) == CALOTYPE_INVALID_ARGUMENT);
        pixels.bytes_per_row = 31 * sizes[i] - 1;
        CHECK(calotype_decode_into(source, NULL, NULL, &pixels, count, NULL) == CALOTYPE_INVALID_ARGUMENT);
        pixels.bytes_per_row = SIZE_MAX / 2;
        CHECK(calotype_decode_into(source, NULL, NULL, &pixels, count, NULL) == CALOTYPE_INVALID_ARGUMENT);
        free(memory);
    }
    calotype_source_release(source);
}

static void test_encoding(void) {
    uint8_t rows[2][12] = {{255, 0, 0, 0, 255, 0, 0, 0, 255}, {1, 2, 3, 4, 5, 6, 7, 8, 9}};
    calotype_pixels pixels = {.struct_size = sizeof pixels, .data = rows, .bytes_per_row = 12,
                              .width = 3, .height = 2, .format = CALOTYPE_RGB8};
    calotype_data *data = NULL;
    calotype_source *source = NULL;
    calotype_image *image = NULL;
    CHECK(calotype_encode(&pixels, "png", NULL, NULL, &data, NULL) == CALOTYPE_OK);
    CHECK(calotype_open_bytes(calotype_data_bytes(data), calotype_data_byte_count(data), NULL, NULL, &source,
                              NULL) == CALOTYPE_OK);
    calotype_data_release(data);
    CHECK(calotype_decode(source, NULL, NULL, &image, NULL) == CALOTYPE_OK);
    calotype_source_release(source);
    calotype_pixels result = {.struct_size = sizeof result};
    CHECK(calotype_image_pixels(image, &result, NULL) == CALOTYPE_OK);
    CHECK(result.width == 3 && result.height == 2);
    for (int y = 0; y < 2; y++)
        CHECK(memcmp((const uint8_t *)result.data + y * result.bytes_per_row, rows[y], 9) == 0);
    calotype_image_release(image);
    CHECK(calotype_encode(&pixels, "doc", NULL, NULL, &data, NULL) == CALOTYPE_UNSUPPORTED);
    calotype_encode_options options = {.struct_size = sizeof options, .quality = 101};
    CHECK(calotype_encode(&pixels, "jpeg", &options, NULL, &data, NULL) == CALOTYPE_INVALID_ARGUMENT);
}

static void test_errors(const char *damaged) {
    calotype_error error = {0};
    calotype_source *source = NULL;
    CHECK(calotype_open_path(NULL, NULL, NULL, &source, &error) == CALOTYPE_INVALID_ARGUMENT);
    CHECK(strcmp(error.message, "path is null") == 0);
    CHECK(calotype_open_path("/nonexistent", NULL, NULL, &source, &error) == CALOTYPE_FILE);
    CHECK(strstr(error.message, "/nonexistent: ") == error.message && error.status == CALOTYPE_FILE);
    CHECK(calotype_open_path(image_path, NULL, NULL, NULL, &error) == CALOTYPE_INVALID_ARGUMENT);
    CHECK(calotype_open_bytes("no image", 8, NULL, NULL, &source, &error) == CALOTYPE_UNKNOWN_FORMAT);
    CHECK(calotype_open_bytes(NULL, 8, NULL, NULL, &source, &error) == CALOTYPE_INVALID_ARGUMENT);
    CHECK(calotype_open_descriptor(-1, NULL, NULL, &source, &error) == CALOTYPE_FILE && source == NULL);
    char path[4096];
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = 0;
    CHECK(calotype_open_path(path, NULL, NULL, &source, &error) == CALOTYPE_FILE);
    CHECK(strlen(error.message) == sizeof error.message - 1);
    calotype_limits limits = {.struct_size = sizeof limits, .side = 10};
    CHECK(calotype_open_path(image_path, &limits, NULL, &source, &error) == CALOTYPE_LIMIT_EXCEEDED);
    limits.struct_size = 8;
    CHECK(calotype_open_path(image_path, &limits, NULL, &source, &error) == CALOTYPE_INVALID_ARGUMENT);
    calotype_status status = calotype_open_path(damaged, NULL, NULL, &source, &error);
    if (status == CALOTYPE_OK) {
        calotype_image *image = NULL;
        calotype_decode_options options = {.struct_size = sizeof options, .flags = CALOTYPE_REJECT_TRUNCATED};
        status = calotype_decode(source, &options, NULL, &image, &error);
        CHECK(image == NULL);
        calotype_source_release(source);
    }
    CHECK(status == CALOTYPE_TRUNCATED || status == CALOTYPE_DAMAGED);
    CHECK(strstr(error.message, damaged) == error.message);
    calotype_source_release(NULL);
    calotype_image_release(NULL);
    calotype_data_release(NULL);
    calotype_batch_wait(NULL);
    CHECK(calotype_data_bytes(NULL) == NULL && calotype_data_byte_count(NULL) == 0);
}

static void test_cancellation(void) {
    calotype_source *source = opened();
    calotype_cancellation *cancellation = calotype_cancellation_create();
    calotype_cancellation_cancel(cancellation);
    calotype_image *image = NULL;
    CHECK(calotype_decode(source, NULL, cancellation, &image, NULL) == CALOTYPE_CANCELLED && !image);
    // A handle of another type is an error, not undefined behaviour.
    CHECK(calotype_decode((calotype_source *)cancellation, NULL, NULL, &image, NULL) == CALOTYPE_INVALID_ARGUMENT);
    calotype_cancellation_release(cancellation);
    calotype_source_release(source);
}

static void test_sandbox(const char *worker) {
    calotype_sandbox *sandbox = NULL;
    calotype_error error = {0};
    CHECK(calotype_sandbox_create("/nonexistent", 1, &sandbox, &error) == CALOTYPE_SANDBOX_UNAVAILABLE);
    CHECK(calotype_sandbox_create(worker, 1, &sandbox, &error) == CALOTYPE_OK);
    calotype_source *source = NULL;
    calotype_image *image = NULL;
    CHECK(calotype_open_path(image_path, NULL, sandbox, &source, &error) == CALOTYPE_OK);
    CHECK(calotype_decode(source, NULL, NULL, &image, &error) == CALOTYPE_OK && image);
    calotype_image_release(image);
    calotype_source_release(source);
    calotype_sandbox_release(sandbox);
}

struct results {
    pthread_mutex_t lock;
    int counts[20];
    int images;
    int errors;
};

static void count_result(void *context, size_t index, calotype_image *image, const calotype_error *error) {
    struct results *results = context;
    pthread_mutex_lock(&results->lock);
    results->counts[index]++;
    if (image) results->images++;
    if (error) results->errors++;
    pthread_mutex_unlock(&results->lock);
    calotype_image_release(image);
}

static void test_batch(void) {
    const char *paths[20];
    for (int i = 0; i < 20; i++) paths[i] = i == 7 ? "/nonexistent" : image_path;
    calotype_decode_options options = {.struct_size = sizeof options, .width = 64, .height = 64};
    for (int cancels = 0; cancels < 2; cancels++) {
        struct results results = {.lock = PTHREAD_MUTEX_INITIALIZER};
        calotype_batch *batch = NULL;
        CHECK(calotype_batch_start(paths, 20, &options, NULL, NULL, 2, count_result, &results, &batch, NULL) ==
              CALOTYPE_OK);
        if (cancels) calotype_batch_cancel(batch);
        calotype_batch_wait(batch);
        for (int i = 0; i < 20; i++) CHECK(results.counts[i] == 1);
        CHECK(results.images + results.errors == 20 && (cancels || results.errors == 1));
    }
    CHECK(thread_count() == 1);
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    image_path = arguments[1];
    test_before_first_call();
    uint64_t digest = decoded_digest();
    CHECK(child_decodes(digest));
    test_header_and_descriptor();
    test_own_memory();
    test_encoding();
    test_errors(arguments[2]);
    test_cancellation();
    test_batch();
    CHECK(child_decodes(digest));
    test_sandbox(arguments[3]);
    if (failures == 0) printf("All tests of the C interface passed.\n");
    return failures ? 1 : 0;
}

// SPDX-License-Identifier: Apache-2.0
//
// Example: prints the size and the mean grey level of each file, decoded on two threads.
//
// cc batch.c $(pkg-config --cflags --libs calotype) -o batch

#include <calotype.h>
#include <stdio.h>

static void print_result(void *context, size_t index, calotype_image *image, const calotype_error *error) {
    char **paths = context;
    if (!image) {
        printf("%s\n", error->message);
        return;
    }
    calotype_pixels pixels = {.struct_size = sizeof pixels};
    calotype_image_pixels(image, &pixels, NULL);
    uint64_t sum = 0;
    for (uint32_t y = 0; y < pixels.height; y++) {
        const uint8_t *row = (const uint8_t *)pixels.data + y * pixels.bytes_per_row;
        for (uint32_t x = 0; x < pixels.width; x++) sum += row[x];
    }
    printf("%s: %ux%u, mean %u\n", paths[index], pixels.width, pixels.height,
           (unsigned)(sum / ((uint64_t)pixels.width * pixels.height)));
    calotype_image_release(image);
}

int main(int count, char **arguments) {
    calotype_decode_options options = {
        .struct_size = sizeof options, .width = 200, .height = 200, .format = CALOTYPE_GRAY8};
    calotype_batch *batch;
    calotype_error error;
    if (calotype_batch_start((const char *const *)arguments + 1, count - 1, &options, NULL, NULL, 2, print_result,
                             arguments + 1, &batch, &error)) {
        fprintf(stderr, "batch: %s\n", error.message);
        return 1;
    }
    calotype_batch_wait(batch);
    return 0;
}

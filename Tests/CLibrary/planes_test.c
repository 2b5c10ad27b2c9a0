// SPDX-License-Identifier: Apache-2.0
//
// Tests of planes of luma and chroma: planes_test IMAGE, an image of at least 16x16 pixels.

#include <calotype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 31, HEIGHT = 17, HALF_WIDTH = 16, HALF_HEIGHT = 9 };
// The bytes between the rows of memory of the caller.
enum { GAP = 5 };

static int failures;
#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            printf("planes_test.c:%d: failed: %s\n", __LINE__, #condition);         \
            failures++;                                                             \
        }                                                                           \
    } while (0)

static const calotype_decode_options options = {.struct_size = sizeof options, .width = WIDTH, .height = HEIGHT,
                                                .resize = CALOTYPE_EXACT, .format = CALOTYPE_YCBCR420,
                                                .flags = CALOTYPE_ALLOW_ENLARGING};

static uint8_t sample(const calotype_plane *plane, uint32_t x, uint32_t y) {
    return ((const uint8_t *)plane->data)[y * plane->bytes_per_row + x];
}

// Luma is the grey of the image, which the decoder computes without chroma.
static void test_luma_is_grey(calotype_source *source, const calotype_planes *planes) {
    calotype_decode_options grey = options;
    grey.format = CALOTYPE_GRAY8;
    calotype_image *image = NULL;
    calotype_pixels pixels = {.struct_size = sizeof pixels};
    CHECK(calotype_decode(source, &grey, NULL, &image, NULL) == CALOTYPE_OK);
    CHECK(calotype_image_pixels(image, &pixels, NULL) == CALOTYPE_OK);
    int difference = 0;
    for (uint32_t y = 0; y < HEIGHT; y++)
        for (uint32_t x = 0; x < WIDTH; x++) {
            int luma = sample(&planes->planes[0], x, y);
            int other = abs(luma - ((const uint8_t *)pixels.data)[y * pixels.bytes_per_row + x]);
            if (other > difference) difference = other;
        }
    CHECK(difference <= 2);
    calotype_image_release(image);
}

// The memory of the caller receives the same planes, and nothing around them is written.
static void test_own_memory(calotype_source *source, const calotype_planes *expected, calotype_format format) {
    const int count = format == CALOTYPE_NV12 ? 2 : 3;
    const size_t widths[] = {WIDTH, count == 2 ? 2 * HALF_WIDTH : HALF_WIDTH, HALF_WIDTH};
    const size_t heights[] = {HEIGHT, HALF_HEIGHT, HALF_HEIGHT};
    calotype_planes planes = {.struct_size = sizeof planes, .width = WIDTH, .height = HEIGHT, .format = format};
    uint8_t *memory[3];
    for (int i = 0; i < count; i++) {
        const size_t stride = widths[i] + GAP, byte_count = heights[i] * stride - GAP;
        memory[i] = malloc(byte_count + 1);
        memset(memory[i], 0xA5, byte_count + 1);
        planes.planes[i] = (calotype_plane){.data = memory[i], .byte_count = byte_count, .bytes_per_row = stride};
    }
    CHECK(calotype_decode_into_planes(source, &options, NULL, &planes, NULL) == CALOTYPE_OK);
    for (int i = 0; i < count; i++) {
        CHECK(memory[i][widths[i]] == 0xA5 && memory[i][planes.planes[i].byte_count] == 0xA5);
        for (uint32_t y = 0; y < heights[i]; y++)
            for (uint32_t x = 0; x < widths[i]; x++) {
                const int isPair = count == 2 && i == 1;
                const calotype_plane *plane = &expected->planes[isPair ? 1 + x % 2 : (uint32_t)i];
                CHECK(sample(&planes.planes[i], x, y) == sample(plane, isPair ? x / 2 : x, y));
            }
    }
    calotype_error error = {0};
    const calotype_planes valid = planes;
    planes.planes[1].byte_count--;
    CHECK(calotype_decode_into_planes(source, NULL, NULL, &planes, &error) == CALOTYPE_INVALID_ARGUMENT);
    CHECK(strstr(error.message, "planes[1].byte_count") == error.message);
    planes = valid;
    planes.planes[0].bytes_per_row = WIDTH - 1;
    CHECK(calotype_decode_into_planes(source, NULL, NULL, &planes, &error) == CALOTYPE_INVALID_ARGUMENT);
    planes.planes[0].bytes_per_row = SIZE_MAX / 2;
    CHECK(calotype_decode_into_planes(source, NULL, NULL, &planes, &error) == CALOTYPE_INVALID_ARGUMENT);
    planes = valid;
    planes.planes[1].data = NULL;
    CHECK(calotype_decode_into_planes(source, NULL, NULL, &planes, &error) == CALOTYPE_INVALID_ARGUMENT);
    planes = valid;
    planes.height = 0;
    CHECK(calotype_decode_into_planes(source, NULL, NULL, &planes, &error) == CALOTYPE_INVALID_ARGUMENT);
    planes = valid;
    planes.format = CALOTYPE_RGB8;
    CHECK(calotype_decode_into_planes(source, NULL, NULL, &planes, &error) == CALOTYPE_INVALID_ARGUMENT);
    CHECK(calotype_decode_into_planes(source, NULL, NULL, NULL, &error) == CALOTYPE_INVALID_ARGUMENT);
    for (int i = 0; i < count; i++) free(memory[i]);
}

static void test_formats_are_not_confused(calotype_source *source, calotype_image *planar) {
    calotype_pixels pixels = {.struct_size = sizeof pixels};
    calotype_planes planes = {.struct_size = sizeof planes};
    CHECK(calotype_image_pixels(planar, &pixels, NULL) == CALOTYPE_INVALID_ARGUMENT);
    planes.struct_size = 16;
    CHECK(calotype_image_planes(planar, &planes, NULL) == CALOTYPE_INVALID_ARGUMENT);
    planes.struct_size = sizeof planes;
    calotype_image *image = NULL;
    CHECK(calotype_decode(source, NULL, NULL, &image, NULL) == CALOTYPE_OK);
    CHECK(calotype_image_planes(image, &planes, NULL) == CALOTYPE_INVALID_ARGUMENT);
    calotype_image_release(image);
    uint8_t byte = 0;
    pixels = (calotype_pixels){sizeof pixels, &byte, 1, 1, 1, CALOTYPE_YCBCR420};
    CHECK(calotype_decode_into(source, NULL, NULL, &pixels, 1, NULL) == CALOTYPE_INVALID_ARGUMENT);
    calotype_data *data = NULL;
    CHECK(calotype_encode(&pixels, "png", NULL, NULL, &data, NULL) == CALOTYPE_INVALID_ARGUMENT);
    calotype_decode_options nv12 = options;
    nv12.format = CALOTYPE_NV12;
    CHECK(calotype_decode(source, &nv12, NULL, &image, NULL) == CALOTYPE_INVALID_ARGUMENT && !image);
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    calotype_source *source = NULL;
    calotype_image *image = NULL;
    calotype_planes planes = {.struct_size = sizeof planes};
    CHECK(calotype_open_path(arguments[1], NULL, NULL, &source, NULL) == CALOTYPE_OK);
    CHECK(calotype_decode(source, &options, NULL, &image, NULL) == CALOTYPE_OK);
    CHECK(calotype_image_planes(image, &planes, NULL) == CALOTYPE_OK);
    CHECK(planes.width == WIDTH && planes.height == HEIGHT && planes.plane_count == 3);
    CHECK(planes.format == CALOTYPE_YCBCR420);
    for (int i = 0; i < 3; i++) {
        const calotype_plane *plane = &planes.planes[i];
        CHECK(plane->width == (i ? HALF_WIDTH : WIDTH) && plane->height == (i ? HALF_HEIGHT : HEIGHT));
        CHECK(plane->byte_count == (plane->height - 1) * plane->bytes_per_row + plane->width);
    }
    test_luma_is_grey(source, &planes);
    test_own_memory(source, &planes, CALOTYPE_YCBCR420);
    test_own_memory(source, &planes, CALOTYPE_NV12);
    test_formats_are_not_confused(source, image);
    calotype_image_release(image);
    calotype_source_release(source);
    if (failures == 0) printf("All tests of planes passed.\n");
    return failures ? 1 : 0;
}

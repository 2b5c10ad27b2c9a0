// SPDX-License-Identifier: Apache-2.0
//
// Example: writes a thumbnail of at most 400x400 pixels.
//
// cc thumbnail.c $(pkg-config --cflags --libs calotype) -o thumbnail

#include <calotype.h>
#include <stdio.h>

static int write_file(const char *path, calotype_data *data) {
    FILE *file = fopen(path, "wb");
    if (!file) return -1;
    size_t written = fwrite(calotype_data_bytes(data), 1, calotype_data_byte_count(data), file);
    return fclose(file) == 0 && written == calotype_data_byte_count(data) ? 0 : -1;
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: thumbnail INPUT OUTPUT.jpg\n");
        return 2;
    }
    calotype_error error;
    calotype_source *source;
    if (calotype_open_path(arguments[1], NULL, NULL, &source, &error)) {
        fprintf(stderr, "thumbnail: %s\n", error.message);
        return 1;
    }
    calotype_decode_options options = {.struct_size = sizeof options, .width = 400, .height = 400};
    calotype_data *data;
    calotype_status status = calotype_thumbnail(source, &options, "jpeg", NULL, NULL, &data, &error);
    calotype_source_release(source);
    if (status) {
        fprintf(stderr, "thumbnail: %s\n", error.message);
        return 1;
    }
    int result = write_file(arguments[2], data);
    calotype_data_release(data);
    if (result) perror(arguments[2]);
    return result ? 1 : 0;
}

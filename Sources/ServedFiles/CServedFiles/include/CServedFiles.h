// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A file that is built into the program.
struct calotype_served_file {
    const char *name;
    const uint8_t *bytes;
    size_t count;
};

/// Reads the entry of a file of the gallery; returns false behind the last one.
bool calotype_gallery_file(size_t index, struct calotype_served_file *file);

/// Returns the OpenAPI description of the routes.
struct calotype_served_file calotype_api_description(void);

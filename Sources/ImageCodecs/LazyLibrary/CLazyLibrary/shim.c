// SPDX-License-Identifier: Apache-2.0

#include "lazy_library.h"

#include <dlfcn.h>
#include <string.h>

const char *calotype_load_library(const char *name, const calotype_function *functions,
                                  size_t count) {
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    for (size_t i = 0; library && i < count; i++) {
        *functions[i].address = dlsym(library, functions[i].name);
        if (!*functions[i].address) library = NULL;
    }
    if (library) return NULL;
    const char *reason = dlerror();
    char *copy = reason ? strdup(reason) : NULL;
    return copy ? copy : name;
}

// SPDX-License-Identifier: Apache-2.0

#include "allocation_count.h"

#include <errno.h>
#include <stdlib.h>

// Interposes the functions of glibc with the same names.
extern void *__libc_malloc(size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static unsigned long count;

static void add(void) { __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED); }

void *malloc(size_t size) {
    add();
    return __libc_malloc(size);
}

int posix_memalign(void **place, size_t alignment, size_t size) {
    add();
    *place = __libc_memalign(alignment, size);
    return *place == NULL ? ENOMEM : 0;
}

void *aligned_alloc(size_t alignment, size_t size) {
    add();
    return __libc_memalign(alignment, size);
}

unsigned long calotype_allocation_count(void) { return __atomic_load_n(&count, __ATOMIC_RELAXED); }

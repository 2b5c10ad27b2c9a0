// SPDX-License-Identifier: Apache-2.0
//
// Loads libraries on first use: for some that takes longer than decoding a photograph of another
// format.

#ifndef CALOTYPE_CLAZYLIBRARY_H
#define CALOTYPE_CLAZYLIBRARY_H

#include <pthread.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const char *name;
    /// Receives the function's address.
    void **address;
} calotype_function;

/// Loads a library for the lifetime of the process, and looks up functions in it.
///
/// Returns NULL, or an error message that remains valid.
const char *calotype_load_library(const char *name, const calotype_function *functions,
                                  size_t count);

#ifdef __cplusplus
}
#endif

/// Defines `lazy`, whose members are the functions listed by the macro `FUNCTIONS`, and
/// `load_lazily()`, which must have returned NULL before any of them is called.
#define CALOTYPE_LAZY_LIBRARY(LIBRARY, FUNCTIONS)                                                \
    static struct { FUNCTIONS(CALOTYPE_LAZY_MEMBER) } lazy;                                      \
    static const char *lazy_problem;                                                             \
    static void load_lazy(void) {                                                                \
        static const calotype_function functions[] = {FUNCTIONS(CALOTYPE_LAZY_FUNCTION)};        \
        lazy_problem =                                                                           \
            calotype_load_library(LIBRARY, functions, sizeof functions / sizeof *functions);     \
    }                                                                                            \
    static const char *load_lazily(void) {                                                       \
        static pthread_once_t once = PTHREAD_ONCE_INIT;                                          \
        pthread_once(&once, load_lazy);                                                          \
        return lazy_problem;                                                                     \
    }

#define CALOTYPE_LAZY_MEMBER(name) __typeof__(&name) name;
#define CALOTYPE_LAZY_FUNCTION(name) {#name, (void **)&lazy.name},

#endif

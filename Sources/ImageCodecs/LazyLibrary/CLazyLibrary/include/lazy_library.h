// SPDX-License-Identifier: Apache-2.0
//
// Libraries that are loaded when they are first needed: for some that takes longer than to decode a
// photograph of another format.

#ifndef CALOTYPE_CLAZYLIBRARY_H
#define CALOTYPE_CLAZYLIBRARY_H

#include <pthread.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const char *name;
    /// Where its address is put.
    void **address;
} calotype_function;

/// Loads a library for as long as the process runs, and finds functions in it.
///
/// Returns NULL, or what is missing, which stays as long.
const char *calotype_load_library(const char *name, const calotype_function *functions,
                                  size_t count);

#ifdef __cplusplus
}
#endif

/// Defines `lazy`, whose members are the functions that the macro `FUNCTIONS` lists, and
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

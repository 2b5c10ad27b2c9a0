// SPDX-License-Identifier: Apache-2.0
//
// Memory of libraries that show what they did not write.

#ifndef CALOTYPE_CLAZYLIBRARY_ZEROED_MEMORY_H
#define CALOTYPE_CLAZYLIBRARY_ZEROED_MEMORY_H

#include <stdbool.h>

/// Makes a loaded library take memory that is filled with zeros.
///
/// A decoder that skips a part of a damaged picture leaves its pixels as they were, which is what the
/// process had in that memory before: another picture. The calls of `malloc`, `posix_memalign` and
/// C++'s `new` in this library alone are redirected, by the table through which it calls other
/// libraries; other code of the process is not affected.
///
/// Returns whether the library is loaded and such a table was found; always false where the system's
/// files are not in ELF.
bool calotype_zero_memory_of_library(const char *name);

#endif

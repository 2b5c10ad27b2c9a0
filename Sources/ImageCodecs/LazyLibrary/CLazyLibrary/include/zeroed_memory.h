// SPDX-License-Identifier: Apache-2.0
//
// Zero-filled memory for libraries that expose pixels they did not write.

#ifndef CALOTYPE_CLAZYLIBRARY_ZEROED_MEMORY_H
#define CALOTYPE_CLAZYLIBRARY_ZEROED_MEMORY_H

#include <stdbool.h>

/// Makes a loaded library allocate zero-filled memory.
///
/// A decoder that skips a part of a damaged image leaves its pixels unwritten. They contain what
/// the process had in that memory before, such as another image. The calls of `malloc`,
/// `posix_memalign` and C++'s `new` in this library alone are redirected, by its relocation table;
/// other code of the process is not affected.
///
/// Returns whether the library is loaded and such relocations were found; always false on systems
/// without ELF.
bool calotype_zero_memory_of_library(const char *name);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Shared memory, and guards of mapped files against SIGBUS. The kernel sends it to a thread that reads past the end of a
// file that another process has truncated, or a page with an I/O error.

#ifndef CALOTYPE_CFILEMAPPING_H
#define CALOTYPE_CFILEMAPPING_H

#include <stdbool.h>
#include <stddef.h>

/// A guarded mapping: unreadable pages are replaced with zeros.
typedef struct calotype_guard calotype_guard;

/// Starts to guard a read-only mapping of `byte_count` bytes; `start` is page-aligned.
///
/// Installs a SIGBUS handler with the first mapping, and again after another handler replaced it.
/// Faults outside guarded mappings go to the previous handler or terminate the program.
///
/// Returns NULL if memory is exhausted, or if the handler was replaced more than three times.
calotype_guard *calotype_guard_mapping(const void *start, size_t byte_count);

/// Returns whether a page of the mapping was unreadable; from there on all bytes are zeros.
bool calotype_guard_was_hit(const calotype_guard *guard);

/// Ends the guard; must be called before the mapping is unmapped.
void calotype_end_guard(calotype_guard *guard);

/// Reads `byte_count` bytes of a mapping, so that the first accesses to them cause neither page faults nor, if they
/// fit, cache misses.
void calotype_read_ahead(const void *start, size_t byte_count);

/// Creates shared memory whose size is sealed. Returns its descriptor or a negated errno.
int calotype_shared_memory(size_t byte_count);
/// Seals shared memory against writes; fails while a process has a writable mapping of it. Returns 0 or
/// an errno.
int calotype_seal(int descriptor);
/// Returns whether shared memory is sealed against writes and against shrinking.
bool calotype_is_sealed(int descriptor);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Guards mapped files against SIGBUS, which the system sends to a thread that reads behind the end
// of a file that another process has cut short, or a page that the disk cannot deliver.

#ifndef CALOTYPE_CFILEMAPPING_H
#define CALOTYPE_CFILEMAPPING_H

#include <stdbool.h>
#include <stddef.h>

/// A mapping that is guarded: a page of it that cannot be read is replaced with zeros.
typedef struct calotype_guard calotype_guard;

/// Guards a read-only mapping from now on.
///
/// Installs a handler of SIGBUS with the first mapping, and again whenever another one has taken its
/// place. Faults elsewhere go to the handler that was there before, or end the program as usual.
///
/// Returns NULL if there is no memory, or if the handler was replaced too often.
calotype_guard *calotype_guard_mapping(const void *start, size_t byte_count);

/// Whether a page of the mapping could not be read; all bytes from there on are zeros since.
bool calotype_guard_was_hit(const calotype_guard *guard);

/// Ends the guard; called before the mapping is unmapped.
void calotype_end_guard(calotype_guard *guard);

#endif

// SPDX-License-Identifier: Apache-2.0

#ifndef CALOTYPE_ALLOCATION_COUNT_H
#define CALOTYPE_ALLOCATION_COUNT_H

/// How often the program has taken memory from the heap.
unsigned long calotype_allocation_count(void);

#endif

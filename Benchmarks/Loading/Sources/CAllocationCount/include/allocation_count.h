// SPDX-License-Identifier: Apache-2.0

#ifndef CALOTYPE_ALLOCATION_COUNT_H
#define CALOTYPE_ALLOCATION_COUNT_H

/// The number of heap allocations of the process.
unsigned long calotype_allocation_count(void);

#endif

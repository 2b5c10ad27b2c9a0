// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CFileMapping.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

void calotype_read_ahead(const void *start, size_t byte_count) {
    if (byte_count == 0) { return; }
#ifdef MADV_POPULATE_READ
    // One system call instead of a fault for every 16 pages. Before Linux 5.14 it fails, and the loop faults.
    uintptr_t offset = (uintptr_t)start % (uintptr_t)sysconf(_SC_PAGESIZE);
    (void)madvise((char *)(uintptr_t)start - offset, byte_count + offset, MADV_POPULATE_READ);
#endif
    const volatile unsigned char *bytes = start;
    for (size_t index = 0; index < byte_count; index += 64) { (void)bytes[index]; }
}

// The table ------------------------------------------------------------------------------------

// A signal handler must not take a lock, so the table is lock-free: entries are never freed, and a
// version detects entries that change while they are read. The entry of the mapping that faulted is
// stable: its owner ends the guard after the last access.

enum { state_mask = 3, state_free = 0, state_filling = 1, state_active = 2 };

struct calotype_guard {
    /// The state in the low bits; the other bits count the uses.
    _Atomic uint32_t version;
    _Atomic uintptr_t start;
    /// A multiple of the page size.
    _Atomic size_t byte_count;
    _Atomic bool was_hit;
};

enum { chunk_count = 64 };

struct chunk {
    struct chunk *_Atomic next;
    struct calotype_guard guards[chunk_count];
};

static struct chunk first_chunk;
static size_t page_size;

static calotype_guard *take_entry(void) {
    for (struct chunk *chunk = &first_chunk;;) {
        for (int index = 0; index < chunk_count; index++) {
            calotype_guard *guard = &chunk->guards[index];
            uint32_t version = atomic_load(&guard->version);
            if ((version & state_mask) == state_free &&
                atomic_compare_exchange_strong(&guard->version, &version,
                                               version + state_filling)) {
                return guard;
            }
        }
        struct chunk *next = atomic_load(&chunk->next);
        if (!next) {
            struct chunk *added = calloc(1, sizeof *added);
            if (!added) return NULL;
            if (atomic_compare_exchange_strong(&chunk->next, &next, added)) {
                next = added;
            } else {
                free(added);
            }
        }
        chunk = next;
    }
}

static calotype_guard *entry_of(uintptr_t address, uintptr_t *end) {
    for (struct chunk *chunk = &first_chunk; chunk; chunk = atomic_load(&chunk->next)) {
        for (int index = 0; index < chunk_count; index++) {
            calotype_guard *guard = &chunk->guards[index];
            uint32_t version = atomic_load(&guard->version);
            if ((version & state_mask) != state_active) continue;
            uintptr_t start = atomic_load(&guard->start);
            size_t byte_count = atomic_load(&guard->byte_count);
            if (atomic_load(&guard->version) != version) continue;
            if (address - start < byte_count) {
                *end = start + byte_count;
                return guard;
            }
        }
    }
    return NULL;
}

// The handlers ---------------------------------------------------------------------------------

// A program may install its own handler over this one and chain to it. Reinstalling the same
// function over that handler would make both call each other endlessly. So each installation uses a
// separate function, which chains to the handler that it replaced.

enum { handler_count = 4 };

static struct sigaction previous[handler_count];
static int installed_count;
static pthread_mutex_t installing = PTHREAD_MUTEX_INITIALIZER;

/// Replaces the page at an address and the following pages of its guarded mapping with zeros.
/// Returns false if the address is in no guarded mapping.
static bool replace_pages(uintptr_t address) {
    uintptr_t end = 0;
    calotype_guard *guard = entry_of(address, &end);
    if (!guard) return false;
    uintptr_t page = address & ~(uintptr_t)(page_size - 1);
    // Before mmap, so that a reader of zeros always finds the flag set.
    atomic_store(&guard->was_hit, true);
    return mmap((void *)page, end - page, PROT_READ,
                MAP_PRIVATE | MAP_ANON | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

/// Returns whether a memory access caused the signal, rather than kill(2).
static bool is_fault(const siginfo_t *info) {
#ifdef __linux__
    return info->si_code > 0 && info->si_code != BUS_ADRALN;
#else
    return info->si_code != SI_USER;
#endif
}

static void chain(const struct sigaction *next, int number, siginfo_t *info, void *context) {
    bool is_ignored = next->sa_handler == SIG_IGN;
    if (is_ignored && info->si_code <= 0) return;
    bool is_default = next->sa_handler == SIG_DFL || is_ignored;
    if (is_default || next->sa_flags & SA_RESETHAND) {
        struct sigaction action = {.sa_handler = SIG_DFL};
        sigemptyset(&action.sa_mask);
        sigaction(number, &action, NULL);
    }
    if (is_default) {
        // A faulting access is repeated on return and then terminates the program.
        if (info->si_code <= 0) raise(number);
    } else if (next->sa_flags & SA_SIGINFO) {
        next->sa_sigaction(number, info, context);
    } else {
        next->sa_handler(number);
    }
}

static void handle(int level, int number, siginfo_t *info, void *context) {
    int error = errno;
    if (!is_fault(info) || !replace_pages((uintptr_t)info->si_addr)) {
        errno = error;
        chain(&previous[level], number, info, context);
        return;
    }
    errno = error;
}

#define HANDLER(level)                                                      \
    static void handle_##level(int number, siginfo_t *info, void *context) { \
        handle(level, number, info, context);                               \
    }
HANDLER(0)
HANDLER(1)
HANDLER(2)
HANDLER(3)

static void (*const handlers[handler_count])(int, siginfo_t *, void *) = {handle_0, handle_1,
                                                                           handle_2, handle_3};

static bool is_ours(const struct sigaction *action) {
    if (!(action->sa_flags & SA_SIGINFO)) return false;
    for (int level = 0; level < handler_count; level++) {
        if (action->sa_sigaction == handlers[level]) return true;
    }
    return false;
}

static bool is_handled(void) {
    struct sigaction action;
    return sigaction(SIGBUS, NULL, &action) == 0 && is_ours(&action);
}

static bool install(void) {
    if (is_handled()) return true;
    pthread_mutex_lock(&installing);
    bool is_installed = is_handled();
    if (!is_installed && installed_count < handler_count) {
        page_size = (size_t)sysconf(_SC_PAGESIZE);
        struct sigaction *old = &previous[installed_count];
        if (sigaction(SIGBUS, NULL, old) == 0) {
            struct sigaction action = {.sa_sigaction = handlers[installed_count]};
            action.sa_mask = old->sa_mask;
            action.sa_flags =
                SA_SIGINFO | SA_ONSTACK | (old->sa_flags & (SA_RESTART | SA_NODEFER));
            installed_count++;
            is_installed = sigaction(SIGBUS, &action, NULL) == 0;
        }
    }
    pthread_mutex_unlock(&installing);
    return is_installed;
}

// Guards ---------------------------------------------------------------------------------------

calotype_guard *calotype_guard_mapping(const void *start, size_t byte_count) {
    if (!install()) return NULL;
    calotype_guard *guard = take_entry();
    if (!guard) return NULL;
    atomic_store(&guard->start, (uintptr_t)start);
    atomic_store(&guard->byte_count, (byte_count + page_size - 1) & ~(page_size - 1));
    atomic_store(&guard->was_hit, false);
    atomic_fetch_add(&guard->version, state_active - state_filling);
    return guard;
}

bool calotype_guard_was_hit(const calotype_guard *guard) {
    return atomic_load(&((calotype_guard *)guard)->was_hit);
}

void calotype_end_guard(calotype_guard *guard) {
    // Changes the state to free and increments the use count.
    atomic_fetch_add(&guard->version, state_mask + 1 - state_active);
}

// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CFileMapping.h"

#include <errno.h>

#ifdef __linux__

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int calotype_shared_memory(size_t byte_count) {
    int memory = memfd_create("calotype", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory < 0) return -errno;
    if (ftruncate(memory, (off_t)byte_count) < 0 ||
        fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) < 0) {
        int error = errno;
        close(memory);
        return -error;
    }
    return memory;
}

int calotype_seal(int descriptor) {
    // EBUSY also means that the kernel uses a page, as compaction and DAMON do for a moment; fcntl has then waited some
    // 100 ms. With a writable mapping it fails without waiting.
    enum { most_attempts = 10 };
    for (int attempt = 0; attempt < most_attempts; attempt++) {
        if (fcntl(descriptor, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SEAL) == 0) return 0;
        if (errno != EBUSY) break;
    }
    return errno;
}

bool calotype_is_sealed(int descriptor) {
    int seals = fcntl(descriptor, F_GET_SEALS);
    return seals >= 0 && seals & F_SEAL_WRITE && seals & F_SEAL_SHRINK;
}

#else

int calotype_shared_memory(size_t byte_count) {
    (void)byte_count;
    return -ENOTSUP;
}

int calotype_seal(int descriptor) {
    (void)descriptor;
    return ENOTSUP;
}

bool calotype_is_sealed(int descriptor) {
    (void)descriptor;
    return false;
}

#endif

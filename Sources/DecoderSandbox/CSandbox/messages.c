// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CSandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

int calotype_socket_pair(int *one, int *other) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) return errno;
    const struct timeval patience = {.tv_usec = 20000};
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    *one = pair[0];
    *other = pair[1];
    return 0;
}

int calotype_new_memory(void) {
    int memory = memfd_create("calotype", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return memory < 0 ? -errno : memory;
}

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

int calotype_sealed(int memory) {
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    // No process has a writable mapping, so that this seal suffices. F_SEAL_WRITE first waits until the kernel has
    // released all pages, on which compaction or DAMON may be working, and fails with EBUSY after some 100 ms.
    if (fcntl(memory, F_ADD_SEALS, seals | F_SEAL_FUTURE_WRITE) == 0) return memory;
    // Before Linux 5.1.
    if (errno == EINVAL && fcntl(memory, F_ADD_SEALS, seals | F_SEAL_WRITE) == 0) return memory;
    int error = errno;
    close(memory);
    return -error;
}

int calotype_shared_copy_of_file(int file, size_t byte_count) {
    int memory = calotype_new_memory();
    if (memory < 0) return memory;
    off_t place = 0;
    while ((size_t)place < byte_count) {
        ssize_t copied = sendfile(memory, file, &place, byte_count - (size_t)place);
        if (copied < 0 && errno == EINTR) continue;
        if (copied <= 0) {
            int error = copied < 0 ? errno : ENODATA;
            close(memory);
            return -error;
        }
    }
    return calotype_sealed(memory);
}

int calotype_append(int memory, const void *bytes, size_t byte_count) {
    const char *next = bytes;
    size_t rest = byte_count;
    while (rest > 0) {
        ssize_t written = write(memory, next, rest);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return written < 0 ? errno : ENOSPC;
        next += written;
        rest -= (size_t)written;
    }
    return 0;
}

ssize_t calotype_append_from_pipe(int memory, int pipe, size_t most) {
    ssize_t moved = splice(pipe, NULL, memory, NULL, most, 0);
    return moved < 0 ? -errno : moved;
}

ssize_t calotype_send(int socket, const void *bytes, size_t count, const int *descriptors,
                      int descriptor_count, bool waits) {
    struct iovec piece = {(void *)bytes, count};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(calotype_most_descriptors * sizeof(int))];
    } control;
    if (descriptor_count > 0 && descriptor_count <= calotype_most_descriptors) {
        memset(&control, 0, sizeof control);
        size_t size = (size_t)descriptor_count * sizeof(int);
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(size);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(size);
        memcpy(CMSG_DATA(header), descriptors, size);
    }
    ssize_t sent;
    do {
        sent = sendmsg(socket, &message, MSG_NOSIGNAL | (waits ? 0 : MSG_DONTWAIT));
    } while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : sent;
}

ssize_t calotype_receive(int socket, void *bytes, size_t count, int *descriptors, int room,
                         int *descriptor_count) {
    struct iovec piece = {bytes, count};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(calotype_most_descriptors * sizeof(int))];
    } control;
    // Without room, the system closes what was sent along.
    if (room > 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
    }
    ssize_t received;
    do {
        received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (received < 0 && errno == EINTR);
    *descriptor_count = 0;
    if (received < 0) return -errno;
    for (struct cmsghdr *header = room > 0 ? CMSG_FIRSTHDR(&message) : NULL; header;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        int count = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        for (int index = 0; index < count; index++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(header) + (size_t)index * sizeof(int), sizeof descriptor);
            if (*descriptor_count < room) {
                descriptors[(*descriptor_count)++] = descriptor;
            } else {
                close(descriptor);
            }
        }
    }
    return received;
}

uint32_t calotype_load(const void *word) {
    return __atomic_load_n((const uint32_t *)word, __ATOMIC_RELAXED);
}

void calotype_store(void *word, uint32_t value) {
    __atomic_store_n((uint32_t *)word, value, __ATOMIC_RELAXED);
}

void *calotype_map_control(int descriptor) {
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return page == MAP_FAILED ? NULL : page;
}

void calotype_unmap_control(void *page) { munmap(page, 4096); }

// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CSandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct start {
    const char *program, *argument;
    int socket, control, null;
    char **environment;
    int error;
};

// Runs in the address space of the host, whose thread waits: only system calls are permitted.
static int start_worker(void *argument) {
    struct start *start = argument;
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++) {
        if (number != SIGKILL && number != SIGSTOP) signal(number, SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, &none, NULL);
    // Above all descriptors that are assigned below.
    int socket = fcntl(start->socket, F_DUPFD, 10);
    int control = fcntl(start->control, F_DUPFD, 10);
    int null = fcntl(start->null, F_DUPFD, 10);
    // Ctrl-C signals the foreground process group: the host alone, which ends its workers.
    setpgid(0, 0);
    if (socket < 0 || control < 0 || null < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ||
        dup2(socket, calotype_worker_socket) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0 ||
        dup2(control, calotype_worker_control) < 0 ||
        syscall(SYS_close_range, calotype_worker_control + 1, ~0U, 0) < 0) {
        start->error = errno;
        _exit(1);
    }
    char *arguments[] = {(char *)start->program, (char *)start->argument, NULL};
    execve(start->program, arguments, start->environment);
    start->error = errno;
    _exit(1);
}

pid_t calotype_spawn(const char *program, const char *argument, int socket, int control,
                     uint32_t *layers) {
    // Variables of the dynamic loader and the sanitizers; others may contain secrets of the host.
    static const char *const kept[] = {"LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS"};
    char *environment[sizeof kept / sizeof *kept + 1];
    int count = 0;
    for (size_t index = 0; index < sizeof kept / sizeof *kept; index++) {
        const char *value = getenv(kept[index]);
        if (!value) continue;
        size_t length = strlen(kept[index]) + strlen(value) + 2;
        char *entry = malloc(length);
        if (!entry) continue;
        strcpy(entry, kept[index]);
        strcat(entry, "=");
        strcat(entry, value);
        environment[count++] = entry;
    }
    environment[count] = NULL;

    struct start start = {program, argument, socket, control,
                          open("/dev/null", O_RDWR | O_CLOEXEC), environment, 0};
    size_t stack_size = 256 << 10;
    char *stack = mmap(NULL, stack_size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    pid_t process = -1;
    int error = start.null < 0 || stack == MAP_FAILED ? errno : 0;
    if (!error) {
        // A signal handler of the host must not run in the shared address space.
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        int shared = CLONE_VM | CLONE_VFORK | SIGCHLD;
        int separate = CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
        *layers = calotype_layer_network | calotype_layer_processes;
        // A worker of root changes its user before it drops its privileges, which it could not do in a
        // user namespace.
        if (geteuid() != 0) {
            separate |= CLONE_NEWUSER;
            *layers |= calotype_layer_users;
        }
        process = clone(start_worker, stack + stack_size, shared | separate, &start);
        if (process < 0) {
            process = clone(start_worker, stack + stack_size, shared, &start);
            *layers = 0;
        }
        error = process < 0 ? errno : start.error;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (process > 0 && error) waitpid(process, NULL, 0);
    }
    if (stack != MAP_FAILED) munmap(stack, stack_size);
    if (start.null >= 0) close(start.null);
    while (count > 0) free(environment[--count]);
    return error ? -error : process;
}

double calotype_processor_seconds(pid_t process) {
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) < 0) return 0;
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

bool calotype_set_niceness(pid_t process, int difference) {
    // PRIO_PROCESS names one thread; a worker leads its process group.
    int niceness = getpriority(PRIO_PROCESS, 0) + difference;
    return setpriority(PRIO_PGRP, (id_t)process, niceness) == 0;
}

bool calotype_set_idle(pid_t process, bool is_idle) {
    const struct sched_param parameters = {0};
    return sched_setscheduler(process, is_idle ? SCHED_IDLE : SCHED_OTHER, &parameters) == 0;
}

int calotype_end(pid_t process, bool kills) {
    if (kills) kill(process, SIGKILL);
    int status = 0;
    pid_t ended;
    do {
        ended = waitpid(process, &status, 0);
    } while (ended < 0 && errno == EINTR);
    return ended == process ? status : -1;
}

// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CSandbox.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

// Crashes ---------------------------------------------------------------------------------------

// The first process of a process namespace ignores fatal signals that it sends itself, so the handler
// reports the signal in the exit code.
//
// Without AddressSanitizer, which opens a file to inspect the stack before an exit.
__attribute__((no_sanitize("address"))) static void crashed(int number) {
    _exit(errno == ENOMEM ? calotype_exit_memory : calotype_exit_signal + number);
}

void calotype_report_crashes(void) {
    // The signal may be a stack overflow.
    static char stack[16 << 10];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
    struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_ONSTACK};
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGTRAP, SIGFPE,
                                  SIGXCPU};
    for (size_t index = 0; index < sizeof signals / sizeof *signals; index++) {
        sigaction(signals[index], &action, NULL);
    }
}

void calotype_begin_image(void) { errno = 0; }

// Files and the network: Landlock ---------------------------------------------------------------

// System call numbers instead of the system's header, which is often older than the kernel.
struct landlock_rules {
    uint64_t files;
    uint64_t network;
    uint64_t scopes;
};

static bool restrict_files(void) {
    long version = syscall(444, NULL, 0, 1U);
    if (version < 1) return false;
    // All access rights that this version of the ABI can restrict; the ruleset grants none.
    static const uint64_t files[] = {0, 0x1FFF, 0x3FFF, 0x7FFF, 0x7FFF, 0xFFFF};
    struct landlock_rules rules = {.files = files[version > 5 ? 5 : version],
                                   .network = version >= 4 ? 0x3 : 0,
                                   .scopes = version >= 6 ? 0x3 : 0};
    size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    int ruleset = (int)syscall(444, &rules, size, 0U);
    if (ruleset < 0) return false;
    bool holds = syscall(446, ruleset, 0U) == 0;
    close(ruleset);
    return holds;
}

// Memory, time, files ---------------------------------------------------------------------------

static bool limit_range(int resource, uint64_t soft, uint64_t hard) {
    struct rlimit limits;
    if (getrlimit(resource, &limits) < 0) return false;
    if (limits.rlim_max != RLIM_INFINITY && limits.rlim_max < hard) hard = limits.rlim_max;
    limits.rlim_cur = soft < hard ? soft : hard;
    limits.rlim_max = hard;
    return setrlimit(resource, &limits) == 0;
}

static bool limit(int resource, uint64_t most) { return limit_range(resource, most, most); }

// The size of all mappings, and of private writable ones, in bytes.
static bool memory_in_use(uint64_t *all, uint64_t *own) {
    unsigned long pages[6] = {0};
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file) return false;
    int count = fscanf(file, "%lu %lu %lu %lu %lu %lu", pages, pages + 1, pages + 2, pages + 3,
                       pages + 4, pages + 5);
    fclose(file);
    uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE);
    *all = pages[0] * size;
    *own = pages[5] * size;
    return count == 6 && *all > 0;
}

// The address space for mappings other than allocations: the file, the result, thread stacks.
static const uint64_t mapped_room = 4ULL << 30;

static bool restrict_resources(uint64_t memory, uint64_t seconds) {
    uint64_t all, own;
    bool holds = memory_in_use(&all, &own) && limit(RLIMIT_AS, all + 2 * memory + mapped_room) &&
                 limit(RLIMIT_DATA, own + memory);
    // The soft limit sends SIGXCPU, the hard one kills.
    // The descriptors of a request can arrive before those of the previous one are closed.
    const uint64_t descriptors = 8 + 2 * calotype_most_descriptors;
    return limit_range(RLIMIT_CPU, seconds, seconds + 5) && limit(RLIMIT_NOFILE, descriptors) &&
           limit(RLIMIT_CORE, 0) && limit(RLIMIT_FSIZE, 0) && holds;
}

// Users -----------------------------------------------------------------------------------------

enum { unprivileged = 65534, most_threads = 512 };

// Since Linux 5.14 RLIMIT_NPROC counts the threads of each user namespace separately.
static bool counts_threads_apart(void) {
    struct utsname system;
    int major = 0, minor = 0;
    if (uname(&system) < 0 || sscanf(system.release, "%d.%d", &major, &minor) != 2) return false;
    return major > 5 || (major == 5 && minor >= 14);
}

// Changes from root to an unprivileged user, in a new user namespace.
static bool leave_root(void) {
    bool is_unprivileged = setgroups(0, NULL) == 0 && setresgid(unprivileged, unprivileged, unprivileged) == 0 &&
                     setresuid(unprivileged, unprivileged, unprivileged) == 0;
    unshare(CLONE_NEWUSER);
    return is_unprivileged;
}

static bool has_own_users(void) {
    FILE *map = fopen("/proc/self/uid_map", "re");
    if (!map) return false;
    // The map of a new user namespace is empty.
    bool is_empty = fgetc(map) == EOF;
    fclose(map);
    return is_empty;
}

static bool restrict_users(void) {
    bool is_unprivileged = geteuid() != 0 || leave_root();
    bool is_apart = has_own_users();
    // The first process of a user namespace has all capabilities in it.
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    syscall(SYS_capset, &header, none);
    if (is_apart && counts_threads_apart()) limit(RLIMIT_NPROC, most_threads);
    return is_unprivileged && is_apart;
}

// System calls: seccomp -------------------------------------------------------------------------

static bool restrict_calls(void) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
    if (!filter) return false;
    static const int allowed[] = {
        SCMP_SYS(recvmsg), SCMP_SYS(sendmsg), SCMP_SYS(close), SCMP_SYS(munmap), SCMP_SYS(mremap),
        SCMP_SYS(madvise), SCMP_SYS(brk), SCMP_SYS(futex), SCMP_SYS(exit), SCMP_SYS(exit_group),
        SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigprocmask), SCMP_SYS(clock_gettime),
        SCMP_SYS(gettimeofday), SCMP_SYS(getrandom), SCMP_SYS(sched_yield),
        SCMP_SYS(sched_getaffinity), SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(sysinfo),
        SCMP_SYS(getrusage),
        // Required by threads of libraries.
        SCMP_SYS(rt_sigaction), SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(getcpu),
        SCMP_SYS(nanosleep), SCMP_SYS(clock_nanosleep),
#if __has_feature(address_sanitizer)
        SCMP_SYS(sigaltstack),
#endif
    };
    int failed = 0;
    for (size_t index = 0; index < sizeof allowed / sizeof *allowed; index++) {
        failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[index], 0);
    }
    // No executable memory, and no shared anonymous memory, which RLIMIT_DATA does not count.
    const struct scmp_arg_cmp not_executable = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
    failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2, not_executable,
                               SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_SHARED, 0));
    failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2, not_executable,
                               SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, 0));
    failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, not_executable);
    // Threads, but no processes. The flags of clone3 are in memory that a filter cannot read, so it
    // fails with ENOSYS, and the C library falls back to clone.
    failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                               SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
    failed |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    // Threads set their names, which is ignored, and their priorities, which fails.
    failed |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(0), SCMP_SYS(prctl), 1,
                               SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME));
    static const int refused[] = {SCMP_SYS(sched_setaffinity), SCMP_SYS(sched_setscheduler),
                                  SCMP_SYS(sched_setparam), SCMP_SYS(setpriority)};
    for (size_t index = 0; index < sizeof refused / sizeof *refused; index++) {
        failed |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), refused[index], 0);
    }
    // Fontconfig checks the access to a font each time it draws with one that is open: report success.
    failed |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(0), SCMP_SYS(access), 0);
    // Standard output and error are /dev/null; no other descriptor can be written to.
    const struct scmp_arg_cmp nowhere[] = {SCMP_A0(SCMP_CMP_EQ, 1), SCMP_A0(SCMP_CMP_EQ, 2)};
    for (size_t index = 0; index < sizeof nowhere / sizeof *nowhere; index++) {
        failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(write), 1, nowhere[index]);
        failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(writev), 1, nowhere[index]);
    }
    // abort() sends SIGABRT with tgkill.
    failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                               SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()));
    bool holds = !failed && seccomp_load(filter) == 0;
    seccomp_release(filter);
    return holds;
}

static int thread_count(void) {
    DIR *threads = opendir("/proc/self/task");
    int count = 0;
    if (!threads) return 0;
    for (struct dirent *entry; (entry = readdir(threads));) count += entry->d_name[0] != '.';
    closedir(threads);
    return count;
}

uint32_t calotype_lock_down(uint64_t memory, uint64_t seconds) {
    // A thread that exists before would keep its privileges. Wait for those that are about to end.
    const struct timespec moment = {.tv_nsec = 5000000};
    for (int tries = 0; thread_count() != 1; tries++) {
        if (tries == 400) return 0;
        nanosleep(&moment, NULL);
    }
    // Files that the C library reads at its first date conversion, and rayon to count processors.
    setenv("TZ", "UTC", 1);
    tzset();
    setenv("RAYON_NUM_THREADS", "1", 1);
    uint32_t layers = 0;
    if (restrict_users()) layers |= calotype_layer_users;
    // A change of the user resets it.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int signal = 0;
    if (prctl(PR_GET_PDEATHSIG, &signal) == 0 && signal == SIGKILL) {
        layers |= calotype_layer_parent;
    }
    prctl(PR_SET_DUMPABLE, 0);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) layers |= calotype_layer_privileges;
    if (restrict_resources(memory, seconds)) layers |= calotype_layer_resources;
    if (restrict_files()) layers |= calotype_layer_files;
    if (restrict_calls()) layers |= calotype_layer_system_calls;
    return layers;
}

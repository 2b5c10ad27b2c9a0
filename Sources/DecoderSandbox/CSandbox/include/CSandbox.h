// SPDX-License-Identifier: Apache-2.0
//
// What the sandbox needs of Linux and cannot be said in Swift: starting a process without copying
// this one, handing over open files, and giving up rights.

#ifndef CALOTYPE_CSANDBOX_H
#define CALOTYPE_CSANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// What keeps a worker from doing anything but decoding; bits of a set.
enum {
    calotype_layer_system_calls = 1 << 0,
    calotype_layer_privileges = 1 << 1,
    calotype_layer_files = 1 << 2,
    calotype_layer_network = 1 << 3,
    calotype_layer_users = 1 << 4,
    calotype_layer_processes = 1 << 5,
    calotype_layer_resources = 1 << 6,
    calotype_layer_parent = 1 << 7,
};

/// The descriptors that a worker starts with, and no others: 1 and 2 lead nowhere.
enum {
    calotype_worker_socket = 0,
    calotype_worker_control = 3,
};

/// Exit codes of a worker: `calotype_exit_signal` + a signal's number for a crash.
enum {
    calotype_exit_memory = 41,
    calotype_exit_signal = 64,
};

/// Starts a program in namespaces of its own, where they are permitted.
///
/// It dies with the thread that calls this. `layers` says which namespaces it has.
/// Returns its process number, or the negated error of the system.
pid_t calotype_spawn(const char *program, int socket, int control, uint32_t *layers);

/// Kills a process that `calotype_spawn` started, if `kills`, and waits for its end.
///
/// Returns its wait status, or -1.
int calotype_end(pid_t process, bool kills);

/// The processor time that a process has used, in seconds; 0 if it has ended.
double calotype_processor_seconds(pid_t process);

/// The scheduling priority of this process as a nice value.
int calotype_nice_value(void);
/// Whether this process may lower the nice value of its workers to `nice_value` again.
bool calotype_can_restore_nice_value(int nice_value);
/// Sets the nice value of all threads of a process that `calotype_spawn` started; false if the system
/// refuses.
bool calotype_set_nice_value(pid_t process, int nice_value);

/// Two connected sockets, closed in programs that are started; 0, or an error of the system.
///
/// Who receives from the first waits for 20 ms at most, and gets -EAGAIN then.
int calotype_socket_pair(int *one, int *other);

/// Memory that can be handed over, of a size that nobody can change any more; or the negated error.
int calotype_shared_memory(size_t byte_count);
/// The same, filled with bytes that nobody can change any more.
int calotype_shared_copy(const void *bytes, size_t byte_count);
/// The same, filled with the first bytes of a file; -ENODATA if it has fewer.
int calotype_shared_copy_of_file(int file, size_t byte_count);
/// Takes the right to write from everybody; fails as long as somebody has it mapped for writing.
int calotype_seal(int descriptor);

/// Sends bytes, with open files beside the first of them.
///
/// Returns how many bytes went, or the negated error of the system.
ssize_t calotype_send(int socket, const void *bytes, size_t count, const int *descriptors,
                      int descriptor_count, bool waits);
/// Receives bytes and open files: at most as many as `descriptors` has room for.
///
/// Returns how many bytes came, 0 at the end, or the negated error of the system.
ssize_t calotype_receive(int socket, void *bytes, size_t count, int *descriptors, int room,
                         int *descriptor_count);

/// A word in memory that host and worker share.
uint32_t calotype_load(const void *word);
void calotype_store(void *word, uint32_t value);
/// Maps the page that holds such words; NULL if there is no memory.
void *calotype_map_control(int descriptor);
void calotype_unmap_control(void *page);

/// Ends the process with a code that says why when it crashes. Called once, before the lockdown.
void calotype_report_crashes(void);
/// Forgets that memory was ever short; a crash after it was is reported as a lack of memory.
void calotype_begin_picture(void);

/// Gives up everything that decoding does not need, for good.
///
/// `memory`: bytes that can be allocated beyond what is in use; `seconds`: time on a processor in all.
/// Returns the layers that hold.
uint32_t calotype_lock_down(uint64_t memory, uint64_t seconds);

#endif

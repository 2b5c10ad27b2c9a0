// SPDX-License-Identifier: Apache-2.0
//
// The system calls of the sandbox that Swift cannot express: starting a process without copying the
// address space, sending descriptors, and dropping privileges.

#ifndef CALOTYPE_CSANDBOX_H
#define CALOTYPE_CSANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// The layers that confine a worker, as bits.
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

/// The only descriptors that a worker starts with; 1 and 2 are /dev/null.
enum {
    calotype_worker_socket = 0,
    calotype_worker_control = 3,
};

/// The exit codes of a worker; `calotype_exit_signal` + signal number for a crash.
enum {
    calotype_exit_memory = 41,
    calotype_exit_signal = 64,
};

/// Starts a program with at most one argument in new namespaces, where the system permits them.
///
/// The kernel kills it when the calling thread ends. `layers` receives the bits of its namespaces.
/// Returns the process number, or a negated errno.
pid_t calotype_spawn(const char *program, const char *argument, int socket, int control,
                     uint32_t *layers);

/// Waits for the end of a process that `calotype_spawn` started; sends SIGKILL first if `kills`.
///
/// Returns its wait status, or -1.
int calotype_end(pid_t process, bool kills);

/// Returns the processor time of a process, in seconds; 0 if it has ended.
double calotype_processor_seconds(pid_t process);

/// Sets the niceness of all threads of a process that `calotype_spawn` started to that of the calling
/// thread plus `difference`.
///
/// Returns false if the system does not permit it: to lower a niceness takes a privilege.
bool calotype_set_niceness(pid_t process, int difference);

/// Sets whether the first thread of a process, and those that it starts afterwards, run only on
/// processors that have nothing else to run.
///
/// Returns false if the system does not permit it: to end this takes a privilege.
bool calotype_set_idle(pid_t process, bool is_idle);

/// Creates two connected sockets with close-on-exec. Returns 0 or an errno.
///
/// A receive on the first returns -EAGAIN after 20 ms without data.
int calotype_socket_pair(int *one, int *other);

/// Creates empty shared memory. Returns its descriptor or a negated errno.
int calotype_new_memory(void);
/// Appends bytes to shared memory. Returns 0 or an errno.
int calotype_append(int memory, const void *bytes, size_t byte_count);
/// Appends at most `most` bytes that arrive from a pipe, without a buffer in this process; waits for the first.
///
/// Returns the number of bytes, 0 at the end of the pipe, or a negated errno.
ssize_t calotype_append_from_pipe(int memory, int pipe, size_t most);
/// Seals shared memory against changes. Returns its descriptor, or closes it and returns a negated errno.
int calotype_sealed(int memory);
/// Creates sealed shared memory with the first bytes of a file.
///
/// Returns its descriptor or a negated errno; -ENODATA if the file has fewer bytes.
int calotype_shared_copy_of_file(int file, size_t byte_count);

/// The maximum number of descriptors in a message.
enum { calotype_most_descriptors = 16 };

/// Sends bytes, and descriptors with the first of them.
///
/// Returns the number of bytes sent, or a negated errno.
ssize_t calotype_send(int socket, const void *bytes, size_t count, const int *descriptors,
                      int descriptor_count, bool waits);
/// Receives bytes and at most `room` descriptors.
///
/// Returns the number of bytes, 0 at the end of the connection, or a negated errno.
ssize_t calotype_receive(int socket, void *bytes, size_t count, int *descriptors, int room,
                         int *descriptor_count);

/// Atomic access to a word in the control page.
uint32_t calotype_load(const void *word);
void calotype_store(void *word, uint32_t value);
/// Maps the control page; NULL if memory is exhausted.
void *calotype_map_control(int descriptor);
void calotype_unmap_control(void *page);

/// Installs signal handlers that exit with the code of a crash. Called once, before the lockdown.
void calotype_report_crashes(void);
/// Clears the record of failed allocations; a crash after one is reported as a lack of memory.
void calotype_begin_image(void);

/// Drops all privileges that decoding does not require, irrevocably.
///
/// `memory` is the maximum number of bytes that are allocated in addition to those in use, `seconds` the
/// maximum processor time. Returns the bits of the layers in force.
uint32_t calotype_lock_down(uint64_t memory, uint64_t seconds);

#endif

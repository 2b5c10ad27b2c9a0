// SPDX-License-Identifier: Apache-2.0

internal import CFileMapping
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The descriptor of shared memory that can be sent to another process; closed with the last reference.
package final class SharedDescriptor: Sendable {
    /// The file descriptor.
    package let number: Int32

    /// Allocates shared memory of a sealed size, which contains zeros; returns `nil` if there is none.
    package init?(byteCount: Int) {
        let result = byteCount > 0 ? calotype_shared_memory(byteCount) : -EINVAL
        guard result >= 0 else { return nil }
        number = result
    }

    /// Duplicates a descriptor; returns `nil` if that fails.
    init?(duplicating descriptor: Int32) {
        let result = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard result >= 0 else { return nil }
        number = result
    }

    deinit { close(number) }

    /// Seals the memory against writes; fails while a process has a writable mapping of it.
    ///
    /// - Returns: whether no process can change the memory any longer.
    package func seal() -> Bool { calotype_seal(number) == 0 }

    /// Whether no process can write to the memory or shrink it.
    var isSealed: Bool { calotype_is_sealed(number) }

    /// The length of the memory in bytes.
    var byteCount: Int {
        var status = stat()
        return unsafe fstat(number, &status) == 0 ? Int(status.st_size) : 0
    }
}

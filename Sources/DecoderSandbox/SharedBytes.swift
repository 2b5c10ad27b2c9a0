// SPDX-License-Identifier: Apache-2.0

internal import CSandbox
package import EncodedImages
internal import Glibc

/// Bytes that are collected in shared memory, which workers map without another copy.
///
/// After a failure, `errno` has the reason.
package struct SharedBytes: ~Copyable {
    let memory: Int32
    /// The number of bytes that have been appended.
    package private(set) var count = 0

    /// Creates empty memory; fails if the process may not open another file.
    package init?() {
        let memory = calotype_new_memory()
        guard memory >= 0 else {
            errno = -memory
            return nil
        }
        self.memory = memory
    }

    deinit { close(memory) }

    /// Appends bytes; returns `false` if memory is exhausted.
    package mutating func append(_ bytes: Span<UInt8>) -> Bool {
        let failure = unsafe bytes.withUnsafeBytes {
            unsafe calotype_append(memory, $0.baseAddress, $0.count)
        }
        errno = failure
        if failure == 0 { count += bytes.count }
        return failure == 0
    }

    /// Appends bytes of a pipe, without a buffer in this process; waits for the first of them.
    ///
    /// - Parameters:
    ///   - maximumByteCount: the maximum number of bytes, at least 1.
    ///   - pipe: the descriptor of the pipe.
    /// - Returns: the number of bytes, 0 at the end of the pipe; `nil` on failure.
    package mutating func append(first maximumByteCount: Int, of pipe: Int32) -> Int? {
        let moved = calotype_append_from_pipe(memory, pipe, maximumByteCount)
        guard moved >= 0 else {
            errno = Int32(-moved)
            return nil
        }
        count += moved
        return moved
    }

    /// Returns the bytes, sealed against changes; `nil` on failure.
    package consuming func finish() -> EncodedBytes? {
        let (memory, count) = (self.memory, self.count)
        discard self
        let descriptor = calotype_sealed(memory)
        guard descriptor >= 0 else {
            errno = -descriptor
            return nil
        }
        return try? EncodedBytes(descriptor: descriptor, byteCount: count, isMapped: false)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import CFileMapping
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A mapping of a file or of shared memory; unmapped with its last reference.
@safe package final class MemoryMapping: Sendable {
    // Constant for the lifetime of the object. The memory is only read, or written by the creator
    // of a writable mapping before others read it, each byte by one thread. Released pages are mapped again unchanged.
    nonisolated(unsafe) private let start: UnsafeMutableRawPointer
    // An entry of a table that is accessed by atomic operations only.
    nonisolated(unsafe) private let guardEntry: OpaquePointer?
    /// The length of the mapping in bytes.
    package let byteCount: Int

    /// Maps a file from its start; returns `nil` and sets `errno` on failure.
    ///
    /// - Parameters:
    ///   - descriptor: an open file descriptor, which may be closed afterwards.
    ///   - byteCount: the number of bytes to map, at least 1.
    ///   - isWritable: whether the mapping is writable and shared with other processes.
    ///   - isGuarded: whether truncated or unreadable parts of the file read as zeros instead of
    ///     terminating the program; see ``wasTruncated``. `errno` is `ENOTSUP` if that fails.
    package init?(
        _ descriptor: Int32, byteCount: Int, isWritable: Bool = false, isGuarded: Bool = false
    ) {
        guard
            let start = unsafe mmap(
                nil, byteCount, isWritable ? PROT_READ | PROT_WRITE : PROT_READ,
                isWritable ? MAP_SHARED : MAP_PRIVATE, descriptor, 0),
            unsafe start != MAP_FAILED
        else { return nil }
        let entry = isGuarded ? unsafe calotype_guard_mapping(start, byteCount) : nil
        if isGuarded, unsafe entry == nil {
            unsafe _ = munmap(start, byteCount)
            errno = ENOTSUP
            return nil
        }
        unsafe self.start = start
        unsafe guardEntry = entry
        self.byteCount = byteCount
    }

    /// Allocates writable memory of this process, which contains zeros; returns `nil` if there is none.
    package init?(byteCount: Int) {
        guard
            let start = unsafe mmap(
                nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            unsafe start != MAP_FAILED
        else { return nil }
        unsafe self.start = start
        unsafe guardEntry = nil
        self.byteCount = byteCount
    }

    deinit {
        // Before munmap: the addresses may be reused immediately afterwards.
        if let entry = unsafe guardEntry { unsafe calotype_end_guard(entry) }
        unsafe _ = munmap(start, byteCount)
    }

    /// Whether a page of a guarded mapping was unreadable; from there on all bytes read as zeros.
    package var wasTruncated: Bool {
        guard let entry = unsafe guardEntry else { return false }
        return unsafe calotype_guard_was_hit(entry)
    }

    /// The mapped bytes.
    var bytes: Span<UInt8> {
        @_lifetime(borrow self) get {
            let bytes = unsafe UnsafeRawBufferPointer(start: start, count: byteCount)
            let span = unsafe Span<UInt8>(_unsafeElements: bytes.bindMemory(to: UInt8.self))
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// Calls `body` with the mapped bytes and returns its result.
    package func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(bytes)
    }

    /// Reads a range of bytes, so that later accesses cause neither page faults nor, if it fits, cache misses.
    package func readAhead(_ bytes: Range<Int>) {
        precondition(bytes.lowerBound >= 0 && bytes.upperBound <= byteCount)
        unsafe calotype_read_ahead(start + bytes.lowerBound, bytes.count)
    }

    /// Releases the memory of a range of bytes and of up to 64 KiB before it until the next access.
    ///
    /// The kernel maps neighbouring pages on each access; therefore preceding pages are released.
    /// The bytes must not have been written to.
    package func release(_ bytes: Range<Int>) {
        let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))
        let first = max(0, bytes.lowerBound - 65_536) / pageSize * pageSize
        let end = min(bytes.upperBound, byteCount) / pageSize * pageSize
        guard first < end else { return }
        unsafe _ = madvise(start + first, end - first, MADV_DONTNEED)
    }

    /// Copies bytes from `offset` into `target`; another process may write to them concurrently.
    package func read(_ target: inout [UInt8], at offset: Int) {
        unsafe target.withUnsafeMutableBytes { target in unsafe read(target, at: offset) }
    }

    /// Copies bytes from `offset` into uninitialized memory.
    @unsafe func read(_ target: UnsafeMutableRawBufferPointer, at offset: Int) {
        precondition(
            offset >= 0 && offset <= byteCount && target.count <= byteCount - offset,
            "the range exceeds the mapping of \(byteCount) bytes")
        let source = unsafe UnsafeRawBufferPointer(
            start: start.advanced(by: offset), count: target.count)
        unsafe target.copyMemory(from: source)
    }

    /// Copies bytes into a writable mapping at `offset`; all of them must fit.
    package func write(_ source: Span<UInt8>, at offset: Int = 0) {
        precondition(
            offset >= 0 && offset <= byteCount && source.count <= byteCount - offset,
            "the range exceeds the mapping of \(byteCount) bytes")
        unsafe source.withUnsafeBytes { source in
            guard let from = source.baseAddress else { return }
            unsafe start.advanced(by: offset).copyMemory(
                from: from, byteCount: source.count)
        }
    }
}

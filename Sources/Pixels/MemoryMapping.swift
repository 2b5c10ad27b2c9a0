// SPDX-License-Identifier: Apache-2.0

internal import CFileMapping
#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A part of a file, or of memory that processes share, seen as bytes; unmapped with its last
/// reference.
@safe package final class MemoryMapping: Sendable {
    // The same for the whole life of the object. What it points at is only read, or written by the
    // one who made the mapping writable and has not handed it on yet; what is given back comes
    // again with the same bytes.
    nonisolated(unsafe) private let start: UnsafeMutableRawPointer
    // An entry of a table that is read and written by atomic operations only.
    nonisolated(unsafe) private let guardEntry: OpaquePointer?
    package let byteCount: Int

    /// Fails if the system refuses; `errno` says why.
    ///
    /// - Parameters:
    ///   - descriptor: an open file; it may be closed afterwards.
    ///   - byteCount: the bytes from its start, at least 1.
    ///   - isWritable: whether what is written is seen by others who map the same file.
    ///   - isGuarded: whether the mapping reads as zeros where the file is cut short or the disk fails,
    ///     instead of ending the program; see ``wasCutShort``. `errno` is `ENOTSUP` if it cannot be.
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

    deinit {
        // First: the addresses may be those of another mapping at once.
        if let entry = unsafe guardEntry { unsafe calotype_end_guard(entry) }
        unsafe _ = munmap(start, byteCount)
    }

    /// Whether a page of a guarded mapping could not be read, and reads as zeros since, like all bytes
    /// behind it.
    package var wasCutShort: Bool {
        guard let entry = unsafe guardEntry else { return false }
        return unsafe calotype_guard_was_hit(entry)
    }

    var bytes: Span<UInt8> {
        @_lifetime(borrow self) get {
            let bytes = unsafe UnsafeRawBufferPointer(start: start, count: byteCount)
            let span = unsafe Span<UInt8>(_unsafeElements: bytes.bindMemory(to: UInt8.self))
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// Calls `body` with all bytes.
    package func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(bytes)
    }

    /// Gives the memory of some bytes back until they are looked at again, and of those up to 64 KiB
    /// before them: with the page that is looked at the system maps its neighbours again.
    ///
    /// They must not have been written to.
    package func release(_ bytes: Range<Int>) {
        let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))
        let first = max(0, bytes.lowerBound - 65_536) / pageSize * pageSize
        let end = min(bytes.upperBound, byteCount) / pageSize * pageSize
        guard first < end else { return }
        unsafe _ = madvise(start + first, end - first, MADV_DONTNEED)
    }

    /// Reads bytes of memory that somebody else may write to at the same time.
    package func read(_ target: inout [UInt8], at offset: Int) {
        unsafe target.withUnsafeMutableBytes { target in unsafe read(target, at: offset) }
    }

    /// The same into memory that is not initialized yet.
    @unsafe func read(_ target: UnsafeMutableRawBufferPointer, at offset: Int) {
        precondition(
            offset >= 0 && offset <= byteCount && target.count <= byteCount - offset,
            "the bytes are not in the mapping")
        let source = unsafe UnsafeRawBufferPointer(
            start: start.advanced(by: offset), count: target.count)
        unsafe target.copyMemory(from: source)
    }

    /// Writes bytes into a writable mapping, from a place on.
    package func write(_ source: Span<UInt8>, at offset: Int = 0) {
        precondition(
            offset >= 0 && offset <= byteCount && source.count <= byteCount - offset,
            "the bytes do not fit into the mapping")
        unsafe source.withUnsafeBytes { source in
            guard let from = source.baseAddress else { return }
            unsafe start.advanced(by: offset).copyMemory(
                from: from, byteCount: source.count)
        }
    }
}

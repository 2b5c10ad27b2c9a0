// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The page cache of the system.
enum PageCache {
    /// Evicts a file from the page cache, so that the next read accesses the disk.
    ///
    /// - Returns: Whether it was evicted; false for file systems in memory.
    static func evict(_ path: String) -> Bool {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // Only pages that have been written to disk can be evicted.
        guard fdatasync(descriptor) == 0,
            posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0
        else { return false }
        return !isInMemory(descriptor)
    }

    private static func isInMemory(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_size > 0 else { return true }
        let byteCount = Int(status.st_size)
        guard
            let start = unsafe mmap(nil, byteCount, PROT_READ, MAP_SHARED, descriptor, 0),
            unsafe start != MAP_FAILED
        else { return true }
        defer { unsafe _ = munmap(start, byteCount) }
        let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))
        var pages = [UInt8](repeating: 1, count: (byteCount + pageSize - 1) / pageSize)
        guard unsafe mincore(start, byteCount, &pages) == 0 else { return true }
        return pages.contains { $0 & 1 == 1 }
    }
}

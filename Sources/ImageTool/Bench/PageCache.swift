// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// What the system holds of files in memory.
enum PageCache {
    /// Makes the system forget a file, so that the next reader waits for the disk.
    ///
    /// - Returns: whether it did; file systems in memory cannot.
    static func forget(_ path: String) -> Bool {
        #if os(Linux)
            let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return false }
            defer { close(descriptor) }
            // Only pages that are on the disk already can be given up.
            guard fdatasync(descriptor) == 0,
                posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0
            else { return false }
            return !isInMemory(descriptor)
        #else
            return false
        #endif
    }

    #if os(Linux)
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
    #endif
}

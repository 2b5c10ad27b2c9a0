// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The number of descriptors that a process may have open.
enum DescriptorLimit {
    /// More are never needed, and some systems permit a billion.
    private static let maximum: rlim_t = 65_536
    /// The descriptors that are neither connections nor files that are sent over them: those of
    /// worker processes, stores, and connections beyond the limit.
    private static func reservedCount(processorCount: Int) -> Int {
        64 + 8 * (2 * processorCount + 1)
    }

    /// Raises the soft limit to the hard one.
    ///
    /// - Returns: the limit from then on.
    static func raise() -> Int {
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard unsafe getrlimit(resource, &limit) == 0 else { return 256 }
        let soft = limit.rlim_cur
        limit.rlim_cur = max(soft, min(limit.rlim_max, maximum))
        guard unsafe setrlimit(resource, &limit) == 0 else { return Int(clamping: soft) }
        return Int(clamping: limit.rlim_cur)
    }

    /// The number of connections that so many descriptors and so much memory allow.
    ///
    /// - Parameters:
    ///   - descriptorCount: the descriptors; a connection may take two, its own and that of a file.
    ///   - processorCount: the processors, for each of which there are two worker processes.
    ///   - memoryByteCount: the memory that the server may keep; a quarter of it is for connections,
    ///     64 KiB for each.
    /// - Returns: the number, at least 8.
    static func connectionCount(
        descriptorCount: Int, processorCount: Int, memoryByteCount: Int
    ) -> Int {
        let free = descriptorCount - reservedCount(processorCount: processorCount)
        return min(max(8, free / 2), max(64, memoryByteCount / 4 / (64 << 10)))
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The limit of open file descriptors of this process.
enum DescriptorLimit {
    /// Enough for any server; some systems permit a billion.
    private static let maximum: rlim_t = 65_536
    /// The descriptors for worker processes, stores and connections beyond the limit, which are not
    /// available to connections and the files sent over them.
    private static func reservedCount(processorCount: Int) -> Int {
        64 + 8 * (2 * processorCount + 1)
    }

    /// Raises the soft limit to the hard limit, or to 65,536 if that is lower.
    ///
    /// - Returns: The new limit.
    static func raise() -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard unsafe getrlimit(resource, &limit) == 0 else { return 256 }
        let soft = limit.rlim_cur
        limit.rlim_cur = max(soft, min(limit.rlim_max, maximum))
        guard unsafe setrlimit(resource, &limit) == 0 else { return Int(clamping: soft) }
        return Int(clamping: limit.rlim_cur)
    }

    /// The maximum number of connections for a number of descriptors and an amount of memory.
    ///
    /// - Parameters:
    ///   - descriptorCount: The limit of descriptors. A connection needs up to two, its own and
    ///     that of a file.
    ///   - processorCount: The number of processors. Each has two worker processes.
    ///   - memoryByteCount: The value of `--memory`. A quarter of it is reserved for connections,
    ///     at 64 KiB each.
    /// - Returns: The number of connections, at least 8.
    static func connectionCount(
        descriptorCount: Int, processorCount: Int, memoryByteCount: Int
    ) -> Int {
        let free = descriptorCount - reservedCount(processorCount: processorCount)
        return min(max(8, free / 2), max(64, memoryByteCount / 4 / (64 << 10)))
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Bounds the freed memory that glibc's allocator keeps.
///
/// By default glibc has eight arenas per core. A block under 32 MiB that was mapped once stays in
/// its arena when it is freed, so that each thread that held large responses keeps their memory.
enum AllocatorLimits {
    // `M_MMAP_THRESHOLD` and `M_ARENA_MAX` of `malloc.h`, which the Glibc module does not declare.
    private static let mappingThreshold: CInt = -3
    private static let maximumArenaCount: CInt = -8

    static func set() {
        typealias SetOption = @convention(c) (_ option: CInt, _ value: CInt) -> CInt
        guard let symbol = unsafe dlsym(nil, "mallopt") else { return }
        let setOption = unsafe unsafeBitCast(symbol, to: SetOption.self)
        _ = setOption(maximumArenaCount, 2)
        _ = setOption(mappingThreshold, 256 << 10)
    }
}

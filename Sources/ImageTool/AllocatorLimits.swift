// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#endif

/// Bounds the freed memory that glibc's allocator keeps.
///
/// By default it has eight arenas a core, and a block under 32 MiB that was mapped once stays in one of
/// them when it is freed: each thread that has held large answers keeps as much.
enum AllocatorLimits {
    // The numbers of `malloc.h`, which Swift's module of glibc does not declare.
    private static let mappingThreshold: CInt = -3
    private static let maximumArenaCount: CInt = -8

    static func set() {
        #if canImport(Glibc)
            typealias SetOption = @convention(c) (_ option: CInt, _ value: CInt) -> CInt
            guard let symbol = unsafe dlsym(nil, "mallopt") else { return }
            let setOption = unsafe unsafeBitCast(symbol, to: SetOption.self)
            _ = setOption(maximumArenaCount, 2)
            _ = setOption(mappingThreshold, 256 << 10)
        #endif
    }
}

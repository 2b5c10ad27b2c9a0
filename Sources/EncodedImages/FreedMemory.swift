// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#endif

/// Gives the system the memory that was freed and is kept for what may come next.
///
/// glibc keeps whatever lies below something that is still used; other C libraries keep little.
package func returnFreedMemory() {
    #if canImport(Glibc)
        // Swift's module of glibc does not declare it.
        typealias Trim = @convention(c) (_ padding: Int) -> CInt
        guard let symbol = unsafe dlsym(nil, "malloc_trim") else { return }
        _ = unsafe unsafeBitCast(symbol, to: Trim.self)(0)
    #endif
}

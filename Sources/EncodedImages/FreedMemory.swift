// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#endif

/// Returns freed memory, which the C library holds for later allocations, to the system.
///
/// glibc keeps whatever lies below something that is still used; other C libraries keep little.
package func returnFreedMemory() {
    #if canImport(Glibc)
    // Not declared by Swift's module of glibc.
    typealias Trim = @convention(c) (_ padding: Int) -> CInt
    guard let symbol = unsafe dlsym(nil, "malloc_trim") else { return }
    _ = unsafe unsafeBitCast(symbol, to: Trim.self)(0)
    #endif
}

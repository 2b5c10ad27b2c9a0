// SPDX-License-Identifier: Apache-2.0

import Foundation

public enum Sanitizer {
    /// Whether AddressSanitizer is active, which needs additional memory and retains freed memory.
    ///
    /// Set by `scripts/test-asan`.
    public static let watchesAddresses =
        ProcessInfo.processInfo.environment["CALOTYPE_SANITIZER"] == "address"

    /// Whether the allocator is that of a sanitizer, which does not return freed memory as that of the system does.
    ///
    /// Set by `scripts/test-asan` and `scripts/test-tsan`.
    public static let replacesAllocator =
        ProcessInfo.processInfo.environment["CALOTYPE_SANITIZER"] != nil
}

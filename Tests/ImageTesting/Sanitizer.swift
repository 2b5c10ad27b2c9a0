// SPDX-License-Identifier: Apache-2.0

import Foundation

public enum Sanitizer {
    /// Whether AddressSanitizer is active, which needs additional memory and retains freed memory.
    ///
    /// Set by `scripts/test-asan`.
    public static let watchesAddresses =
        ProcessInfo.processInfo.environment["CALOTYPE_SANITIZER"] == "address"

    /// Whether ThreadSanitizer is active, whose allocator is not that of the system.
    ///
    /// Set by `scripts/test-tsan`.
    public static let watchesThreads =
        ProcessInfo.processInfo.environment["CALOTYPE_SANITIZER"] == "thread"
}

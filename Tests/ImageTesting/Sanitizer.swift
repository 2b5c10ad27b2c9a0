// SPDX-License-Identifier: Apache-2.0

import Foundation

public enum Sanitizer {
    /// Whether AddressSanitizer watches, which takes memory of its own and keeps what was given back.
    ///
    /// `scripts/test-asan` specifies.
    public static let watchesAddresses =
        ProcessInfo.processInfo.environment["CALOTYPE_SANITIZER"] == "address"
}

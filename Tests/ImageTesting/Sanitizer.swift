// SPDX-License-Identifier: Apache-2.0

import Foundation

public enum Sanitizer {
    /// Whether AddressSanitizer is active, which uses extra memory and delays its release.
    ///
    /// `scripts/test-asan` sets the variable.
    public static let watchesAddresses =
        ProcessInfo.processInfo.environment["CALOTYPE_SANITIZER"] == "address"
}

// SPDX-License-Identifier: Apache-2.0

/// The update type of loads that report no progress.
struct NoUpdate: LoadUpdate {
    mutating func merge(_ newer: NoUpdate) {}
}

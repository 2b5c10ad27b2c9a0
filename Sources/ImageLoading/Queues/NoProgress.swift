// SPDX-License-Identifier: Apache-2.0

/// The update type of loads that report no progress.
struct NoProgress: LoadUpdate {
    mutating func merge(_ newer: NoProgress) {}
}

// SPDX-License-Identifier: Apache-2.0

/// What nobody waits to be told of a rendition.
struct NoUpdate: LoadUpdate {
    mutating func merge(_ newer: NoUpdate) {}
}

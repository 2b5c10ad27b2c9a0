// SPDX-License-Identifier: Apache-2.0

/// What the consumers of a load allow to be stored on disk.
struct StorePermission: OptionSet {
    let rawValue: Int

    /// The bytes of an original from the network.
    static let original = StorePermission(rawValue: 1)
    /// The value that is made from it.
    static let value = StorePermission(rawValue: 2)
}

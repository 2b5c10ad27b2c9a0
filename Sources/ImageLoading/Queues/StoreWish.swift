// SPDX-License-Identifier: Apache-2.0

/// What the consumers of a load allow to be stored on disk.
struct StoreWish: OptionSet {
    let rawValue: Int

    /// The bytes of an original from the network.
    static let original = StoreWish(rawValue: 1)
    /// The value that is made from it.
    static let value = StoreWish(rawValue: 2)
}

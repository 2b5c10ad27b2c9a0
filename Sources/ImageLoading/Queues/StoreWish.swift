// SPDX-License-Identifier: Apache-2.0

/// What of a load may be kept on disk, as those who share it say.
struct StoreWish: OptionSet {
    let rawValue: Int

    /// The bytes of an original from the web.
    static let original = StoreWish(rawValue: 1)
    /// What is made of it.
    static let value = StoreWish(rawValue: 2)
}

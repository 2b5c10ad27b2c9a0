// SPDX-License-Identifier: Apache-2.0

/// A link with which guests see a folder or some images.
package struct SharedLink: Sendable {
    /// What a link shows.
    package enum Goal: Hashable, Sendable {
        /// A folder and all below it, by its path in the served folder.
        case folder(String)
        /// Some images, by their paths in the served folder.
        case images([String])
    }

    /// Its name in the store and in the URL.
    package let id: String
    /// The path of its folder; `nil` if it shows some images.
    package let folder: String?
    /// The number of the images; 0 if it shows a folder.
    package let imageCount: Int
    /// The time at which it was made, in seconds since 1970.
    package let created: Int
    /// The time of its end, in seconds since 1970.
    package let expires: Int
}

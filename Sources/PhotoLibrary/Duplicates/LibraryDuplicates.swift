// SPDX-License-Identifier: Apache-2.0

/// Images of a library that look alike, or whose files are equal.
package struct LibraryDuplicates: Sendable {
    /// Images that look alike, the largest first.
    package struct Group: Sendable {
        package let images: [LibraryImage]
        /// The index of the first image whose file has the same bytes, for each image.
        package let firstEqual: [Int]
    }

    /// Whether all images have been compared.
    package let isComplete: Bool
    /// The number of images that have been read for the comparison.
    package let readCount: Int
    /// The number of images to compare.
    package let totalCount: Int
    /// The number of all groups.
    package let groupCount: Int
    /// Some of the groups, that with the newest image first.
    package let groups: [Group]
}

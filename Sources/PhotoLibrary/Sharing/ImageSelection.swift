// SPDX-License-Identifier: Apache-2.0

/// The images that a link shows.
package struct ImageSelection: Sendable {
    /// The name of the link.
    package let id: String
    /// The paths of the images in the library.
    package let paths: [String]

    package init(id: String, paths: [String]) {
        self.id = id
        self.paths = paths
    }
}

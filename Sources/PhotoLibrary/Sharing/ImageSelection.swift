// SPDX-License-Identifier: Apache-2.0

/// The images that a link shows.
package struct ImageSelection: Sendable {
    /// The name under which a library has stored it.
    package let id: String
    /// The paths of the images in the library.
    package let paths: [String]
}

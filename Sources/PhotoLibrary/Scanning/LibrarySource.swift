// SPDX-License-Identifier: Apache-2.0

package import ImageLoading

/// What a library needs to know about the files of a folder and its subfolders.
package protocol LibrarySource: Sendable {
    /// The absolute path of the folder of the library.
    var root: String { get }

    /// Lists a folder; blocks.
    ///
    /// - Parameter path: the path of the folder in the library; empty for the library's own.
    /// - Returns: the contents, or `nil` if there is no such folder.
    func list(_ path: String) -> FolderListing?

    /// Reads the headers and the metadata of files.
    ///
    /// - Returns: one description for each file, in their order.
    func describe(_ files: [FileIdentity]) async -> [ImageDescription]

    /// Decodes images at a low priority, to compare what they show.
    ///
    /// - Returns: one hash for each file, in their order.
    func perceptualHashes(of files: [FileIdentity]) async -> [ImageHash]
}

/// The names in a folder.
package struct FolderListing: Sendable {
    /// The resolved path of the folder.
    package let resolvedPath: String
    /// The names of subfolders, unordered.
    package let folders: [String]
    /// The images by name, with their resolved paths, unordered.
    package let images: [(name: String, identity: FileIdentity)]

    package init(
        resolvedPath: String, folders: [String], images: [(name: String, identity: FileIdentity)]
    ) {
        self.resolvedPath = resolvedPath
        self.folders = folders
        self.images = images
    }
}

extension String {
    /// The path of a name inside the folder with this path, in a library.
    func appending(name: String) -> String { isEmpty ? name : "\(self)/\(name)" }
}

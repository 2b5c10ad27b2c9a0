// SPDX-License-Identifier: Apache-2.0

package import ImageCommands
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A folder that is opened, or a file with its folder.
package struct OpenedPath: Hashable, Sendable {
    /// The absolute path of the folder.
    package let folder: String
    /// The name of the file; `nil` if a folder is opened.
    package let file: String?
    /// The URI of the file or the folder.
    package let uri: String

    /// Reads a path or a `file:` URI.
    ///
    /// - Parameter argument: A URI, an absolute path, or a path relative to the working directory.
    /// - Throws: ``FileFailure`` if it is no local file, or the file does not exist.
    package init(_ argument: String) throws(FileFailure) {
        guard let uri = FileURI(argument),
            let path = String(validating: uri.path, as: UTF8.self)
        else {
            throw FileFailure(argument, "not a local file with a name in UTF-8")
        }
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            throw FileFailure(argument, lastSystemError())
        }
        self.uri = uri.text
        if status.st_mode & S_IFMT == S_IFDIR {
            (folder, file) = (path, nil)
        } else {
            let parts = splitFolder(path)
            (folder, file) = (parts.folder, parts.file)
        }
    }
}

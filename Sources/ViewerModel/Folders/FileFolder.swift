// SPDX-License-Identifier: Apache-2.0

package import EncodedImages
package import ImageLoading
internal import ImageCommands

/// The images of a folder of a file system.
package struct FileFolder: ImageFolder {
    private let path: String
    private let extensions: Set<String>

    /// - Parameters:
    ///   - path: the absolute path of the folder.
    ///   - extensions: the file name extensions of images in lower case.
    package init(_ path: String, extensions: Set<String>) {
        self.path = path
        self.extensions = extensions
    }

    package var kind: FolderKind { .files }

    /// Lists the folder on a thread of its own; a folder that cannot be read is empty.
    package func names() -> AsyncThrowingStream<[String], any Error> {
        AsyncThrowingStream { [path, extensions] stream in
            startThread {
                var batch: [String] = []
                var limit = OpenedPath.batchSizes.first
                _ = FolderEntry.forEach(in: path) { entry in
                    guard entry.kind != .folder, entry.kind != .other,
                        isImageName(entry.name, extensions)
                    else { return }
                    batch.append(entry.name)
                    if batch.count >= limit {
                        stream.yield(batch)
                        batch = []
                        limit = OpenedPath.batchSizes.others
                    }
                }
                stream.yield(batch)
                stream.finish()
            }
        }
    }

    package func original(of name: String) -> ImageRequest.Source {
        .file(ViewerModel.path(of: name, in: path))
    }

    package func bytes(
        of name: String, _ limits: DecodeLimits
    ) throws(CodecError) -> EncodedBytes? {
        try EncodedBytes(opening: ViewerModel.path(of: name, in: path), limits: limits)
    }
}

/// Returns whether a name has one of the extensions.
package func isImageName(_ name: String, _ extensions: Set<String>) -> Bool {
    splitExtension(name).fileExtension.map { extensions.contains($0.lowercased()) } ?? false
}

// SPDX-License-Identifier: Apache-2.0

package import EncodedImages
package import ImageLoading
package import Pixels
package import Placeholders

/// Where the images of a folder are stored.
package enum FolderKind: Hashable, Sendable {
    case files
    /// In a ZIP archive, which is never changed.
    case archive
    /// On a Calotype server, which never changes its images either.
    case server
}

/// Images that are displayed like those of a folder.
package protocol ImageFolder: Sendable {
    var kind: FolderKind { get }

    /// Lists the names of the images.
    ///
    /// - Returns: batches of names, the first of which is small, so that it is displayed soon. The stream
    ///   throws `FileFailure`.
    func names() -> AsyncThrowingStream<[String], any Error>

    /// Returns the source of the original of an image.
    func original(of name: String) -> ImageRequest.Source

    /// Returns the source of an image that fills a box, or of the original.
    ///
    /// - Parameters:
    ///   - name: the name of the image.
    ///   - side: the larger side of the box in pixels.
    ///   - isStill: whether the first frame of an animation is sufficient.
    /// - Returns: the source; its image may be larger than the box.
    func source(of name: String, filling side: Int, isStill: Bool) -> ImageRequest.Source

    /// Returns the size of an original, if it is known without loading it.
    func pixelSize(of name: String) -> PixelSize?

    /// Returns the placeholder that came with the list.
    func placeholder(of name: String) -> ThumbHash?

    /// Returns the bytes of an original; `nil` if they come over the network. Blocks.
    func bytes(of name: String, _ limits: DecodeLimits) throws(CodecError) -> EncodedBytes?
}

extension ImageFolder {
    package func source(of name: String, filling side: Int, isStill: Bool) -> ImageRequest.Source {
        original(of: name)
    }
    package func pixelSize(of name: String) -> PixelSize? { nil }
    package func placeholder(of name: String) -> ThumbHash? { nil }
}

extension OpenedPath {
    /// The number of names of the first batch of a list, and of the others.
    ///
    /// Folders list names in no order: what a part of them displays is replaced soon, after its loads have
    /// delayed those of the first images. Reading and ordering the first batch takes some milliseconds.
    static let batchSizes = (first: 5_000, others: 20_000)
}

// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// The place of the index of a file in the store of renditions, which limits its size and evicts it like
/// a rendition.
public struct StoredIndex: Sendable {
    private let store: any RenditionStoring
    private let key: RenditionKey

    /// The place of the index of a version of a file.
    public init(of original: FileIdentity, in store: any RenditionStoring) {
        self.store = store
        key = RenditionKey(OriginalVersion(original), request: "index")
    }

    /// Returns the index, `nil` if it is not stored or damaged; blocks.
    func read() -> ImageIndex? {
        store.rendition(for: key).flatMap { try? ImageIndex(bytes: $0.bytes) }
    }

    /// Stores the index of an image of a size; blocks.
    func write(_ index: ImageIndex, _ size: PixelSize) {
        store.insert(
            Rendition(
                bytes: index.bytes, mediaType: "application/octet-stream", pixelSize: size,
                original: key.original),
            for: key)
    }
}

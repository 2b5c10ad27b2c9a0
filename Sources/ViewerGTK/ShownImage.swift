// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import ImageLoading
internal import Pixels
internal import ViewerModel

/// An image that is displayed alone or compared with others, and its loads.
@MainActor
final class ShownImage {
    let name: String
    /// The size for which the image was requested.
    var box: PixelSize?
    /// The size of the original; `nil` until it is known.
    var size: PixelSize?
    /// The whole image, as it fits into its part of the window; a draft until it is loaded.
    var fitted: Texture?
    /// The pixels of `fitted` with their origin; `nil` for a draft.
    var loaded: LoadedImage?
    /// The tiles of an image that is larger than its part, once it has been opened for them.
    var tiles: ImageTiles?
    var player: ImagePlayer?
    /// The number of the page that is displayed, or about to be; see ``ImagePage``.
    var pageNumber = 0
    /// The page that is displayed; `nil` if the first one was loaded as the image.
    var page: ImagePage?
    /// How the image was decoded.
    var facts: [ViewerText] = []
    /// Names and values of the properties and the metadata; `nil` until they are read.
    var properties: (facts: [(String, String)], metadata: [(String, String)])?
    var histogram: Texture?
    var failure: String?
    var load: Task<Void, Never>?
    var draftLoad: Task<Void, Never>?
    var tilesLoad: Task<Void, Never>?
    var infoLoad: Task<Void, Never>?

    init(_ name: String, draft: Texture?) {
        self.name = name
        fitted = draft
    }

    /// Ends all loads.
    func stop() {
        load?.cancel()
        draftLoad?.cancel()
        turnPage()
        player?.stop()
    }

    /// Drops the tiles and the properties of a page, since another one is displayed.
    func turnPage() {
        tilesLoad?.cancel()
        infoLoad?.cancel()
        tiles?.stop()
        (tiles, tilesLoad, infoLoad) = (nil, nil, nil)
    }

    func isNamed(_ other: String) -> Bool { name.utf8.elementsEqual(other.utf8) }
}
#endif

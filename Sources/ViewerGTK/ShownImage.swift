// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import CGTK
internal import EncodedImages
internal import ImageCommands
internal import ImageLoading
internal import LoadScheduling
internal import Pixels
internal import ViewerModel

/// The textures of the image that is displayed alone.
@MainActor
struct CurrentImage {
    /// The name; `nil` before the first image.
    var name: String?
    /// The size of the view for which `fitted` was decoded.
    var view: PixelSize?
    /// The whole image, as it fits into the view.
    var fitted: Texture?
    /// The tiles of an image that is larger than the view, once it has been opened for them.
    var tiles: ImageTiles?
    var tilesLoad: Task<Void, Never>?
    /// The description of how the image was decoded.
    var facts = ""
    var failure: String?
    var load: Task<Void, Never>?

    /// Ends all loads.
    func stop() {
        load?.cancel()
        tilesLoad?.cancel()
        tiles?.stop()
    }
}

extension ViewerWindow {
    /// Loads the current image, and the tiles that an enlarged view shows.
    func loadCurrent() {
        guard viewer.mode == .single, let name = viewer.list.current else { return }
        let isSame = current.name?.utf8.elementsEqual(name.utf8) ?? false
        if !isSame || current.view != viewer.view {
            if isSame { current.load?.cancel() } else { current.stop() }
            if !isSame {
                // The cell is a draft until the image is decoded.
                current = CurrentImage()
                current.name = name
                current.fitted = cells[ComparedByBytes(name)]?.texture
            }
            current.view = viewer.view
            // Before the window has a size, the image is decoded for the default one.
            let box =
                viewer.view.area > 1 ? viewer.view : PixelSize(width: 1280, height: 800)
            let request = ImageRequest(
                path: viewer.path(name), options: DecodeOptions(box: box))
            current.load = Task { [weak self] in
                if let draft = self?.current.fitted { await self?.placeDraft(draft, request, name) }
                _ = await self?.finish(request, name)
            }
        }
        loadTiles()
    }

    /// Places a draft, which needs the size of the image.
    private func placeDraft(_ draft: Texture, _ request: ImageRequest, _ name: String) async {
        guard loads.pipeline.cachedImage(for: request) == nil,
            let facts = try? await loads.pipeline.facts(for: request.source.name),
            current.name == name, current.fitted === draft
        else { return }
        viewer.setImageSize(facts.pixelSize)
        calotype_window_redraw()
    }

    private func finish(_ request: ImageRequest, _ name: String) async {
        do throws(FileFailure) {
            let loaded = try await loads.image(request)
            guard !Task.isCancelled, current.name == name else { return }
            current.fitted = Texture(loaded.image)
            viewer.setImageSize(loaded.originalSize)
            current.facts = """
                \(name)
                \(loaded.originalSize) pixels, displayed from \(loaded.image.size)
                \(loaded.originalFrameCount) frames
                decoded in \(loaded.cost.formattedMilliseconds)
                """
            prefetchNeighbours(box: request.options.box)
        } catch {
            guard !Task.isCancelled, current.name == name else { return }
            current.failure = error.reason
        }
        loadTiles()
        calotype_window_redraw()
    }

    /// Loads the images that the next keys will show.
    private func prefetchNeighbours(box: PixelSize?) {
        guard let index = viewer.list.currentIndex, let box else { return }
        for neighbour in [index + 1, index - 1] where 0..<viewer.list.count ~= neighbour {
            let request = ImageRequest(
                path: viewer.path(viewer.list[neighbour]), options: DecodeOptions(box: box),
                priority: .prefetch)
            Task { [loads] in _ = try? await loads.image(request) }
        }
    }

    /// Loads the tiles of an image that is enlarged beyond the size that fits.
    private func loadTiles() {
        guard let placement = viewer.placement, let name = current.name, current.fitted != nil,
            placement.fittingScale < 1
        else { return }
        let isEnlarged = !placement.isFitted && placement.scale > placement.fittingScale
        if let tiles = current.tiles {
            if isEnlarged { tiles.update(placement) }
            return
        }
        guard isEnlarged || placement.image.area > ImageLoads.wholePixelCount,
            current.tilesLoad == nil
        else { return }
        let path = viewer.path(name)
        current.tilesLoad = Task { [weak self, loads] in
            let image = try? await ImageLoads.tiles(
                of: path, loads.pipeline.codecs, loads.pipeline.limits, loads.tileStores)
            guard let self, let image, !Task.isCancelled else { return }
            current.tiles = ImageTiles(image)
            loadTiles()
            calotype_window_redraw()
        }
    }
}
#endif

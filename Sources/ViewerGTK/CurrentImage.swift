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
    /// The visible part, at the scale of the view.
    var part: Texture?
    /// The placement for which `part` was decoded.
    var shownPart: ImagePlacement?
    /// The placement for which a part is being decoded, or was last.
    var partPlacement: ImagePlacement?
    /// The description of how the image was decoded.
    var facts = ""
    var failure: String?
    var load: Task<Void, Never>?
    var partLoad: Task<Void, Never>?
}

extension ViewerWindow {
    /// Loads the current image, and the part of it that an enlarged view shows.
    func loadCurrent() {
        guard viewer.mode == .single, let name = viewer.list.current else { return }
        let isSame = current.name?.utf8.elementsEqual(name.utf8) ?? false
        if !isSame || current.view != viewer.view {
            current.load?.cancel()
            current.partLoad?.cancel()
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
            current.load = Task { [weak self] in _ = await self?.finish(request, name) }
        }
        loadPart()
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
        loadPart()
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

    /// Decodes the visible part of an image that is larger than the window, at the exact scale.
    private func loadPart() {
        guard let placement = viewer.placement, let name = viewer.list.current,
            !placement.isFitted, placement.scale > placement.fittingScale,
            current.partPlacement != placement
        else { return }
        current.partLoad?.cancel()
        current.partPlacement = placement
        let part = placement.visiblePart
        var options = DecodeOptions()
        options.region = part
        // GTK enlarges beyond 100 %.
        let scale = min(1, placement.scale)
        options.box = PixelSize(
            width: max(1, Int((Double(part.width) * scale).rounded())),
            height: max(1, Int((Double(part.height) * scale).rounded())))
        options.mode = .stretch
        let request = ImageRequest(path: viewer.path(name), options: options)
        current.partLoad = Task { [weak self] in
            guard let self, let loaded = try? await loads.image(request), !Task.isCancelled,
                current.partPlacement == placement
            else { return }
            current.part = Texture(loaded.image)
            current.shownPart = placement
            calotype_window_redraw()
        }
    }
}
#endif

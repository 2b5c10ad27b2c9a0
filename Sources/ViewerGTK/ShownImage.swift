// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import CGTK
internal import EncodedImages
internal import ImageCodecs
internal import ImageCommands
internal import ImageLoading
internal import LoadScheduling
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
        tilesLoad?.cancel()
        infoLoad?.cancel()
        tiles?.stop()
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

extension ViewerWindow {
    /// The image that is displayed alone, or the first one that is compared.
    var current: ShownImage? { shown.first }

    /// Loads the images that the next keys will show.
    private func prefetchNeighbours(_ box: PixelSize) {
        guard viewer.mode == .single else { return }
        loads.neighbours.replace(
            with: viewer.neighbours.map {
                loads.request(viewer.list[$0], fitting: box)
            })
    }

    /// Ends what displays images, since the grid is displayed.
    func endShown() {
        loads.neighbours.replace(with: [])
        for image in shown { image.stop() }
        shown = []
    }

    /// Loads the displayed images, and the tiles that an enlarged view shows.
    func loadShown() {
        guard viewer.mode == .single else { return }
        // Before the window has a size, the image is decoded for the default one.
        let box = viewer.view.area > 1 ? viewer.panes.size : size
        let names = viewer.shown.map { viewer.list[$0] }
        for image in shown where !names.contains(where: image.isNamed) { image.stop() }
        shown = names.map { name in
            shown.first { $0.isNamed(name) }
                ?? ShownImage(name, draft: cells[ComparedByBytes(name)]?.texture)
        }
        for image in shown where image.box != box {
            image.load?.cancel()
            image.box = box
            let request = loads.request(image.name, fitting: box)
            if image.pageNumber != 0 {
                image.load = Task { [weak self] in await self?.loadPage(image, box) }
                continue
            }
            if let loaded = loads.pipeline.cachedImage(for: request), !loaded.isPreview {
                finish(image, loaded, box, [LoadStep(.memory, "hit")])
                continue
            }
            if image.size == nil, image.fitted != nil {
                image.draftLoad = Task { [weak self] in await self?.placeDraft(image) }
            }
            image.load = Task { [weak self] in await self?.load(image, request, box) }
        }
        if let size = current?.size { viewer.setImageSize(size) }
        loadTiles()
        loadInfo()
    }

    /// The placement of a displayed image; `nil` until the sizes are known.
    func placement(_ image: ShownImage) -> ImagePlacement? {
        guard image !== current else { return viewer.placement }
        guard let size = image.size else { return nil }
        return viewer.placement?.inStep(for: size)
    }

    /// Places a draft, which needs the size of the image.
    private func placeDraft(_ image: ShownImage) async {
        guard let size = await loads.pixelSize(of: image.name), !Task.isCancelled,
            image.size == nil
        else { return }
        show(image, size: size)
    }

    /// The placement of the pixels of the displayed page, which may be a smaller version of the image.
    func tilePlacement(_ image: ShownImage) -> ImagePlacement? {
        let placement = placement(image)
        guard let size = image.page?.source.pixelSize, size != placement?.image else {
            return placement
        }
        return placement?.inStep(for: size)
    }

    private func load(_ image: ShownImage, _ request: ImageRequest, _ box: PixelSize) async {
        do throws(FileFailure) {
            let metrics = LoadMetrics()
            let loaded = try await loads.image(request, metrics)
            guard !Task.isCancelled else { return }
            finish(image, loaded, box, metrics.steps)
            show(image, size: image.size ?? loaded.originalSize)
        } catch {
            guard !Task.isCancelled else { return }
            image.failure = error.reason
            calotype_window_redraw()
        }
    }

    /// Shows the next or the previous frame or page of the displayed images.
    func step(_ count: Int) {
        for image in shown {
            guard image.player == nil, let box = image.box else {
                image.player?.step(count)
                continue
            }
            image.pageNumber += count
            image.load?.cancel()
            image.load = Task { [weak self] in await self?.loadPage(image, box) }
        }
    }

    private func loadPage(_ image: ShownImage, _ box: PixelSize) async {
        do throws(FileFailure) {
            let page = try await loads.page(image.pageNumber, of: image.name)
            guard !Task.isCancelled else { return }
            image.pageNumber = page.number
            // An image with one page stays as it is.
            guard page.count > 1 || image.loaded == nil else { return }
            let loaded = try await loads.image(page, of: image.name, fitting: box)
            guard !Task.isCancelled else { return }
            image.turnPage()
            finish(image, loaded, box, [], page)
            image.failure = nil
            if image === current { message = text(page.label) }
            show(image, size: page.placedSize)
            change()
        } catch {
            guard !Task.isCancelled else { return }
            image.failure = error.reason
            change()
        }
    }

    private func finish(
        _ image: ShownImage, _ loaded: LoadedImage, _ box: PixelSize, _ steps: [LoadStep],
        _ page: ImagePage? = nil
    ) {
        image.draftLoad?.cancel()
        image.page = page
        image.fitted = Texture(loaded.image)
        image.loaded = loaded
        // A server may have reduced the image.
        let size =
            page?.placedSize ?? loads.folder.pixelSize(of: image.name) ?? loaded.originalSize
        image.size = size
        image.histogram = nil
        image.facts = facts(loaded, size, steps)
        startAnimation(
            image, loads.request(image.name, fitting: box),
            frameCount: loaded.originalFrameCount)
        if image === current { prefetchNeighbours(box) }
    }

    private func show(_ image: ShownImage, size: PixelSize) {
        image.size = size
        if image === current { viewer.setImageSize(size) }
        loadTiles()
        loadInfo()
        calotype_window_redraw()
    }

    private func facts(
        _ loaded: LoadedImage, _ size: PixelSize, _ steps: [LoadStep]
    ) -> [ViewerText] {
        var facts: [ViewerText] = [.pixels("\(size)", displayed: "\(loaded.image.size)")]
        facts += steps.compactMap { step in
            ViewerText.LoadStepName(rawValue: step.stage.rawValue).map {
                .step($0, detail: step.detail, duration: step.duration.formattedMilliseconds)
            }
        }
        if let monitor = loads.monitor { facts.append(.profile(monitor.profile.name)) }
        if let problem = loaded.problem { facts.append(.isIncomplete("\(problem)")) }
        return facts
    }

    private func startAnimation(_ image: ShownImage, _ request: ImageRequest, frameCount: Int) {
        image.player?.stop()
        image.player = nil
        guard frameCount > 1 else { return }
        // The image owns the player.
        let player = ImagePlayer(loads.pipeline, request, frameCount: frameCount) {
            [weak image] frame in
            image?.fitted = frame
            calotype_window_redraw()
        }
        image.player = player
        if viewer.isPlaying { player.play() }
    }

    /// Loads the tiles of images that are enlarged beyond the size that fits.
    private func loadTiles() {
        for image in shown where image.player == nil && image.loaded != nil {
            guard let placement = tilePlacement(image), placement.fittingScale < 1 else {
                continue
            }
            if let tiles = image.tiles {
                if placement.isEnlarged { tiles.update(placement) }
                continue
            }
            // Tiles need the original, which a server has to send first.
            let isLarge = placement.image.area >= ImageLoads.largePixelCount
            guard placement.isEnlarged || isLarge && viewer.kind != .server,
                image.tilesLoad == nil
            else { continue }
            let original = loads.folder.original(of: image.name)
            image.tilesLoad = Task { [weak self, loads, number = image.pageNumber] in
                let tiled = try? await ImageLoads.tiles(
                    number, of: original, loads.pipeline, loads.tileStores)
                guard let self, let tiled, !Task.isCancelled else { return }
                image.tiles = ImageTiles(tiled, loads.monitor)
                loadTiles()
                calotype_window_redraw()
            }
        }
    }

    /// Reads the metadata and counts the values of the current image, for the panel.
    private func loadInfo() {
        guard viewer.showsInfo, let image = current, let loaded = image.loaded,
            image.histogram == nil, image.infoLoad == nil
        else { return }
        image.infoLoad = Task { [weak self, loads] in
            let page = try? await loads.page(image.pageNumber, of: image.name)
            let properties = await Self.properties(page)
            let histogram = await Self.histogram(loaded.image)
            guard let self, !Task.isCancelled else { return }
            image.properties = properties
            image.histogram = Texture(histogram)
            image.infoLoad = nil
            _ = self
            calotype_window_redraw()
        }
    }

    @concurrent private static func properties(
        _ page: ImagePage?
    ) async -> (facts: [(String, String)], metadata: [(String, String)]) {
        (page?.facts ?? [], page?.metadata ?? [])
    }

    @concurrent private static func histogram(_ image: PixelBuffer) async -> PixelBuffer {
        Histogram(image).image(height: 80)
    }
}
#endif

// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import CGTK
internal import EncodedImages
internal import ImageCodecs
internal import ImageCommands
internal import ImageLoading
internal import Pixels
internal import ViewerModel

/// The images that are displayed alone or compared, and their loads.
@MainActor
final class ShownImages {
    /// The images, the current one first.
    private(set) var images: [ShownImage] = []
    /// Called after an image has got a size or pixels, so that ``update(_:)`` continues.
    var changed: () -> Void = {}
    private let loads: ImageLoads
    /// Has the drafts of images that the grid has displayed.
    private let cells: GridCells
    /// The box of images before the window has a size.
    private let defaultBox: PixelSize
    private var neighbours: [String] = []
    private var isPlaying = true

    init(_ loads: ImageLoads, _ cells: GridCells, defaultBox: PixelSize) {
        self.loads = loads
        self.cells = cells
        self.defaultBox = defaultBox
    }

    /// The image that is displayed alone, or the first one that is compared.
    var current: ShownImage? { images.first }

    /// Loads the images that a viewer displays, and the tiles that an enlarged view shows.
    func update(_ viewer: inout Viewer) {
        guard viewer.mode == .single else { return end() }
        isPlaying = viewer.isPlaying
        // Before the window has a size, the image is decoded for the default one.
        let box = viewer.view.area > 1 ? viewer.panes.size : defaultBox
        let names = viewer.shown.map { viewer.list[$0] }
        for image in images where !names.contains(where: image.isNamed) { image.stop() }
        images = names.map { name in
            images.first { $0.isNamed(name) } ?? ShownImage(name, draft: cells[name]?.texture)
        }
        for image in images where image.box != box {
            image.box = box
            startLoad(image, box)
        }
        if let size = current?.size { viewer.setImageSize(size) }
        loadTiles(viewer)
        if viewer.showsInfo, let current { loadInfo(current) }
        if current?.loaded != nil { prefetchNeighbours(of: viewer, box) }
    }

    /// Ends what displays images.
    func end() {
        prefetch([], defaultBox)
        for image in images { image.stop() }
        images = []
    }

    /// Drops an image whose file has changed.
    func remove(_ name: String) {
        for image in images where image.isNamed(name) { image.stop() }
        images.removeAll { $0.isNamed(name) }
    }

    /// Continues or pauses animations.
    func play(_ isPlaying: Bool) {
        for player in images.compactMap(\.player) {
            if isPlaying { player.play() } else { player.pause() }
        }
    }

    /// Shows the next or the previous frame or page of the displayed images.
    func step(_ count: Int) {
        for image in images {
            guard image.player == nil, let box = image.box else {
                image.player?.step(count)
                continue
            }
            image.pageNumber += count
            image.load?.cancel()
            image.load = Task { [weak self] in await self?.loadPage(image, box) }
        }
    }

    /// The placement of a displayed image; `nil` until the sizes are known.
    func placement(_ image: ShownImage, in viewer: Viewer) -> ImagePlacement? {
        guard image !== current else { return viewer.placement }
        guard let size = image.size else { return nil }
        return viewer.placement?.inStep(for: size)
    }

    /// The placement of the pixels of the displayed page, which may be a smaller version of the image.
    func tilePlacement(_ image: ShownImage, in viewer: Viewer) -> ImagePlacement? {
        let placement = placement(image, in: viewer)
        guard let size = image.page?.source.pixelSize, size != placement?.image else {
            return placement
        }
        return placement?.inStep(for: size)
    }

    /// Loads the images that the next keys will show.
    private func prefetchNeighbours(of viewer: Viewer, _ box: PixelSize) {
        prefetch(viewer.neighbours.map { viewer.list[$0] }, box)
    }

    private func prefetch(_ names: [String], _ box: PixelSize) {
        guard names != neighbours else { return }
        neighbours = names
        loads.neighbours.replace(with: names.map { loads.request($0, fitting: box) })
    }

    private func startLoad(_ image: ShownImage, _ box: PixelSize) {
        image.load?.cancel()
        if image.pageNumber != 0 {
            image.load = Task { [weak self] in await self?.loadPage(image, box) }
            return
        }
        let request = loads.request(image.name, fitting: box)
        if let loaded = loads.pipeline.cachedImage(for: request), !loaded.isPreview {
            return finish(image, loaded, request, [LoadStep(.memory, "hit")])
        }
        if image.size == nil, image.fitted != nil {
            image.draftLoad = Task { [weak self] in await self?.placeDraft(image) }
        }
        image.load = Task { [weak self] in await self?.load(image, request) }
    }

    /// Places a draft, which needs the size of the image.
    private func placeDraft(_ image: ShownImage) async {
        guard let size = await loads.pixelSize(of: image.name), !Task.isCancelled,
            image.size == nil
        else { return }
        image.size = size
        changed()
    }

    private func load(_ image: ShownImage, _ request: ImageRequest) async {
        do throws(FileFailure) {
            let metrics = LoadMetrics()
            let loaded = try await loads.image(request, metrics)
            guard !Task.isCancelled else { return }
            finish(image, loaded, request, metrics.steps)
        } catch {
            guard !Task.isCancelled else { return }
            image.failure = error.reason
        }
        changed()
    }

    private func finish(
        _ image: ShownImage, _ loaded: LoadedImage, _ request: ImageRequest,
        _ steps: [LoadStep]
    ) {
        // A server may have reduced the image.
        let size = loads.folder.pixelSize(of: image.name) ?? loaded.originalSize
        take(image, loaded, size, steps)
        image.player?.stop()
        image.player = nil
        guard loaded.originalFrameCount > 1 else { return }
        // The image owns the player.
        let player = ImagePlayer(
            loads.pipeline, request, frameCount: loaded.originalFrameCount
        ) { [weak image] frame in
            image?.fitted = frame
            calotype_window_redraw()
        }
        image.player = player
        if isPlaying { player.play() }
    }

    private func take(
        _ image: ShownImage, _ loaded: LoadedImage, _ size: PixelSize, _ steps: [LoadStep]
    ) {
        image.draftLoad?.cancel()
        image.fitted = Texture(loaded.image)
        (image.loaded, image.size) = (loaded, size)
        (image.page, image.histogram, image.failure) = (nil, nil, nil)
        image.facts = facts(loaded, size, steps)
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
            take(image, loaded, page.placedSize, [])
            image.page = page
        } catch {
            guard !Task.isCancelled else { return }
            image.failure = error.reason
        }
        changed()
    }

    /// Loads the tiles of images that are enlarged beyond the size that fits.
    private func loadTiles(_ viewer: Viewer) {
        for image in images where image.player == nil && image.loaded != nil {
            guard let placement = tilePlacement(image, in: viewer), placement.fittingScale < 1
            else { continue }
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
                changed()
            }
        }
    }

    /// Reads the properties and counts the values of an image, for the panel.
    private func loadInfo(_ image: ShownImage) {
        guard let loaded = image.loaded, image.histogram == nil, image.infoLoad == nil else {
            return
        }
        image.infoLoad = Task { [loads] in
            let page = try? await loads.page(image.pageNumber, of: image.name)
            let properties = await Self.properties(page)
            let histogram = await Self.histogram(loaded.image)
            guard !Task.isCancelled else { return }
            image.properties = properties
            image.histogram = Texture(histogram)
            image.infoLoad = nil
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

extension Duration {
    /// The duration in milliseconds with one decimal.
    fileprivate var formattedMilliseconds: String {
        let tenths = Int((self / .milliseconds(1) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}
#endif

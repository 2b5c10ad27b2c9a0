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

/// The textures of the tiles of the image that is displayed alone.
@MainActor
final class ImageTiles {
    private let image: TiledImage
    private var textures: [TilePlan.Tile: Texture] = [:]
    private var loads: [TilePlan.Tile: Task<Void, Never>] = [:]
    /// Tiles of the scale before, which are drawn until those of the current scale are complete.
    private var drafts: (scale: Double, textures: [TilePlan.Tile: Texture])?
    private var scale = 0.0
    private var plan: TilePlan?
    /// The visible part, decoded from the image itself while its tiles are being made.
    private var part: (texture: Texture, rect: PixelRect)?
    private var partLoad: Task<Void, Never>?
    private let making: Task<Void, Never>?
    private let monitor: MonitorConversion?

    init(_ image: TiledImage, _ monitor: MonitorConversion?) {
        self.image = image
        self.monitor = monitor
        // The index or the pyramid of a large image is complete before the first tile is needed.
        making =
            image.configuration.usesIndex ? Task { try? await image.makeTiles() } : nil
    }

    /// Ends all work.
    func stop() {
        making?.cancel()
        partLoad?.cancel()
        for load in loads.values { load.cancel() }
        loads = [:]
    }

    /// Loads the tiles of a placement, and drops those that are far from it.
    func update(_ placement: ImagePlacement) {
        if placement.scale != scale {
            // Tiles that were complete at another scale cover more than those that are not.
            if isComplete || drafts == nil, !textures.isEmpty { drafts = (scale, textures) }
            scale = placement.scale
            textures = [:]
        }
        let plan = TilePlan(placement, image.pyramid)
        self.plan = plan
        let wanted = Set(plan.visible + plan.near)
        textures = textures.filter { wanted.contains($0.key) }
        for (tile, load) in loads where !wanted.contains(tile) {
            load.cancel()
            loads[tile] = nil
        }
        for tile in plan.visible { load(tile, .visible) }
        for tile in plan.near { load(tile, .prefetch) }
        loadPart(placement.visiblePart)
    }

    /// Decodes the visible part if its tiles take longer than usual.
    private func loadPart(_ rect: PixelRect) {
        guard !isComplete, partLoad == nil, part?.rect != rect,
            rect.size.area <= Self.maximumPartPixelCount
        else { return }
        partLoad = Task { [weak self, image, monitor] in
            try? await Task.sleep(for: .milliseconds(400))
            guard self?.isComplete == false, !Task.isCancelled else {
                self?.partLoad = nil
                return
            }
            let pixels = try? await Self.pixels(in: rect, image, monitor)
            guard let self, !Task.isCancelled else { return }
            partLoad = nil
            guard let pixels, !isComplete else { return }
            part = (Texture(pixels), rect)
            calotype_window_redraw()
        }
    }

    /// Without an index, the part is decoded from the top of the image, at full size.
    private static let maximumPartPixelCount = 4_000_000

    @concurrent private static func pixels(
        in rect: PixelRect, _ image: TiledImage, _ monitor: MonitorConversion?
    ) async throws -> PixelBuffer {
        let pixels = try await image.image(in: rect)
        return try monitor?.profile.converted(pixels) ?? pixels
    }

    private func load(_ tile: TilePlan.Tile, _ priority: LoadPriority) {
        guard textures[tile] == nil, loads[tile] == nil else { return }
        loads[tile] = Task { [weak self, image, monitor] in
            let pixels = try? await Self.pixels(of: tile, image, monitor, priority)
            guard let self, !Task.isCancelled else { return }
            loads[tile] = nil
            guard let pixels else { return }
            textures[tile] = Texture(pixels)
            if isComplete { (drafts, part) = (nil, nil) }
            calotype_window_redraw()
        }
    }

    @concurrent private static func pixels(
        of tile: TilePlan.Tile, _ image: TiledImage, _ monitor: MonitorConversion?,
        _ priority: LoadPriority
    ) async throws -> PixelBuffer {
        var pixels = try await image.tile(tile.address, priority: priority)
        guard !Task.isCancelled else { return pixels }
        if pixels.size != tile.textureSize {
            let whole = SampleRegion(
                x: 0, y: 0, width: Double(pixels.size.width), height: Double(pixels.size.height))
            pixels = pixels.resized(whole, to: tile.textureSize)
        }
        return try monitor?.profile.converted(pixels) ?? pixels
    }

    /// Whether all visible tiles of the current scale can be drawn.
    var isComplete: Bool { plan?.visible.allSatisfy { textures[$0] != nil } ?? false }

    /// Draws the tiles of a placement over a draft of the whole image.
    ///
    /// - Parameters:
    ///   - placement: the position and the scale.
    ///   - left: the left edge of the image in the window.
    ///   - top: the top edge of the image in the window.
    func draw(_ placement: ImagePlacement, left: Double, top: Double) {
        if let drafts, !isComplete, drafts.scale > 0 {
            let factor = placement.scale / drafts.scale
            for (tile, texture) in drafts.textures {
                draw(tile, texture, left, top, factor)
            }
        }
        if let part, !isComplete {
            let scale = placement.scale
            part.texture.draw(
                x: left + (Double(part.rect.x) * scale).rounded(),
                y: top + (Double(part.rect.y) * scale).rounded(),
                width: (Double(part.rect.width) * scale).rounded(),
                height: (Double(part.rect.height) * scale).rounded())
        }
        for tile in plan?.visible ?? [] {
            if let texture = textures[tile] { draw(tile, texture, left, top, 1) }
        }
    }

    private func draw(
        _ tile: TilePlan.Tile, _ texture: Texture, _ left: Double, _ top: Double,
        _ factor: Double
    ) {
        let (x, y) = (left + Double(tile.x) * factor, top + Double(tile.y) * factor)
        let (width, height) =
            (Double(tile.size.width) * factor, Double(tile.size.height) * factor)
        texture.draw(x: x, y: y, width: width, height: height)
    }
}

extension ImageLoads {
    /// The number of pixels from which an image has an index or a stored pyramid, instead of being
    /// decoded as a whole.
    nonisolated static let largePixelCount = 24_000_000

    /// Opens a page of an image for its tiles.
    @concurrent static func tiles(
        _ number: Int, of original: ImageRequest.Source, _ pipeline: ImagePipeline,
        _ stores: TileStores
    ) async throws(LoadError) -> TiledImage {
        var name = original.name
        if case .file(let path) = original { name += " \(try FileIdentity(path: path).version)" }
        let page = try await page(number, of: open(original, pipeline), original.name)
        if page.number > 0 { name += " page \(page.number)" }
        let source = page.source
        var configuration = TiledImage.Configuration()
        configuration.tileSide = 512
        configuration.encoding.quality = 95
        configuration.encoding.chromaSubsampling = .full
        let isLarge = source.pixelSize.area >= largePixelCount
        configuration.usesIndex = isLarge
        configuration.directPixelCount = isLarge ? 8 << 20 : largePixelCount
        return try TiledImage(
            source, name: name, codecs: pipeline.codecs, store: stores.files,
            queue: stores.queue, cache: stores.cache, configuration: configuration)
    }
}

/// Where the tiles of all images are kept.
struct TileStores: Sendable {
    let queue = TileQueue()
    let cache: TileCache
    let files: any TileStore

    /// - Parameters:
    ///   - folder: the folder of the tiles of large images; they are in memory if it cannot be written.
    ///   - budget: the memory for tiles.
    init(_ folder: String, budget: MemoryBudget) {
        cache = TileCache(byteLimit: 96 << 20, budget: budget)
        try? makeFolder(folder, mode: 0o700)
        let store = try? FolderTileStore(directory: "\(folder)/tiles", byteLimit: 2 << 30)
        files = store ?? MemoryTileStore()
    }
}
#endif

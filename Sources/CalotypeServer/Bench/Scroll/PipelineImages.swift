// SPDX-License-Identifier: Apache-2.0

internal import ImageCommands
internal import LoadScheduling
internal import ImageCodecs
internal import ImageLoading
internal import Logging

/// The `calotype` design: a view over ``ImagePipeline`` and ``ScrollPrefetcher``.
///
/// Visible items are loaded first, then those that are about to become visible, each at the highest
/// level of detail for which there is time.
final class PipelineImages: ScrollImages {
    private struct Cell {
        var image: ShownImage?
        var tasks: [LOD: Task<Void, Never>] = [:]
    }

    private let scene: ScrollScene
    private let ledger: ImageLedger
    private let pipeline: ImagePipeline
    private let prefetcher: ScrollPrefetcher
    private let request: @Sendable (Int) -> ImageRequest
    private let arrived = Arrivals()
    private var cells: [Int: Cell] = [:]

    /// - Parameters:
    ///   - scene: The screen.
    ///   - ledger: The statistics of decoded images.
    ///   - store: The store of a run with a warm store.
    init(_ scene: ScrollScene, _ ledger: ImageLedger, _ store: RenditionStore?) {
        self.scene = scene
        self.ledger = ledger
        var configuration = ImagePipeline.Configuration()
        configuration.memoryCacheByteLimit = ScrollDesign.cacheByteLimit
        configuration.memoryBudget = MemoryBudget(byteLimit: ScrollDesign.cacheByteLimit)
        configuration.store = store
        let pipeline = ImagePipeline(
            codecs: builtInCodecs, configuration: configuration,
            logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
        self.pipeline = pipeline
        let request: @Sendable (Int) -> ImageRequest = { item in
            store == nil
                ? scene.request(item)
                : StoredRendition(request: scene.request(item), pipeline: pipeline).request
        }
        self.request = request
        prefetcher = ScrollPrefetcher(
            pipeline: pipeline, layout: scene.layout,
            receive: { event in
                if case .finished(_, .success(let image)) = event { ledger.record(image) }
            }, request: request)
    }

    func update(_ frame: ScrollFrame) {
        for arrival in arrived.take() {
            cells[arrival.item]?.tasks[arrival.lod] = nil
            show(ShownImage(parts: arrival.parts, lod: arrival.lod), arrival.item)
        }
        for (item, cell) in cells where !frame.items.contains(item) {
            for task in cell.tasks.values { task.cancel() }
            cells[item] = nil
        }
        let policy = prefetcher.policy
        for item in frame.items { update(item, frame, policy) }
        // After the requests of visible cells, which take over loads of the prefetcher.
        prefetcher.update(visible: frame.visible, velocity: frame.velocity)
    }

    func image(for item: Int) -> ShownImage? { cells[item]?.image }

    func end() async {
        prefetcher.stop()
        for task in cells.values.flatMap(\.tasks.values) { task.cancel() }
        cells = [:]
        await pipeline.close()
    }

    private func update(_ item: Int, _ frame: ScrollFrame, _ policy: LODPolicy) {
        var cell = cells[item] ?? Cell()
        defer { cells[item] = cell }
        if cell.picture?.lod != .exact,
            let (lod, image) = pipeline.sharpestCachedImage(for: request(item)),
            policy.swaps(lod, for: cell.picture?.lod)
        {
            cell.picture = ShownImage(parts: [image], lod: lod)
        }
        // An empty cell displays the first image that is ready.
        let timeLeft =
            cell.picture == nil ? Duration.zero : frame.timeLeft(for: item, in: scene.layout)
        guard
            let lod = policy.lod(
                velocity: frame.velocity, timeLeft: timeLeft, shown: cell.picture?.lod),
            cell.tasks[lod] == nil
        else { return }
        let request = request(item).at(lod)
        let path = scene.paths[item]
        cell.tasks[lod] = Task { [pipeline, prefetcher, ledger, arrived] in
            let start = ContinuousClock.now
            do throws(LoadError) {
                let image = try await pipeline.image(for: request)
                prefetcher.note(start.duration(to: .now), for: lod)
                ledger.record(image)
                arrived.append(Arrivals.Item(item: item, lod: lod, parts: [image]))
            } catch .cancelled {
                // The cell is no longer visible.
            } catch {
                ledger.record(FileFailure(path, error).reason, path)
            }
        }
    }

    private func show(_ image: ShownImage, _ item: Int) {
        guard let cell = cells[item],
            LODPolicy().swaps(image.lod, for: cell.image?.lod)
        else { return }
        cells[item]?.image = image
        // Loads at a lower level of detail are obsolete.
        for (lod, task) in cell.tasks where lod < image.lod {
            task.cancel()
            cells[item]?.tasks[lod] = nil
        }
    }
}

/// Loads an image from its rendition in the store, which is created if it does not exist.
struct StoredRendition: OriginalLoader {
    private static let format = "jpeg"

    /// The request for the original.
    let original: ImageRequest
    let pipeline: ImagePipeline

    init(request: ImageRequest, pipeline: ImagePipeline) {
        original = request
        self.pipeline = pipeline
    }

    /// The request for the rendition.
    var request: ImageRequest {
        var request = ImageRequest(
            .loader(self, name: original.source.name), options: original.options)
        // The rendition is stored already.
        request.storeUse = []
        return request
    }

    func load(
        receive: @escaping @Sendable (OriginalLoadEvent) -> Void
    ) async throws(LoadError) -> [UInt8] {
        try await pipeline.rendition(for: RenditionRequest(image: original, format: Self.format))
            .bytes
    }
}

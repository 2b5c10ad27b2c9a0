// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import PictureCommands
internal import ImageCodecs
internal import ImageLoading
internal import Logging

/// The pipeline asked by a view that says how it moves: what is in view is loaded first, what is
/// about to come next, both as sharp as there is time for.
final class PipelinePictures: ScrollPictures {
    private struct Cell {
        var picture: ShownPicture?
        var tasks: [LOD: Task<Void, Never>] = [:]
    }

    private let scene: ScrollScene
    private let ledger: PictureLedger
    private let pipeline: ImagePipeline
    private let prefetcher: ScrollPrefetcher
    private let request: @Sendable (Int) -> ImageRequest
    private let arrived = Arrivals()
    private var cells: [Int: Cell] = [:]

    /// - Parameters:
    ///   - scene: the screen.
    ///   - ledger: counts what is decoded.
    ///   - store: where pictures of the size shown were kept before, if anywhere.
    init(_ scene: ScrollScene, _ ledger: PictureLedger, _ store: RenditionStore?) {
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
                : KeptPicture(request: scene.request(item), pipeline: pipeline).request
        }
        self.request = request
        prefetcher = ScrollPrefetcher(
            pipeline: pipeline, layout: scene.layout,
            receive: { event in
                if case .finished(_, .success(let image)) = event { ledger.note(image) }
            }, request: request)
    }

    func update(_ frame: ScrollFrame) {
        for arrival in arrived.take() {
            cells[arrival.item]?.tasks[arrival.lod] = nil
            show(ShownPicture(parts: arrival.parts, lod: arrival.lod), arrival.item)
        }
        for (item, cell) in cells where !frame.items.contains(item) {
            for task in cell.tasks.values { task.cancel() }
            cells[item] = nil
        }
        let policy = prefetcher.policy
        for item in frame.items { update(item, frame, policy) }
        // After the view has asked, so that it takes over what was on its way to it.
        prefetcher.update(visible: frame.visible, velocity: frame.velocity)
    }

    func picture(for item: Int) -> ShownPicture? { cells[item]?.picture }

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
            cell.picture = ShownPicture(parts: [image], lod: lod)
        }
        // An empty cell takes what comes first.
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
                ledger.note(image)
                arrived.append(Arrivals.Item(item: item, lod: lod, parts: [image]))
            } catch .cancelled {
                // Nobody looks at it any more.
            } catch {
                ledger.note(FileFailure(path, error).reason, path)
            }
        }
    }

    private func show(_ picture: ShownPicture, _ item: Int) {
        guard let cell = cells[item],
            LODPolicy().swaps(picture.lod, for: cell.picture?.lod)
        else { return }
        cells[item]?.picture = picture
        // What is less sharp is of no use any more.
        for (lod, task) in cell.tasks where lod < picture.lod {
            task.cancel()
            cells[item]?.tasks[lod] = nil
        }
    }
}

/// A picture as it was kept on disk at the size shown, made from its original if it was not.
struct KeptPicture: OriginalLoader {
    private static let format = "jpeg"

    /// Asks for the picture from its original.
    let original: ImageRequest
    let pipeline: ImagePipeline

    init(request: ImageRequest, pipeline: ImagePipeline) {
        original = request
        self.pipeline = pipeline
    }

    /// Asks for the picture from what was kept.
    var request: ImageRequest {
        var request = ImageRequest(
            .loader(self, name: original.source.name), options: original.options)
        // It is kept already.
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

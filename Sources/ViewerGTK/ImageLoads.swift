// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import DecoderSandbox
internal import Dispatch
internal import EncodedImages
internal import HTTPCaching
internal import Glibc
internal import ImageCodecs
internal import ImageCommands
internal import ImageLoading
internal import LoadScheduling
internal import Logging
internal import Pixels
internal import Synchronization
internal import ViewerModel

/// The threads, workers and caches that load images.
struct ImageEngine: Sendable {
    let sandbox: DecoderSandbox
    let pipeline: ImagePipeline
    let tileStores: TileStores
    /// The threads that make placeholders.
    let drafts: WorkQueue
    /// The connections to servers.
    let connections = ServerConnections()

    /// The priority of decoding by the scale of `nice`: at that of the window, decoding on all cores
    /// delays frames.
    private static let niceness: Int32 = 5

    /// Creates the engine on a thread of lower priority, which all threads and workers inherit.
    static func start(cacheFolder: String) -> ImageEngine {
        let result = Mutex<ImageEngine?>(nil)
        let isMade = DispatchSemaphore(value: 0)
        startThread {
            // On Linux, the priority is that of a thread.
            _ = nice(niceness)
            let engine = ImageEngine(cacheFolder)
            result.withLock { $0 = engine }
            isMade.signal()
        }
        isMade.wait()
        return result.withLock { $0 } ?? ImageEngine(cacheFolder)
    }

    private init(_ cacheFolder: String) {
        var configuration = DecoderSandbox.Configuration(
            workerPath: path(ofSiblingProgram: "calotype-decoder"), workerCount: processorCount())
        configuration.memoryByteCount = 1 << 30
        configuration.loadsOnlyNeededLibraries()
        sandbox = DecoderSandbox(configuration)
        var pipelineConfiguration = ImagePipeline.Configuration()
        let logger = Logger(label: "viewer") { _ in SwiftLogNoOpLogHandler() }
        // Without a store, thumbnails are made again by each viewer.
        try? makeFolder(cacheFolder, mode: 0o700)
        pipelineConfiguration.store = try? RenditionStore(
            directory: "\(cacheFolder)/viewer", byteLimit: 512 << 20, logger: logger)
        var loading = HTTPLoader.Configuration()
        // The user chose the server; a grid appears as fast as it answers.
        (loading.startRate, loading.startBurst) = (1_000, 200)
        pipelineConfiguration.web = HTTPLoader(
            transport: connections, store: nil, codecs: builtInCodecs, configuration: loading,
            logger: logger)
        pipeline = ImagePipeline(
            codecs: builtInCodecs.decoded(by: sandbox), configuration: pipelineConfiguration,
            logger: logger)
        tileStores = TileStores(cacheFolder, budget: pipeline.budget)
        drafts = WorkQueue(width: processorCount(), maximumWaitingCount: 64)
    }
}

/// The requests of the viewer, which decodes in the sandbox.
@MainActor
final class ImageLoads {
    let pipeline: ImagePipeline
    let tileStores: TileStores
    /// The folder whose images are loaded.
    var folder: any ImageFolder
    /// The conversion to the colours of the monitor, if they are known.
    var monitor: MonitorConversion?
    /// Loads the images before and after those that are displayed.
    let neighbours: ImagePrefetcher
    private let sandbox: DecoderSandbox
    private let queue: WorkQueue
    private var prefetcher: ScrollPrefetcher?
    private var prefetched: CellGrid?

    init(_ engine: ImageEngine, _ folder: any ImageFolder) {
        self.folder = folder
        (sandbox, pipeline, tileStores) = (engine.sandbox, engine.pipeline, engine.tileStores)
        queue = engine.drafts
        neighbours = ImagePrefetcher(pipeline: pipeline)
    }

    func close() { sandbox.close() }

    /// Adapts the memory for images to the size of the window: that of some images before and after the
    /// displayed one.
    func resize(to view: PixelSize) { pipeline.memory.byteLimit = max(16 << 20, 8 * 3 * view.area) }

    /// Returns the request for an image, in the colours of the monitor, that is fitted into a box.
    func request(_ name: String, fitting box: PixelSize) -> ImageRequest {
        request(
            folder.source(of: name, filling: box.largestSide, isStill: false),
            DecodeOptions(box: box))
    }

    private func request(
        _ source: ImageRequest.Source, _ options: DecodeOptions
    ) -> ImageRequest {
        var request = ImageRequest(source, options: options)
        if let monitor {
            request.options = MonitorConversion.options(options)
            request.processors = [monitor]
        }
        // The store is for thumbnails.
        request.storeUse = []
        return request
    }

    /// Returns the request for the image of a cell.
    func cellRequest(_ name: String, side: Int) -> ImageRequest {
        var options = DecodeOptions(maximumSide: side)
        options.embeddedThumbnail = .ifLargeEnough
        var request = request(folder.source(of: name, filling: side, isStill: true), options)
        request.storeUse = .all
        return request
    }

    /// Loads an image; throws a message for the user.
    func image(
        _ request: ImageRequest, _ metrics: LoadMetrics? = nil
    ) async throws(FileFailure) -> LoadedImage {
        do throws(LoadError) {
            return try await pipeline.image(for: request, story: metrics)
        } catch {
            throw Self.failure(error, request.source.name)
        }
    }

    /// Returns a message for the user; the window shows the name beside the reason.
    private static func failure(_ error: LoadError, _ path: String) -> FileFailure {
        let (reason, prefix) = ("\(error)", "\(path): ")
        return FileFailure(
            path, reason.hasPrefix(prefix) ? String(reason.dropFirst(prefix.count)) : reason)
    }

    /// Opens a page of an image; see ``ImagePage``.
    func page(_ number: Int, of name: String) async throws(FileFailure) -> ImagePage {
        let original = folder.original(of: name)
        do throws(LoadError) {
            let file = try await Self.open(original, pipeline)
            return try await Self.page(number, of: file, original.name)
        } catch {
            throw Self.failure(error, original.name)
        }
    }

    @concurrent static func page(
        _ number: Int, of file: ImageSource, _ name: String
    ) async throws(LoadError) -> ImagePage {
        do throws(CodecError) {
            return try ImagePage(number, of: file)
        } catch {
            throw .decodingFailed(path: name, error)
        }
    }

    /// Decodes a page in the colours of the monitor, fitted into a box; nothing of it is kept.
    func image(
        _ page: ImagePage, of name: String, fitting box: PixelSize
    ) async throws(FileFailure) -> LoadedImage {
        let name = folder.original(of: name).name
        var options = DecodeOptions(box: box)
        if monitor != nil { options = MonitorConversion.options(options) }
        do throws(LoadError) {
            let image = try await queue.run(PriorityHandle.fixed(.visible)) {
                [options, monitor] cancellation throws(LoadError) in
                do throws(CodecError) {
                    let image = try page.source.image(options, cancellation: cancellation)
                    return try monitor?.process(image, cancellation) ?? image
                } catch {
                    throw .decodingFailed(path: name, error)
                }
            }
            return LoadedImage(
                image, key: ImageKey(original: .named(name), options: options),
                originalSize: page.placedSize)
        } catch {
            throw Self.failure(error, name)
        }
    }

    /// Opens an original, and loads it first if it is not a file.
    @concurrent static func open(
        _ original: ImageRequest.Source, _ pipeline: ImagePipeline
    ) async throws(LoadError) -> ImageSource {
        var received: EncodedBytes?
        if case .file = original {
        } else {
            received = try await pipeline.data(for: ImageRequest(original))
        }
        do throws(CodecError) {
            let bytes =
                if let received { received } else {
                    try EncodedBytes(opening: original.name, limits: pipeline.limits)
                }
            return try ImageSource(bytes, codecs: pipeline.codecs, limits: pipeline.limits)
        } catch {
            throw .decodingFailed(path: original.name, error)
        }
    }

    /// Prefetches the cells that scrolling is about to reveal.
    ///
    /// - Parameters:
    ///   - viewer: the grid and its motion.
    ///   - isPaused: whether no further load is started until the next call.
    func prefetch(_ viewer: Viewer, isPaused: Bool) {
        let grid = viewer.grid
        if prefetched != grid {
            prefetcher?.stop()
            prefetched = grid
            let (list, folder, side) = (viewer.list, folder, grid.side)
            let request = cellRequest("", side: side)
            var configuration = ScrollPrefetcher.Configuration()
            configuration.maximumItemCount = 120
            configuration.width = 4
            // The store contains images of the exact size alone: no other is faster at any speed.
            configuration.policy.halfSpeed = .infinity
            configuration.policy.quarterSpeed = .infinity
            prefetcher = ScrollPrefetcher(
                pipeline: pipeline, layout: grid.layout, configuration: configuration
            ) { index in
                var request = request
                request.source = folder.source(of: list[index], filling: side, isStill: true)
                return request
            }
        }
        prefetcher?.isPaused = isPaused
        let offset = viewer.motion.offset
        prefetcher?.update(
            visible: offset..<offset + Double(grid.height), velocity: viewer.motion.velocity)
    }

    /// Returns the size of an image; `nil` if it is unknown before the image is loaded.
    func pixelSize(of name: String) async -> PixelSize? {
        if let size = folder.pixelSize(of: name) { return size }
        guard case .file(let path) = folder.original(of: name) else { return nil }
        return try? await pipeline.facts(for: path).pixelSize
    }

    /// Cancels the loads of ``prefetch(_:)``.
    func stopPrefetching() { prefetcher?.stop() }

    /// Cancels the loads, since the images of another folder are displayed.
    func endPrefetching() {
        prefetcher?.stop()
        (prefetcher, prefetched) = (nil, nil)
    }
}

/// The file name extensions of images in lower case.
var imageExtensions: Set<String> { Set(builtInCodecs.codecs.flatMap(\.format.extensions)) }
#endif

// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
internal import HTTPCaching
public import LoadScheduling
public import Logging
public import Pixels

/// Loads originals and makes images and renditions of them at the size at which they are shown.
///
/// Blocking and computing work runs on the pipeline's own threads, by priority and then by age.
/// Equal loads are shared at every stage, down to common prefixes of processors. Results are kept in
/// memory and, if there is a store, on disk. Cancelling the last task that waits for a load ends it
/// at the next step.
///
/// The steps of a load are in `ImageMaking.make` and `RenditionMaking.rendition`.
public final class ImagePipeline: Sendable {
    let resources: PipelineResources
    let originals: OriginalLoading
    let images: ImageMaking
    let renditions: RenditionMaking
    let placeholders: PlaceholderKeeping
    private let facts: FactReading
    private let admission = RequestGate()

    /// - Parameters:
    ///   - codecs: the supported formats.
    ///   - configuration: threads, limits, caches and loaders.
    ///   - logger: receives messages at `debug` and `trace`.
    public init(
        codecs: CodecSet, configuration: Configuration = Configuration(),
        logger: Logger = Logger(label: "calotype.image-loading")
    ) {
        resources = PipelineResources(codecs: codecs, configuration: configuration, logger: logger)
        originals = OriginalLoading(resources, web: configuration.web)
        placeholders = PlaceholderKeeping(resources)
        images = ImageMaking(resources, originals, placeholders, configuration)
        renditions = RenditionMaking(resources, images, originals, configuration)
        facts = FactReading(resources: resources)
    }

    /// The supported formats.
    public var codecs: CodecSet { resources.codecs }
    /// The limits that each original must meet.
    public var limits: DecodeLimits { resources.limits }
    /// The budget of everything that holds pixels.
    public var budget: MemoryBudget { resources.budget }
    /// The images in memory; a scrolling view ranks them by ``MemoryCache/rank(byDistance:)``.
    public var memory: MemoryCache { resources.memory }
    /// The store of renditions and facts, if there is one.
    public var store: (any RenditionStoring)? { resources.store }
    var queues: WorkQueues { resources.queues }

    /// Whether a new request would be accepted now.
    ///
    /// `false` while the maximum number of decodes waits, and once the pipeline is closed.
    public var takesWork: Bool { !admission.isClosed && !queues.isFull }

    /// Returns the image in memory that answers a request exactly, without waiting.
    ///
    /// The image of a file is that of the version that the pipeline has seen last.
    ///
    /// - Returns: `nil` if there is none; it may be a preview.
    public func cachedImage(for request: ImageRequest) -> LoadedImage? {
        guard request.memoryUse.contains(.reads), let key = latestKey(of: request) else {
            return nil
        }
        return images.imageInMemory(key)
    }

    /// Returns the sharpest image in memory, of any size, that shows what a request needs; does not
    /// wait.
    public func placeholder(for request: ImageRequest) -> LoadedImage? {
        guard request.memoryUse.contains(.reads), let key = latestKey(of: request) else {
            return nil
        }
        return memory.closest(to: key)
    }

    /// Evicts images because memory is short, and returns freed memory to the system.
    ///
    /// Images that a consumer holds stay. Animations decode half as many frames ahead on a warning,
    /// and none while memory is critical, until the next call.
    public func respond(to pressure: MemoryPressureLevel) {
        memory.respond(to: pressure)
        if pressure != .normal { resources.reduced.removeAll() }
        resources.playing.respond(to: pressure)
        if pressure != .normal { returnFreedMemory() }
    }

    /// Evicts most images because the program is in the background.
    public func enterBackground() {
        memory.enterBackground()
        resources.reduced.removeAll()
        resources.playing.dropAhead()
    }

    /// Returns a decoded and processed image.
    ///
    /// - Parameters:
    ///   - request: the original, the size and the processors.
    ///   - urgency: the priority, which may change; by default that of the request.
    ///   - story: receives the steps of the load.
    /// - Returns: the image; the consumer holds it as long as it shows it.
    /// - Throws: `LoadError`; `LoadError/cancelled` as soon as the task is cancelled.
    public func image(
        for request: ImageRequest, urgency: PriorityHandle? = nil, story: LoadMetrics? = nil
    ) async throws(LoadError) -> LoadedImage {
        let urgency = urgency ?? PriorityHandle.fixed(request.priority)
        let made = try await makeImage(request, urgency, story)
        if made.isOutOfDate { images.revalidateSoon(made.loaded, request) }
        return made.loaded
    }

    /// Returns the events of a load, the last of which is the image.
    ///
    /// The first event is the sharpest image in memory that shows what the request needs, or else the
    /// stored placeholder of a file. The load ends when the last consumer of the stream leaves.
    ///
    /// - Parameters:
    ///   - request: the original, the size and the processors.
    ///   - urgency: the priority, which may change; by default that of the request.
    /// - Returns: events in order; of those that are not consumed yet, the newest eight. It throws
    ///   `LoadError`.
    public func updates(
        for request: ImageRequest, urgency: PriorityHandle? = nil
    ) -> AsyncThrowingStream<ImageEvent, any Error> {
        let identity = request.identity
        let urgency = urgency ?? PriorityHandle.fixed(request.priority)
        let (events, sink) = AsyncThrowingStream<ImageEvent, any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(8))
        let send: @Sendable (ImageEvent.Kind) -> Void = {
            sink.yield(ImageEvent(identity: identity, kind: $0))
        }
        let placeholder = placeholder(for: request)
        if let placeholder, placeholder.key != latestKey(of: request) {
            send(.placeholder(placeholder))
        }
        let task = Task {
            do throws(LoadError) {
                if placeholder == nil, cachedImage(for: request) == nil,
                    let image = await placeholders.image(for: request, urgency)
                {
                    send(.placeholder(image))
                }
                let made = try await makeImage(request, urgency, nil) { update in
                    if let progress = update.progress { send(.progress(progress)) }
                    if let preview = update.preview { send(.preview(preview)) }
                }
                send(.image(made.loaded))
                if made.isOutOfDate,
                    let newer = try await newerImage(than: made.loaded, request, urgency)
                {
                    send(.image(newer))
                }
                sink.finish()
            } catch {
                sink.finish(throwing: error)
            }
        }
        sink.onTermination = { _ in task.cancel() }
        return events
    }

    /// Returns the encoded bytes of an original, unchanged.
    ///
    /// - Throws: `LoadError`; `LoadError/cancelled` as soon as the task is cancelled.
    public func data(
        for request: ImageRequest, urgency: PriorityHandle? = nil
    ) async throws(LoadError) -> EncodedBytes {
        try admission.enter()
        defer { admission.leave() }
        let urgency = urgency ?? PriorityHandle.fixed(request.priority)
        let original = try await resources.files.original(of: request, urgency)
        let data = try await originals.data(
            for: request, originals.key(request, of: original),
            OriginalLoading.Loads.Consumer(
                urgency: urgency,
                storePermission: { [policy = resources.policy] in policy.wish(request) },
                outlivesConsumers: request.outlivesConsumers,
                failurePolicy: request.failurePolicy))
        if data.isOutOfDate { originals.revalidateSoon(request, original) }
        return data.bytes
    }

    /// Returns an original as a newly encoded file; from the store if it has been made before.
    ///
    /// - Parameters:
    ///   - request: the image, the format and its options.
    ///   - story: receives the steps of the load.
    /// - Returns: a whole file.
    /// - Throws: `LoadError`; `LoadError/cancelled` as soon as the task is cancelled.
    public func rendition(
        for request: RenditionRequest, story: LoadMetrics? = nil
    ) async throws(LoadError) -> Rendition {
        try admission.enter()
        defer { admission.leave() }
        return try await renditions.rendition(
            for: request, PriorityHandle.fixed(request.image.priority), story)
    }

    /// Returns the facts of a file that a listing shows; decodes nothing.
    ///
    /// - Throws: `LoadError`.
    public func facts(for path: String) async throws(LoadError) -> ImageFacts {
        try admission.enter()
        defer { admission.leave() }
        let original = try await resources.files.identity(of: path, PriorityHandle.fixed(.visible))
        guard let facts = await facts.facts(of: [original]).first else { throw .cancelled }
        return try facts.get()
    }

    /// Returns the parsed metadata of a file; decodes and stores nothing.
    ///
    /// - Parameter path: the path of the file.
    /// - Returns: the fields that the file has; none if it is damaged.
    /// - Throws: `LoadError`.
    public func metadataFields(of path: String) async throws(LoadError) -> MetadataFields {
        try admission.enter()
        defer { admission.leave() }
        return try await facts.metadataFields(of: path)
    }

    /// Encodes an image that the caller has made.
    ///
    /// - Parameters:
    ///   - image: the image.
    ///   - destination: the format.
    ///   - priority: the priority of the work.
    /// - Returns: a whole file.
    /// - Throws: `LoadError`, with the name of the format as its path.
    public func encode(
        _ image: PixelBuffer, as destination: ImageDestination, priority: LoadPriority = .visible
    ) async throws(LoadError) -> [UInt8] {
        try admission.enter()
        defer { admission.leave() }
        return try await queues.encodes.run(.fixed(priority)) { cancellation throws(LoadError) in
            do throws(CodecError) {
                return try destination.encode(image, cancellation: cancellation)
            } catch .cancelled {
                throw .cancelled
            } catch {
                throw .encodingFailed(path: destination.format.name, error)
            }
        }
    }

    /// Returns the facts of files, in the order of `originals`.
    public func facts(for originals: [FileIdentity]) async -> [Result<ImageFacts, LoadError>] {
        do throws(LoadError) {
            try admission.enter()
        } catch {
            return originals.map { _ in .failure(error) }
        }
        defer { admission.leave() }
        return await facts.facts(of: originals)
    }

    /// Returns the facts and the metadata of files, in the order of `originals`.
    ///
    /// They are read at the priority of prefetching; the facts are stored.
    package func details(of originals: [FileIdentity]) async -> [Result<ImageDetails, LoadError>] {
        do throws(LoadError) {
            try admission.enter()
        } catch {
            return originals.map { _ in .failure(error) }
        }
        defer { admission.leave() }
        return await facts.details(of: originals)
    }

    /// Returns the facts that are in the store; reads no file.
    ///
    /// - Returns: the facts of the files for which there are some.
    /// - Throws: `LoadError`.
    public func storedFacts(
        for originals: [FileIdentity]
    ) async throws(LoadError) -> [FileIdentity: ImageFacts] {
        try admission.enter()
        defer { admission.leave() }
        return try await facts.storedFacts(of: originals)
    }

    /// Removes the images of a file from memory after it has changed, without waiting.
    ///
    /// - Parameter path: as in ``FileIdentity/path``.
    public func removeFromMemory(_ path: String) {
        guard let file = resources.files.remove(path) else { return }
        memory.removeAll(of: .file(file))
        resources.reduced.removeAll(of: file)
    }

    /// Removes all renditions of all versions of a file from ``Configuration/sharedStore``.
    ///
    /// - Parameter path: as in ``FileIdentity/path``.
    /// - Throws: `LoadError` if some may be left.
    public func removeShared(of path: String) async throws(LoadError) {
        try admission.enter()
        defer { admission.leave() }
        try await resources.sharedStore?.removeAll(of: path)
    }

    /// Removes all images, renditions and facts of all versions of a file, except from
    /// ``Configuration/sharedStore``.
    ///
    /// - Parameter path: as in ``FileIdentity/path``.
    /// - Throws: `LoadError`.
    public func removeAll(of path: String) async throws(LoadError) {
        try admission.enter()
        defer { admission.leave() }
        removeFromMemory(path)
        resources.sharedStore?.dropWaiting(of: path)
        try await queues.lookups.run(.visible) { [store = resources.store] in
            store?.removeAll(of: path)
        }
    }

    /// Rejects new requests with `LoadError/cancelled`, waits for those in flight and closes the
    /// store.
    public func close() async {
        await admission.close()
        await queues.close()
        resources.store?.close()
    }

    /// Returns the key of a request, with the version of a file that was seen last.
    private func latestKey(of request: ImageRequest) -> ImageKey? {
        resources.files.latestOriginal(of: request).map { ImageKey(request, of: $0) }
    }

    private func makeImage(
        _ request: ImageRequest, _ urgency: PriorityHandle, _ story: LoadMetrics?,
        receive: (@Sendable (ImageUpdate) -> Void)? = nil
    ) async throws(LoadError) -> MadeImage {
        try admission.enter()
        defer { admission.leave() }
        let wish = resources.policy.wish(request)
        return try await images.image(
            for: request,
            ImageMaking.Loads.Consumer(
                urgency: urgency, keepsValue: request.memoryUse.contains(.writes),
                storePermission: { wish }, outlivesConsumers: request.outlivesConsumers,
                failurePolicy: request.failurePolicy, story: story, receive: receive))
    }

    /// Returns the newer version of a stale image; `nil` if there is none, or the server fails.
    private func newerImage(
        than shown: LoadedImage, _ request: ImageRequest, _ urgency: PriorityHandle
    ) async throws(LoadError) -> LoadedImage? {
        try admission.enter()
        defer { admission.leave() }
        do throws(LoadError) {
            let newer = try await images.revalidated(shown, request, urgency)
            return newer.original == shown.original ? nil : newer
        } catch .cancelled {
            throw .cancelled
        } catch {
            resources.logger.debug(
                "could not revalidate",
                metadata: ["image.original": "\(shown.original.name)", "error": "\(error)"])
            return nil
        }
    }
}

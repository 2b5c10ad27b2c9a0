// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif
public import HTTPCaching
public import LoadScheduling
public import Logging
public import Pixels
internal import Synchronization

/// From an original to its picture at the size at which it is shown.
///
/// Everything that blocks or computes runs on threads of the pipeline's own, stage by stage, the
/// most urgent first; equal loads are shared at every stage, down to the processors that requests
/// have in common; what was made is kept in memory and, if there is a store, on disk. Cancelling
/// the task that waits ends work that nobody else waits for, at the next step.
///
/// What it does step by step stands in `LoadImage.swift`, `LoadData.swift` and
/// `LoadRendition.swift`.
public final class ImagePipeline: Sendable {
    public struct Configuration: Sendable {
        /// Pictures that are decoded at the same time, and as many that are processed or encoded.
        public var decodeThreadCount = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        /// Files that are read at the same time.
        public var readThreadCount = 4
        /// Decodes that may wait; one more is refused with ``LoadError/queueFull``.
        public var maximumQueuedDecodeCount = 1024
        /// Bytes of decoded pictures that are kept in memory.
        public var memoryCacheByteLimit = 256 << 20
        /// How long a picture is found in memory; `nil` for as long as there is room.
        public var memoryLifetime: Duration?
        /// The account for all that holds pixels: decodes under way, pictures that are kept, frames.
        ///
        /// Several pipelines may share one.
        public var memoryBudget = MemoryBudget(byteLimit: 1 << 30)
        /// What a file may ask for.
        public var limits = DecodeLimits()
        /// Pixels of all frames together, as they are stored and as they are written, of an animation
        /// that may stay one in renditions; of one of more its first frame is shown.
        public var animatedRenditionPixelCount = 500_000_000
        /// Where renditions and facts are kept; `nil` to keep none.
        public var store: (any RenditionStoring)?
        /// What is kept on disk.
        public var storePolicy = StorePolicy.all
        /// The format of pictures that are kept for views, one that loses nothing.
        ///
        /// They are kept only if it can be written.
        public var keptFormat = "qoi"
        /// Loads what stands on the web; `nil` to load nothing from there.
        public var web: HTTPLoader?

        public init() {}
    }

    typealias SharedData = SharedLoads<DataKey, LoadedData, DataUpdate>
    typealias SharedImages = SharedLoads<SharedImageKey, MadeImage, ImageUpdate>
    typealias SharedDecodes = SharedLoads<SizesDecode, GatheredImages, ImageUpdate>
    typealias SharedRenditions = SharedLoads<RenditionKey, Rendition, NoUpdate>

    /// The formats that are known.
    public let codecs: CodecSet
    /// What a file may ask for.
    public let limits: DecodeLimits
    let animatedRenditionPixelCount: Int
    let store: (any RenditionStoring)?
    let policy: StorePolicy
    let keptFormat: String
    /// Pictures that wait to be kept.
    let keepingCount = Atomic<Int>(0)
    /// Files whose placeholders are about to be made.
    let pendingPlaceholders = Mutex(PendingPlaceholders())
    let web: HTTPLoader?
    let logger: Logger
    let clock = ContinuousClock()
    let metrics = PipelineMetrics()
    /// The account for all that holds pixels.
    public let budget: MemoryBudget
    /// The pictures in memory; a view that scrolls ranks them by ``MemoryCache/rank(byDistance:)``.
    public let memory: MemoryCache
    /// Threads that only look something up, so that a hit never waits for a decode.
    let lookups: WorkQueue
    /// Threads that read files.
    let loads: WorkQueue
    /// Threads that compute.
    let decodes: WorkQueue
    let processes: WorkQueue
    let encodes: WorkQueue
    /// The animations that are played.
    let playing = PlayingAnimations()
    /// Lets as many animated renditions be made at a time as there are threads that decode: each may
    /// hold a worker process until it is over, and threads that wait for one must not be all.
    let animatedRenditions: AsyncSemaphore
    let sharedData = SharedData()
    let sharedImages = SharedImages()
    let gatheredSizes = GatheredSizes()
    let sharedDecodes = SharedDecodes()
    let sharedRenditions = SharedRenditions()
    private let admission = Admission()
    private let lastSalt = Atomic<UInt64>(0)
    /// Files as they were when they were last looked at, by path.
    private let knownFiles = Mutex<[ComparedByBytes: FileIdentity]>([:])

    /// So many files are known at a time; it is no loss to forget them.
    private static let maximumKnownFileCount = 1 << 14

    /// - Parameters:
    ///   - codecs: the formats that are known.
    ///   - configuration: how much it may take.
    ///   - logger: where it tells, at `debug` and `trace`, what it does.
    public init(codecs: CodecSet, configuration: Configuration, logger: Logger) {
        self.codecs = codecs
        limits = configuration.limits
        animatedRenditionPixelCount = configuration.animatedRenditionPixelCount
        store = configuration.store
        policy = configuration.storePolicy
        keptFormat = configuration.keptFormat
        web = configuration.web
        self.logger = logger
        budget = configuration.memoryBudget
        memory = MemoryCache(
            byteLimit: configuration.memoryCacheByteLimit, lifetime: configuration.memoryLifetime,
            budget: budget)
        let width = configuration.decodeThreadCount
        animatedRenditions = AsyncSemaphore(count: width)
        let room = configuration.maximumQueuedDecodeCount
        // Lookups are short and what they lead to is bounded above, so the bound is a wide one.
        lookups = WorkQueue(width: max(2, width), maximumWaitingCount: max(8192, room))
        loads = WorkQueue(width: configuration.readThreadCount, maximumWaitingCount: room)
        decodes = WorkQueue(width: width, maximumWaitingCount: room)
        processes = WorkQueue(width: width, maximumWaitingCount: room)
        encodes = WorkQueue(width: width, maximumWaitingCount: room)
    }

    deinit {
        for queue in queues { queue.stop() }
    }

    private var queues: [WorkQueue] { [lookups, loads, decodes, processes, encodes] }

    /// Whether a request would be begun now; told without waiting for anything.
    ///
    /// It is not while as many decodes wait as may, nor once the pipeline is closed.
    public var takesWork: Bool { !admission.isClosed && !queues.contains(where: \.isFull) }

    func note(_ file: FileIdentity) {
        knownFiles.withLock { files in
            if files.count >= Self.maximumKnownFileCount { files = [:] }
            files[ComparedByBytes(file.path)] = file
        }
    }

    func nextSalt() -> UInt64 { lastSalt.add(1, ordering: .relaxed).newValue }

    /// A picture that is in memory, found without waiting for anything.
    ///
    /// That of a file is the one that the file had when it was last looked at.
    ///
    /// - Returns: `nil` if there is none; it may be a preview.
    public func cachedImage(for request: ImageRequest) -> LoadedImage? {
        guard request.memoryUse.contains(.reads), let key = knownKey(of: request) else {
            return nil
        }
        return exactlyRemembered(key)
    }

    /// The sharpest picture in memory that shows what is wanted, of whatever size; found at once.
    public func placeholder(for request: ImageRequest) -> LoadedImage? {
        guard request.memoryUse.contains(.reads), let key = knownKey(of: request) else {
            return nil
        }
        return memory.closest(to: key)
    }

    /// Lets go of pictures because memory runs short, and gives the system what was freed until now;
    /// what somebody shows stays.
    ///
    /// Animations look ahead by half as many frames on a warning, and not at all while memory is
    /// critical, until another level is told.
    public func respond(to pressure: MemoryPressureLevel) {
        memory.respond(to: pressure)
        playing.respond(to: pressure)
        if pressure != .normal { returnFreedMemory() }
    }

    /// Lets go of most pictures because the program is no longer looked at.
    public func enterBackground() {
        memory.enterBackground()
        playing.dropAhead()
    }

    /// Which picture is asked for, of files as they were when they were last looked at.
    private func knownKey(of request: ImageRequest) -> ImageKey? {
        let original =
            request.namedOriginal
            ?? knownFiles.withLock { $0[ComparedByBytes(request.source.name)] }.map { .file($0) }
        return original.map { ImageKey(request, of: $0) }
    }

    /// A picture, decoded and processed.
    ///
    /// - Parameters:
    ///   - request: what is asked for.
    ///   - urgency: how urgent it is from moment to moment; else as the request says.
    ///   - story: is told what was done.
    /// - Returns: what whoever shows it holds on to.
    /// - Throws: ``LoadError``; ``LoadError/cancelled`` as soon as the task is cancelled.
    public func image(
        for request: ImageRequest, urgency: LoadUrgency? = nil, story: LoadStory? = nil
    ) async throws(LoadError) -> LoadedImage {
        let made = try await image(for: request, urgency: urgency, story: story, receive: nil)
        if made.isOutOfDate { revalidateSoon(made.loaded, request) }
        return made.loaded
    }

    /// What happens on the way to a picture, and the picture as the last of it.
    ///
    /// It begins with the sharpest picture in memory that shows what is wanted, else with the
    /// placeholder that is kept of a file.
    ///
    /// The load ends when nobody listens any more.
    ///
    /// - Parameters:
    ///   - request: what is asked for.
    ///   - urgency: how urgent it is from moment to moment; else as the request says.
    /// - Returns: events in order; of those that nobody took yet, the newest. It throws
    ///   ``LoadError``.
    public func updates(
        for request: ImageRequest, urgency: LoadUrgency? = nil
    ) -> AsyncThrowingStream<ImageEvent, any Error> {
        let identity = request.identity
        let (events, sink) = AsyncThrowingStream<ImageEvent, any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(8))
        let placeholder = placeholder(for: request)
        if let placeholder, placeholder.key != knownKey(of: request) {
            sink.yield(ImageEvent(identity: identity, kind: .placeholder(placeholder)))
        }
        let task = Task {
            do throws(LoadError) {
                if placeholder == nil, let kept = await keptPlaceholder(request, urgency) {
                    sink.yield(ImageEvent(identity: identity, kind: .placeholder(kept)))
                }
                let made = try await image(
                    for: request, urgency: urgency, story: nil
                ) { update in
                    if let progress = update.progress {
                        sink.yield(ImageEvent(identity: identity, kind: .progress(progress)))
                    }
                    if let preview = update.preview {
                        sink.yield(ImageEvent(identity: identity, kind: .preview(preview)))
                    }
                }
                sink.yield(ImageEvent(identity: identity, kind: .image(made.loaded)))
                if made.isOutOfDate,
                    let newer = try await newerImage(than: made.loaded, request, urgency)
                {
                    sink.yield(ImageEvent(identity: identity, kind: .image(newer)))
                }
                sink.finish()
            } catch {
                sink.finish(throwing: error)
            }
        }
        sink.onTermination = { _ in task.cancel() }
        return events
    }

    /// The bytes of an original, as they are.
    public func data(
        for request: ImageRequest, urgency: LoadUrgency? = nil
    ) async throws(LoadError) -> EncodedBytes {
        try admission.enter()
        defer { admission.leave() }
        let urgency = urgency ?? LoadUrgency.fixed(request.priority)
        let original =
            if let named = request.namedOriginal { named } else {
                OriginalIdentity.file(try await identity(of: request.source.name, urgency))
            }
        let data = try await loadData(
            request,
            DataKey(request, of: original, salt: request.isShared ? 0 : nextSalt()),
            SharedData.Consumer(
                urgency: urgency, storeWish: { [policy] in policy.wish(request) },
                outlivesConsumers: request.outlivesConsumers,
                failurePolicy: request.failurePolicy))
        if data.isOutOfDate { revalidateSoon(request, original) }
        return data.bytes
    }

    /// The picture of an original, encoded anew; from the store if it has been made before.
    ///
    /// - Parameters:
    ///   - request: what is asked for.
    ///   - story: is told what was done.
    /// - Returns: a whole file.
    /// - Throws: ``LoadError``; ``LoadError/cancelled`` as soon as the task is cancelled.
    public func rendition(
        for request: RenditionRequest, story: LoadStory? = nil
    ) async throws(LoadError) -> Rendition {
        try admission.enter()
        defer { admission.leave() }
        return try await loadRendition(request, LoadUrgency.fixed(request.image.priority), story)
    }

    /// What a listing needs to know of a file; nothing is decoded.
    public func facts(for path: String) async throws(LoadError) -> ImageFacts {
        try admission.enter()
        defer { admission.leave() }
        let original = try await identity(of: path, LoadUrgency.fixed(.visible))
        guard let facts = await loadFacts([original]).first else { throw .cancelled }
        return try facts.get()
    }

    /// The parsed metadata of a file; nothing is decoded or kept.
    ///
    /// - Parameter path: the file.
    /// - Returns: the fields that it has; damage is none.
    /// - Throws: ``LoadError``.
    public func metadataFields(of path: String) async throws(LoadError) -> MetadataFields {
        try admission.enter()
        defer { admission.leave() }
        return try await loads.run(.visible) { [self] () throws(LoadError) in
            do throws(CodecError) {
                return try ImageSource(
                    EncodedBytes(opening: path, limits: limits), codecs: codecs, limits: limits
                ).metadataFields()
            } catch .fileChanged {
                throw .fileChanged(path: path)
            } catch {
                return MetadataFields()
            }
        }
    }

    /// Encodes a picture that was put together elsewhere.
    ///
    /// - Parameters:
    ///   - image: the picture.
    ///   - destination: the format.
    ///   - priority: how urgent it is.
    /// - Returns: a whole file.
    /// - Throws: ``LoadError``; its name in errors is that of the format.
    public func encode(
        _ image: PixelBuffer, as destination: ImageDestination, priority: LoadPriority = .visible
    ) async throws(LoadError) -> [UInt8] {
        try admission.enter()
        defer { admission.leave() }
        return try await encodes.run(.fixed(priority)) { cancellation throws(LoadError) in
            do throws(CodecError) {
                return try destination.encode(image, cancellation: cancellation)
            } catch .cancelled {
                throw .cancelled
            } catch {
                throw .encodingFailed(path: destination.format.name, error)
            }
        }
    }

    /// The facts of many files, in the order of `originals`.
    public func facts(for originals: [FileIdentity]) async -> [Result<ImageFacts, LoadError>] {
        do throws(LoadError) {
            try admission.enter()
        } catch {
            return originals.map { _ in .failure(error) }
        }
        defer { admission.leave() }
        return await loadFacts(originals)
    }

    /// The facts of those of `originals` that are in the store; no file is read.
    ///
    /// - Returns: those that are known; the others are missing.
    public func keptFacts(
        for originals: [FileIdentity]
    ) async throws(LoadError) -> [FileIdentity: ImageFacts] {
        try admission.enter()
        defer { admission.leave() }
        return try await loadKeptFacts(originals)
    }

    /// Forgets every picture, rendition and fact of a file, whatever its version.
    ///
    /// - Parameter path: as in ``FileIdentity/path``.
    /// - Throws: ``LoadError``.
    public func removeAll(of path: String) async throws(LoadError) {
        try admission.enter()
        defer { admission.leave() }
        let known = knownFiles.withLock { $0.removeValue(forKey: ComparedByBytes(path)) }
        if let file = known {
            memory.removeAll(of: .file(file))
        }
        try await lookups.run(.visible) { [store] in store?.removeAll(of: path) }
    }

    /// Refuses new requests with ``LoadError/cancelled``, lets those in flight end and closes the
    /// store.
    public func close() async {
        await admission.close()
        for queue in queues { await queue.close() }
        store?.close()
    }

    private func image(
        for request: ImageRequest, urgency: LoadUrgency?, story: LoadStory?,
        receive: (@Sendable (ImageUpdate) -> Void)?
    ) async throws(LoadError) -> MadeImage {
        try admission.enter()
        defer { admission.leave() }
        let wish = policy.wish(request)
        return try await loadImage(
            request,
            SharedImages.Consumer(
                urgency: urgency ?? LoadUrgency.fixed(request.priority),
                keepsValue: request.memoryUse.contains(.writes), storeWish: { wish },
                outlivesConsumers: request.outlivesConsumers,
                failurePolicy: request.failurePolicy, story: story, receive: receive))
    }

    /// The newer version of a picture that is out of date; `nil` if there is none, or nobody says.
    private func newerImage(
        than shown: LoadedImage, _ request: ImageRequest, _ urgency: LoadUrgency?
    ) async throws(LoadError) -> LoadedImage? {
        try admission.enter()
        defer { admission.leave() }
        do throws(LoadError) {
            let newer = try await revalidated(
                shown, request, urgency ?? LoadUrgency.fixed(request.priority))
            return newer.original == shown.original ? nil : newer
        } catch .cancelled {
            throw .cancelled
        } catch {
            logger.debug(
                "could not revalidate",
                metadata: ["image.original": "\(shown.original.name)", "error": "\(error)"])
            return nil
        }
    }
}

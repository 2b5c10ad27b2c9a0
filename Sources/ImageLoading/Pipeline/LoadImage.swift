// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Logging
internal import Pixels
internal import Synchronization

/// A picture, and whether its original was still the same after it had been read.
struct MadeImage: Sendable {
    let loaded: LoadedImage
    let isCurrent: Bool
    /// The bytes that are charged for it, until the memory cache takes them over.
    var reservation: MemoryReservation?
    /// Whether it may be shown only while the web is asked for a newer one.
    var isOutOfDate = false
    /// Those of the original, if the picture was decoded from it and shows no damage.
    var facts: ImageFacts?
}

/// A picture, or the load that makes it.
enum RememberedOrJoined {
    case remembered(MadeImage)
    case joined(JoinedLoad<SharedImageKey, MadeImage, ImageUpdate>)

    func value() async throws(LoadError) -> MadeImage {
        switch self {
        case .remembered(let image): return image
        case .joined(let load):
            await load.wait()
            return try load.get()
        }
    }
}

extension ImagePipeline {
    /// Says which picture of an original is decoded.
    typealias OptionsChoice = @Sendable (ImageSource) -> DecodeOptions

    /// Memory, else bytes, decode shrunk, process, keep.
    func loadImage(
        _ request: ImageRequest, _ consumer: SharedImages.Consumer
    ) async throws(LoadError) -> MadeImage {
        if let original = request.namedOriginal {
            return try await rememberedOrJoined(request, of: original, consumer).value()
        }
        return try await loadFile(request, consumer)
    }

    /// The picture of a file, which is looked at first.
    func loadFile(
        _ request: ImageRequest, _ consumer: SharedImages.Consumer
    ) async throws(LoadError) -> MadeImage {
        let path = request.source.name
        let original = try await identity(of: path, consumer.urgency)
        do throws(LoadError) {
            let made = try await rememberedOrJoined(request, of: .file(original), consumer).value()
            if made.isCurrent { return made }
        } catch .cancelled {
            throw .cancelled
        } catch {
            // Was it the file that is there now, or a part of two?
            guard try await identity(of: path, consumer.urgency) != original else { throw error }
        }
        // The file was exchanged while it was read. If that goes on, the second try is delivered as
        // it is, and nothing of it is kept.
        let now = try await identity(of: path, consumer.urgency)
        return try await rememberedOrJoined(request, of: .file(now), consumer).value()
    }

    func identity(
        of path: String, _ urgency: LoadUrgency
    ) async throws(LoadError) -> FileIdentity {
        let identity = try await lookups.run(urgency) { _ throws(LoadError) in
            try FileIdentity(path: path)
        }
        note(identity)
        return identity
    }

    /// A picture in memory, or the load that makes it; found without waiting.
    func rememberedOrJoined(
        _ request: ImageRequest, of original: OriginalIdentity, _ consumer: SharedImages.Consumer
    ) throws(LoadError) -> RememberedOrJoined {
        guard !Task.isCancelled else { throw .cancelled }
        let key = ImageKey(request, of: original)
        if let image = remembered(key, request) {
            consumer.story?.add(LoadStep(.memory, "hit"))
            metrics.countMemoryHit()
            return .remembered(image)
        }
        let salt = request.isShared ? 0 : nextSalt()
        let sharedKey = SharedImageKey(
            image: key, fields: request.fields, webUse: request.webUse, salt: salt)
        return .joined(sharedImages.join(sharedKey, consumer) { work(request, key, salt) })
    }

    /// The steps to a picture.
    private func work(
        _ request: ImageRequest, _ key: ImageKey, _ salt: UInt64
    ) -> SharedImages.Work {
        { [self] context throws(LoadError) in
            // Someone may have made it since the memory was asked.
            if let image = remembered(key, request) { return image }
            if let kept = try await keptImage(request, key, context) {
                if context.isWanted() {
                    memory.insert(kept.loaded, charging: kept.reservation)
                }
                return kept
            }
            let made =
                if let last = request.processors.last {
                    try await processed(request, last, key, salt, context)
                } else if let resized = try await resized(request, key, context) {
                    resized
                } else if let gathered = try await gathered(request, key, salt, context) {
                    gathered
                } else {
                    try await decoded(request, key, salt, context)
                }
            if made.isCurrent, context.isWanted() {
                memory.insert(made.loaded, charging: made.reservation)
            }
            if made.isCurrent, context.storeWish().contains(.value) { keep(made.loaded, request) }
            if made.isCurrent { keepPlaceholder(made, request) }
            return made
        }
    }

    /// The picture in memory that was made for a key; RGB will do where planes are accepted.
    func exactlyRemembered(_ key: ImageKey) -> LoadedImage? {
        if let image = memory.image(for: key) { return image }
        return key.options.acceptsYCbCr ? memory.image(for: key.withoutPlanes) : nil
    }

    /// A picture that is in memory.
    func remembered(_ key: ImageKey, _ request: ImageRequest) -> MadeImage? {
        guard request.memoryUse.contains(.reads) else { return nil }
        let image =
            exactlyRemembered(key)
            ?? (request.precision == .atLeast ? memory.larger(than: key) : nil)
        guard let image, !image.isPreview else { return nil }
        return MadeImage(
            loaded: image, isCurrent: true, isOutOfDate: isOutOfDate(image, request))
    }

    /// The picture of the processors before the last one, put through that one.
    private func processed(
        _ request: ImageRequest, _ processor: any ImageProcessor, _ key: ImageKey, _ salt: UInt64,
        _ context: LoadContext<ImageUpdate>
    ) async throws(LoadError) -> MadeImage {
        var shorter = request
        shorter.processors.removeLast()
        let previews = PreviewProcessor(processor, key, processes, context)
        defer { previews.end() }
        let base = try await rememberedOrJoined(
            shorter, of: key.original,
            SharedImages.Consumer(
                urgency: context.urgency, keepsValue: false,
                storeWish: { context.storeWish().intersection(.original) },
                failurePolicy: request.failurePolicy, story: context.story,
                receive: { previews.receive($0) })
        ).value()
        previews.end()
        return try await processed(base, processor, key, context)
    }

    /// A picture put through a processor.
    func processed(
        _ base: MadeImage, _ processor: any ImageProcessor, _ key: ImageKey,
        _ context: LoadContext<ImageUpdate>
    ) async throws(LoadError) -> MadeImage {
        let submitted = clock.now
        return try await processes.run(
            context.urgency, continuing: true
        ) { [clock] cancellation throws(LoadError) in
            let start = clock.now
            do throws(CodecError) {
                let image = try processor.process(base.loaded.image, cancellation)
                let duration = start.duration(to: clock.now)
                context.story.add(
                    LoadStep(
                        .process, processor.identity, duration: duration,
                        wait: submitted.duration(to: start)))
                return MadeImage(
                    loaded: LoadedImage(
                        image, key: key, original: base.loaded.original,
                        originalSize: base.loaded.originalSize,
                        originalFrameCount: base.loaded.originalFrameCount,
                        cost: base.loaded.cost + duration,
                        storability: base.loaded.storability),
                    isCurrent: base.isCurrent, isOutOfDate: base.isOutOfDate)
            } catch {
                throw LoadError(decoding: base.loaded.original.name, error)
            }
        }
    }

    /// The picture, made from a larger one of the same original that is in memory.
    private func resized(
        _ request: ImageRequest, _ key: ImageKey, _ context: LoadContext<ImageUpdate>
    ) async throws(LoadError) -> MadeImage? {
        guard request.memoryUse.contains(.reads), let larger = memory.larger(than: key) else {
            return nil
        }
        return try await resized(
            MadeImage(
                loaded: larger, isCurrent: true, isOutOfDate: isOutOfDate(larger, request)),
            key, context)
    }

    /// - Returns: `nil` if the larger one does not show what is wanted.
    func resized(
        _ larger: MadeImage, _ key: ImageKey, _ context: LoadContext<ImageUpdate>
    ) async throws(LoadError) -> MadeImage? {
        let submitted = clock.now
        return try await processes.run(context.urgency) {
            [clock] _ throws(LoadError) -> MadeImage? in
            let start = clock.now
            let from = larger.loaded
            guard from.satisfies(key, .inexact), let image = from.resized(for: key) else {
                return nil
            }
            let duration = start.duration(to: clock.now)
            context.story.add(
                LoadStep(
                    .resample, "\(image.size) from \(from.image.size) in memory",
                    duration: duration, wait: submitted.duration(to: start)))
            return MadeImage(
                loaded: LoadedImage(
                    image, key: image.format == .yCbCr420 ? key : key.withoutPlanes,
                    original: from.original, originalSize: from.originalSize,
                    originalFrameCount: from.originalFrameCount, cost: duration,
                    storability: from.storability),
                isCurrent: larger.isCurrent, isOutOfDate: larger.isOutOfDate)
        }
    }

    /// The picture as it is decoded: that of `key`, or what `choose` says once the original is open.
    func decoded(
        _ request: ImageRequest, _ key: ImageKey, _ salt: UInt64,
        _ context: LoadContext<ImageUpdate>, choosing choose: OptionsChoice? = nil
    ) async throws(LoadError) -> MadeImage {
        var dataKey = DataKey(request, of: key.original, salt: salt)
        let data = try await loadData(request, dataKey, key, context)
        do throws(LoadError) {
            return try await decoded(data, request, key, context, choosing: choose)
        } catch  where error.isDamage && data.isKept {
            // What was kept of the web may be what is damaged, and not what the web has.
            dataKey.refusedBody = data.bytes.withBytes { contentHash($0) }
            let newer = try await loadData(request, dataKey, key, context)
            return try await decoded(newer, request, key, context, choosing: choose)
        }
    }

    /// The bytes of an original, and previews of it while they come.
    private func loadData(
        _ request: ImageRequest, _ dataKey: DataKey, _ key: ImageKey,
        _ context: LoadContext<ImageUpdate>
    ) async throws(LoadError) -> LoadedData {
        let previews = PreviewDecoder(key, self, context.urgency) { preview in
            context.report(ImageUpdate(preview: preview))
        }
        defer { previews.end() }
        return try await loadData(
            request, dataKey,
            SharedData.Consumer(
                urgency: context.urgency, storeWish: context.storeWish,
                failurePolicy: request.failurePolicy, story: context.story,
                receive: { update in
                    if let progress = update.progress {
                        context.report(ImageUpdate(progress: progress))
                    }
                    if !update.bytes.isEmpty || update.isRestart { previews.receive(update) }
                }))
    }

    /// The picture of bytes that are there.
    func decoded(
        _ data: LoadedData, _ request: ImageRequest, _ key: ImageKey,
        _ context: LoadContext<ImageUpdate>, choosing choose: OptionsChoice? = nil
    ) async throws(LoadError) -> MadeImage {
        let (source, options, reservation) = try await reserve(
            data, key.options, choosing: choose, acceptsSmaller: request.acceptsSmaller,
            context.urgency)
        var reservedKey = key
        reservedKey.options = options
        let submitted = clock.now
        return try await decodes.run(context.urgency) {
            [self, reservedKey] cancellation throws(LoadError) in
            let wait = submitted.duration(to: clock.now)
            let (image, isWhole) = try decode(
                source, data, reservedKey, cancellation, context.story, wait)
            reservation.shrink(to: image.image.byteCount)
            // What is out of date is shown and not kept, until the web says that it is still right.
            var isCurrent = !data.isOutOfDate
            if case .file(let file) = key.original {
                isCurrent = try FileIdentity(path: file.path) == file
            }
            return MadeImage(
                loaded: image, isCurrent: isCurrent, reservation: reservation,
                isOutOfDate: data.isOutOfDate, facts: isWhole ? ImageFacts(source) : nil)
        }
    }

    /// Opens an original and waits until there is room for its pixels.
    ///
    /// - Returns: the original, the picture that there is room for, and the room.
    func reserve(
        _ data: LoadedData, _ options: DecodeOptions, choosing choose: OptionsChoice? = nil,
        acceptsSmaller: Bool, _ urgency: LoadUrgency
    ) async throws(LoadError) -> (ImageSource, DecodeOptions, MemoryReservation) {
        // Who chooses does it behind those that are on their way to be chosen from.
        let source = try await lookups.run(urgency, continuing: choose == nil) {
            [codecs, limits] _ throws(LoadError) in
            do throws(CodecError) {
                return try ImageSource(
                    data.bytes, codecs: data.isOwn ? codecs.decodedHere : codecs,
                    limits: limits)
            } catch {
                throw LoadError(decoding: data.original.name, error)
            }
        }
        var options = choose?(source) ?? options
        while true {
            do throws(LoadError) {
                let byteCount = source.resultByteCount(options)
                return (source, options, try await budget.reserve(byteCount, urgency))
            } catch {
                guard case .memoryBudgetExceeded = error, acceptsSmaller,
                    let smaller = options.halved(source)
                else { throw error }
                options = smaller
            }
        }
    }

    /// - Returns: the picture, and whether nothing of it was missing.
    private func decode(
        _ source: ImageSource, _ data: LoadedData, _ key: ImageKey,
        _ cancellation: CancellationFlag, _ story: LoadStory, _ wait: Duration
    ) throws(LoadError) -> (LoadedImage, isWhole: Bool) {
        let start = clock.now
        do throws(CodecError) {
            let decoded = try source.decodedImage(key.options, cancellation: cancellation)
            logger.debug(
                "decoded image",
                metadata: [
                    "image.original": "\(data.original.name)",
                    "image.format": "\(source.format.name)",
                    "image.pixels": "\(decoded.image.size)",
                    "image.decoder": "\(decoded.report.decoder)",
                    "image.shrink": "\(decoded.report.shrinkFactors)",
                ])
            let duration = start.duration(to: clock.now)
            let factors = decoded.report.shrinkFactors.map { "1/\($0)" }.joined(separator: ", ")
            story.add(
                LoadStep(
                    .decode,
                    "\(decoded.image.size) of \(source.pixelSize) by \(decoded.report.decoder), "
                        + "shrunk to \(factors.isEmpty ? "1/1" : factors)",
                    duration: duration, wait: wait))
            metrics.recordDecode(duration)
            let image = LoadedImage(
                decoded.image,
                key: decoded.image.format == .yCbCr420 ? key : key.withoutPlanes,
                original: data.original, originalSize: source.pixelSize,
                isOriginalScalable: source.header.isScalable,
                originalFrameCount: source.header.frameCount, cost: duration,
                storability: data.storability)
            return (image, decoded.report.problem == nil)
        } catch {
            throw LoadError(decoding: data.original.name, error)
        }
    }
}

extension DecodeOptions {
    /// Asks for half of each side; `nil` if there is nothing to halve.
    func halved(_ source: ImageSource) -> DecodeOptions? {
        let size = source.resultSize(self)
        guard size.largestSide > 1 else { return nil }
        var smaller = self
        smaller.box = PixelSize(width: (size.width + 1) / 2, height: (size.height + 1) / 2)
        smaller.mode = .fit
        return smaller
    }
}

/// Puts previews through a processor, one at a time and the newest of those that wait.
private final class PreviewProcessor: Sendable {
    private struct State {
        var waiting: LoadedImage?
        var isBusy = false
        var isOver = false
    }

    private let processor: any ImageProcessor
    private let key: ImageKey
    private let queue: WorkQueue
    private let context: LoadContext<ImageUpdate>
    private let cancellation = CancellationFlag()
    private let state = Mutex(State())

    init(
        _ processor: any ImageProcessor, _ key: ImageKey, _ queue: WorkQueue,
        _ context: LoadContext<ImageUpdate>
    ) {
        self.processor = processor
        self.key = key
        self.queue = queue
        self.context = context
    }

    func receive(_ update: ImageUpdate) {
        if let progress = update.progress { context.report(ImageUpdate(progress: progress)) }
        guard let preview = update.preview else { return }
        state.withLock { state in
            state.waiting = preview
            begin(&state)
        }
    }

    func end() {
        cancellation.cancel()
        state.withLock { $0.isOver = true }
    }

    private func begin(_ state: inout State) {
        guard !state.isOver, !state.isBusy, let preview = state.waiting.take() else { return }
        let ticket = try? queue.submit(context.urgency.priority) { self.process(preview) }
        state.isBusy = ticket != nil
    }

    private func process(_ preview: LoadedImage) {
        let image = try? processor.process(preview.image, cancellation)
        state.withLock { state in
            if let image, !state.isOver {
                context.report(
                    ImageUpdate(
                        preview: LoadedImage(
                            image, key: key, originalSize: preview.originalSize, isPreview: true)))
            }
            state.isBusy = false
            begin(&state)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import LoadScheduling
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
        } catch .fileChanged {
            // Once more.
        } catch {
            // Was it the file that is there now, or a part of two?
            guard try await identity(of: path, consumer.urgency) != original else { throw error }
        }
        // The file was exchanged while it was read. If that goes on, a picture of the second try,
        // which is one of a single version, is delivered as it is, and nothing of it is kept.
        let now = try await identity(of: path, consumer.urgency)
        do throws(LoadError) {
            return try await rememberedOrJoined(request, of: .file(now), consumer).value()
        } catch .cancelled {
            throw .cancelled
        } catch {
            // What is wrong with a file that is being written says nothing about the one to come.
            guard try await identity(of: path, consumer.urgency) != now else { throw error }
            throw .fileChanged(path: path)
        }
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
            image: key, fields: request.fields, webUse: request.webUse, salt: salt,
            isReproducible: request.isReproducible)
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
            request.isReproducible
            ? memory.image(for: key)
            : exactlyRemembered(key)
                ?? (request.precision == .atLeast ? memory.larger(than: key) : nil)
        guard let image, !image.isPreview, !(request.isReproducible && image.isDerived) else {
            return nil
        }
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
                        isDerived: base.loaded.isDerived, cost: base.loaded.cost + duration,
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
        guard request.memoryUse.contains(.reads), !request.isReproducible,
            let larger = memory.larger(than: key)
        else { return nil }
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
                    originalFrameCount: from.originalFrameCount, isDerived: true, cost: duration,
                    storability: from.storability),
                isCurrent: larger.isCurrent, isOutOfDate: larger.isOutOfDate)
        }
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

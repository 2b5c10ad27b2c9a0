// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Logging
internal import Pixels
internal import Synchronization

/// A picture, and whether its original was still the same after it had been read.
struct MadeImage: Sendable {
    let loaded: LoadedImage
    let isCurrent: Bool
}

extension ImagePipeline {
    /// Memory, else bytes, decode shrunk, process, keep.
    func loadImage(
        _ request: ImageRequest, _ consumer: SharedImages.Consumer
    ) async throws(LoadError) -> MadeImage {
        guard case .file(let path) = request.source else {
            let original: OriginalIdentity =
                if case .url(let url) = request.source { .url(url.description) } else {
                    .named(request.source.name)
                }
            return try await image(request, of: original, consumer)
        }
        let original = try await identity(of: path, consumer.urgency)
        do throws(LoadError) {
            let made = try await image(request, of: .file(original), consumer)
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
        return try await image(request, of: .file(now), consumer)
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

    private func image(
        _ request: ImageRequest, of original: OriginalIdentity,
        _ consumer: SharedImages.Consumer
    ) async throws(LoadError) -> MadeImage {
        guard !Task.isCancelled else { throw .cancelled }
        let key = ImageKey(
            original: original, options: request.options,
            processors: request.processors.map(\.identity))
        if let image = remembered(key, request) {
            consumer.story?.add(LoadStep(.memory, "hit"))
            metrics.countMemoryHit()
            return image
        }
        let salt = request.isShared ? 0 : nextSalt()
        return try await sharedImages.value(
            for: SharedImageKey(
                image: key, fields: request.fields, webUse: request.webUse, salt: salt),
            consumer
        ) { [self] context throws(LoadError) in
            // Someone may have made it since the memory was asked.
            if let image = remembered(key, request) { return image }
            let made =
                if let last = request.processors.last {
                    try await processed(request, last, key, salt, context)
                } else { try await decoded(request, key, salt, context) }
            if made.isCurrent, context.isWanted() { remember(made.loaded) }
            return made
        }
    }

    /// A picture that is in memory; RGB will do where planes are accepted.
    func remembered(_ key: ImageKey, _ request: ImageRequest) -> MadeImage? {
        guard request.memoryUse.contains(.reads) else { return nil }
        guard let image = memory.image(for: key) ?? memory.image(for: key.withoutPlanes),
            !image.isPreview
        else { return nil }
        return MadeImage(loaded: image, isCurrent: true)
    }

    /// Keeps a picture where every request that it can serve finds it.
    private func remember(_ image: LoadedImage) {
        memory.insert(image)
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
        let base = try await image(
            shorter, of: key.original,
            SharedImages.Consumer(
                urgency: context.urgency, keepsValue: false,
                failurePolicy: request.failurePolicy, receive: { previews.receive($0) }))
        previews.end()
        return try await processes.run(
            context.urgency, continuing: true
        ) { [clock] cancellation throws(LoadError) in
            let start = clock.now
            do throws(CodecError) {
                let image = try processor.process(base.loaded.image, cancellation)
                return MadeImage(
                    loaded: LoadedImage(
                        image, key: key, original: base.loaded.original,
                        originalSize: base.loaded.originalSize,
                        cost: base.loaded.cost + start.duration(to: clock.now)),
                    isCurrent: base.isCurrent)
            } catch {
                throw LoadError(decoding: request.source.name, error)
            }
        }
    }

    /// The picture as it is decoded.
    private func decoded(
        _ request: ImageRequest, _ key: ImageKey, _ salt: UInt64,
        _ context: LoadContext<ImageUpdate>
    ) async throws(LoadError) -> MadeImage {
        let previews = PreviewDecoder(key, self, context.urgency) { preview in
            context.report(ImageUpdate(preview: preview))
        }
        defer { previews.end() }
        let data = try await loadData(
            request, of: key.original, salt: salt,
            SharedData.Consumer(
                urgency: context.urgency, failurePolicy: request.failurePolicy,
                story: context.story,
                receive: { update in
                    if let progress = update.progress {
                        context.report(ImageUpdate(progress: progress))
                    }
                    if !update.bytes.isEmpty || update.isRestart { previews.receive(update) }
                }))
        previews.end()
        let submitted = clock.now
        return try await decodes.run(context.urgency) {
            [self] cancellation throws(LoadError) in
            let wait = submitted.duration(to: clock.now)
            let image = try decode(data, key, cancellation, context.story, wait)
            var isCurrent = true
            if case .file(let file) = key.original {
                isCurrent = try FileIdentity(path: file.path) == file
            }
            return MadeImage(loaded: image, isCurrent: isCurrent)
        }
    }

    private func decode(
        _ data: LoadedData, _ key: ImageKey, _ cancellation: CancellationFlag, _ story: LoadStory,
        _ wait: Duration
    ) throws(LoadError) -> LoadedImage {
        let start = clock.now
        do throws(CodecError) {
            let source = try ImageSource(data.bytes, codecs: codecs, limits: limits)
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
            return LoadedImage(
                decoded.image,
                key: decoded.image.format == .yCbCr420 ? key : key.withoutPlanes,
                original: data.original, originalSize: source.pixelSize,
                cost: duration)
        } catch {
            throw LoadError(decoding: data.original.name, error)
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

// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import EncodedImages
internal import Pixels
internal import Synchronization

/// Applies processors to decoded images, and resamples larger images.
struct ImageProcessing: Sendable {
    let resources: PipelineResources

    /// Applies one processor to an image.
    ///
    /// - Parameters:
    ///   - processor: the processor.
    ///   - base: the image that the processors before it have made.
    ///   - key: the key of the result.
    ///   - context: the load that the work is for.
    /// - Returns: the processed image.
    /// - Throws: ``LoadError``.
    func apply(
        _ processor: any ImageProcessor, to base: MadeImage, key: ImageKey,
        _ context: LoadContext<ImageUpdate>
    ) async throws(LoadError) -> MadeImage {
        let clock = resources.clock
        let submitted = clock.now
        return try await resources.queues.processes.run(
            context.urgency, continuing: true
        ) { cancellation throws(LoadError) in
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
                        isDerived: base.loaded.isDerived, problem: base.loaded.problem,
                        cost: base.loaded.cost + duration,
                        storability: base.loaded.storability),
                    isCurrent: base.isCurrent, isOutOfDate: base.isOutOfDate)
            } catch {
                throw LoadError(decoding: base.loaded.original.name, error)
            }
        }
    }

    /// Resamples the image of a load from a larger one of the same original.
    ///
    /// - Returns: `nil` if the larger image does not show all of the result.
    func resample(
        _ larger: MadeImage, _ load: ImageLoad
    ) async throws(LoadError) -> MadeImage? {
        let (clock, key) = (resources.clock, load.image)
        let submitted = clock.now
        return try await resources.queues.processes.run(load.urgency) {
            _ throws(LoadError) -> MadeImage? in
            let start = clock.now
            let from = larger.loaded
            guard from.satisfies(key, .inexact), let image = from.resized(for: key) else {
                return nil
            }
            let duration = start.duration(to: clock.now)
            load.context.story.add(
                LoadStep(
                    .resample, "\(image.size) from \(from.image.size) in memory",
                    duration: duration, wait: submitted.duration(to: start)))
            return MadeImage(
                loaded: LoadedImage(
                    image, key: image.format == .yCbCr420 ? key : key.withoutPlanes,
                    original: from.original, originalSize: from.originalSize,
                    originalFrameCount: from.originalFrameCount, isDerived: true,
                    problem: from.problem, cost: duration, storability: from.storability),
                isCurrent: larger.isCurrent, isOutOfDate: larger.isOutOfDate)
        }
    }
}

/// Applies a processor to previews, one at a time; of those that wait only the newest is processed.
final class PreviewProcessor: Sendable {
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

    /// - Parameters:
    ///   - processor: the last processor of the load.
    ///   - load: the load that the previews are reported to.
    ///   - queue: runs the processor.
    init(_ processor: any ImageProcessor, _ load: ImageLoad, _ queue: WorkQueue) {
        self.processor = processor
        self.queue = queue
        key = load.image
        context = load.context
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

// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import EncodedImages
internal import Pixels

/// Makes renditions of animations frame by frame.
struct AnimatedRenditionMaking: Sendable {
    private let resources: PipelineResources
    private let originals: OriginalLoading
    private let stored: StoredRenditions
    private let maximumPixelCount: Int
    /// Admits as many animated renditions as there are decode threads: each may hold a worker process
    /// until it is complete, and not all threads may wait for one.
    private let admission: AsyncSemaphore

    /// - Parameters:
    ///   - resources: the pipeline's.
    ///   - originals: loads the bytes of animations.
    ///   - stored: stores the renditions.
    ///   - configuration: the number of decode threads, and the limit of pixels.
    init(
        _ resources: PipelineResources, _ originals: OriginalLoading, _ stored: StoredRenditions,
        _ configuration: ImagePipeline.Configuration
    ) {
        self.resources = resources
        self.originals = originals
        self.stored = stored
        maximumPixelCount = configuration.animatedRenditionPixelCount
        admission = AsyncSemaphore(count: configuration.decodeThreadCount)
    }

    /// The number of renditions that wait for others to end.
    var waitingCount: Int { admission.waitingCount }

    /// Returns whether a rendition shows all frames of an animation whose first frame is decoded.
    func staysAnimated(_ first: LoadedImage, _ request: RenditionRequest) -> Bool {
        guard first.originalFrameCount > 1, let format = request.animationFormat,
            let destination = try? ImageDestination(format: format, codecs: resources.codecs),
            destination.writesAnimations
        else { return false }
        return [first.originalSize, first.image.size].allSatisfy {
            $0.area(ofFrames: first.originalFrameCount) <= maximumPixelCount
        }
    }

    /// Loads an animation and decodes, processes and encodes its frames; stores the result.
    ///
    /// Frames are decoded one ahead of the one that is encoded. Each is queued by itself, so that a
    /// long animation delays no other work.
    func rendition(
        of original: OriginalIdentity, _ load: RenditionLoad
    ) async throws(LoadError) -> Rendition {
        let (request, urgency) = (load.request, load.urgency)
        let queues = resources.queues
        let found = try await queues.lookups.run(urgency) { [stored] _ throws(LoadError) in
            stored.rendition(load)
        }
        if let found { return found }
        let data = try await originals.data(
            for: request.image, originals.key(request.image, of: original),
            OriginalLoading.Loads.Consumer(
                urgency: urgency,
                storePermission: { load.context.storePermission().intersection(.original) },
                failurePolicy: request.image.failurePolicy, story: load.context.story))
        let animation = try await animation(of: data.bytes, load)
        let writer = try FrameWriter(animation, request, maximumPixelCount)
        try await admission.enter(urgency.priority)
        defer { admission.leave() }
        var frames = animation.makeAsyncIterator()
        while let frame = try await frames.next() {
            try await queues.encodes.run(urgency, continuing: true) { _ throws(LoadError) in
                try writer.append(frame)
            }
        }
        return try await queues.encodes.run(urgency, continuing: true) { _ throws(LoadError) in
            try finish(writer, data, original, load)
        }
    }

    private func animation(
        of bytes: EncodedBytes, _ load: RenditionLoad
    ) async throws(LoadError) -> ImageAnimation {
        var image = load.request.image
        // Few programs that play animations apply a color profile.
        image.options.convertsToSRGB = true
        var animation = try await ImageAnimation(
            opening: bytes, for: image, resources, urgency: load.urgency, countAhead: 1)
        animation.isPlayedOnce = true
        return animation
    }

    private func finish(
        _ writer: FrameWriter, _ data: LoadedOriginal, _ original: OriginalIdentity,
        _ load: RenditionLoad
    ) throws(LoadError) -> Rendition {
        let rendition = try writer.finish(data.original)
        resources.metrics.recordEncode(writer.duration)
        load.context.story.add(
            LoadStep(
                .encode,
                "\(writer.frameCount) frames, \(rendition.bytes.count) bytes of "
                    + rendition.mediaType,
                duration: writer.duration))
        if try isCurrent(data, original) {
            stored.keep(
                rendition, RenditionKey(data.original, load.request), data.storability, load)
        }
        return rendition
    }

    /// Returns whether bytes are still those of the original.
    private func isCurrent(
        _ data: LoadedOriginal, _ original: OriginalIdentity
    ) throws(LoadError) -> Bool {
        guard case .file(let file) = original else { return !data.isOutOfDate }
        return try resources.files.isCurrent(file)
    }
}

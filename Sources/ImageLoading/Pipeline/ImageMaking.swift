// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling

/// Makes images: from memory, from the store, or by decoding and processing the original.
///
/// Equal requests share one load.
final class ImageMaking: Sendable {
    typealias Loads = SharedLoads<ImageLoadKey, MadeImage, ImageUpdate>

    private let resources: PipelineResources
    private let originals: OriginalLoading
    private let lookup: MemoryLookup
    private let decoding: ImageDecoding
    private let gathered: GatheredDecoding
    private let processing: ImageProcessing
    private let stored: StoredImages
    private let placeholders: PlaceholderKeeping
    private let revalidation: WebRevalidation
    private let loads = Loads()

    /// - Parameters:
    ///   - resources: the pipeline's.
    ///   - originals: loads the bytes of originals.
    ///   - placeholders: stores the placeholders of files that have been decoded.
    ///   - configuration: the format of stored images, and the loader for the network.
    init(
        _ resources: PipelineResources, _ originals: OriginalLoading,
        _ placeholders: PlaceholderKeeping, _ configuration: ImagePipeline.Configuration
    ) {
        self.resources = resources
        self.originals = originals
        self.placeholders = placeholders
        lookup = MemoryLookup(memory: resources.memory, web: configuration.web)
        decoding = ImageDecoding(resources: resources, originals: originals)
        gathered = GatheredDecoding(decoding)
        processing = ImageProcessing(resources: resources)
        stored = StoredImages(resources, decoding, format: configuration.storedFormat)
        revalidation = WebRevalidation(
            resources: resources, originals: originals, lookup: lookup, decoding: decoding,
            processing: processing, stored: stored)
    }

    /// The number of loads in flight.
    var loadCount: Int { loads.count }

    /// The number of consumers of a load in flight.
    func consumerCount(_ key: ImageLoadKey) -> Int { loads.consumerCount(key) }

    /// Returns the number of loads that wait for sizes of one original.
    ///
    /// The key is that of ``ImageLoadKey/withoutSize``.
    func gatheredCount(_ key: ImageLoadKey) -> Int { gathered.waitingCount(key) }

    /// Returns the image in memory that answers a request exactly, or a preview of it.
    func imageInMemory(_ key: ImageKey) -> LoadedImage? { lookup.exactImage(key) }

    /// Returns the image of a request.
    ///
    /// - Throws: ``LoadError``.
    func image(
        for request: ImageRequest, _ consumer: Loads.Consumer
    ) async throws(LoadError) -> MadeImage {
        if case .file(let path) = request.source {
            return try await imageOfFile(path, request, consumer)
        }
        let original = try await resources.files.original(of: request, consumer.urgency)
        return try await rememberedOrJoined(request, of: original, consumer).value()
    }

    /// Requests a newer version of a stale image in the background.
    func revalidateSoon(_ shown: LoadedImage, _ request: ImageRequest) {
        revalidation.begin(shown, request)
    }

    /// Returns an image as the server has it now: the same one if it has not changed.
    ///
    /// - Throws: ``LoadError``.
    func revalidated(
        _ shown: LoadedImage, _ request: ImageRequest, _ urgency: PriorityHandle
    ) async throws(LoadError) -> LoadedImage {
        try await revalidation.newerImage(than: shown, request, urgency)
    }

    /// Returns the image of a file; loads it again if the file was replaced while it was read.
    private func imageOfFile(
        _ path: String, _ request: ImageRequest, _ consumer: Loads.Consumer
    ) async throws(LoadError) -> MadeImage {
        let files = resources.files
        let original = try await files.original(of: request, consumer.urgency)
        do throws(LoadError) {
            let made = try await rememberedOrJoined(request, of: original, consumer).value()
            if made.isCurrent { return made }
        } catch .cancelled {
            throw .cancelled
        } catch .fileChanged {
            // Tried again below.
        } catch {
            // A failure of a file that has been replaced is no failure of the new one.
            let now = try await files.identity(of: path, consumer.urgency)
            guard original != .file(now) else { throw error }
        }
        // If the file is replaced again, the second image is returned as it is: it is one of a single
        // version of the file. Nothing of it is stored.
        let now = try await files.identity(of: path, consumer.urgency)
        do throws(LoadError) {
            return try await rememberedOrJoined(request, of: .file(now), consumer).value()
        } catch .cancelled {
            throw .cancelled
        } catch {
            // A failure of a file that is being written is no failure of the finished file.
            guard try await files.identity(of: path, consumer.urgency) != now else { throw error }
            throw .fileChanged(path: path)
        }
    }

    /// Returns an image in memory or joins the load that makes it, without waiting.
    private func rememberedOrJoined(
        _ request: ImageRequest, of original: OriginalIdentity, _ consumer: Loads.Consumer
    ) throws(LoadError) -> CachedOrJoined {
        guard !Task.isCancelled else { throw .cancelled }
        let image = ImageKey(request, of: original)
        if let image = lookup.image(image, for: request) {
            consumer.story?.add(LoadStep(.memory, "hit"))
            resources.metrics.countMemoryHit()
            return .remembered(image)
        }
        let key = ImageLoadKey(
            image, originals.key(request, of: original), isReproducible: request.isReproducible)
        return .joined(
            loads.join(key, consumer) {
                { [self] context throws(LoadError) in
                    try await make(ImageLoad(request: request, key: key, context: context))
                }
            })
    }

    /// The steps of a load; the first one that has an image ends it.
    private func make(_ load: ImageLoad) async throws(LoadError) -> MadeImage {
        // Another load may have made the image since the request checked the memory.
        if let image = lookup.image(load.image, for: load.request) { return image }
        if let image = try await stored.image(load) {
            keepInMemory(image, load)
            return image
        }
        let made: MadeImage
        if let processor = load.request.processors.last {
            let base = try await imageBefore(processor, load)
            made = try await processing.apply(processor, to: base, key: load.image, load.context)
        } else if let larger = lookup.largerImage(load),
            let image = try await processing.resample(larger, load)
        {
            made = image
        } else if let image = try await gathered.image(load) {
            made = image
        } else {
            made = try await decoding.loadAndDecode(load)
        }
        // An image of a file that has been replaced, or of a stale response, is stored nowhere.
        guard made.isCurrent else { return made }
        keepInMemory(made, load)
        if load.context.storePermission().contains(.value) {
            stored.keep(made.loaded, load.request)
        }
        placeholders.keep(made, load.request)
        return made
    }

    /// Returns the image of the processors before the last one, shared with other requests for it.
    private func imageBefore(
        _ processor: any ImageProcessor, _ load: ImageLoad
    ) async throws(LoadError) -> MadeImage {
        var request = load.request
        request.processors.removeLast()
        let previews = PreviewProcessor(processor, load, resources.queues.processes)
        defer { previews.end() }
        return try await rememberedOrJoined(
            request, of: load.key.data.original,
            Loads.Consumer(
                urgency: load.urgency, keepsValue: false,
                storePermission: { load.context.storePermission().intersection(.original) },
                failurePolicy: request.failurePolicy, story: load.context.story,
                receive: { previews.receive($0) })
        ).value()
    }

    private func keepInMemory(_ made: MadeImage, _ load: ImageLoad) {
        guard load.context.isWanted() else { return }
        resources.memory.insert(made.loaded, charging: made.reservation)
    }
}

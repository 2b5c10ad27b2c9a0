// SPDX-License-Identifier: Apache-2.0

internal import HTTPCaching
internal import LoadScheduling

/// Asks servers whether stale images are still right, once for all consumers that show one.
///
/// A stale image is shown at once, whether it is in memory or decoded from a stale response.
struct WebRevalidation: Sendable {
    private typealias Loads = ImageMaking.Loads

    let resources: PipelineResources
    let originals: OriginalLoading
    let lookup: MemoryLookup
    let decoding: ImageDecoding
    let processing: ImageProcessing
    let stored: StoredImages
    private let loads = Loads()

    init(
        resources: PipelineResources, originals: OriginalLoading, lookup: MemoryLookup,
        decoding: ImageDecoding, processing: ImageProcessing, stored: StoredImages
    ) {
        self.resources = resources
        self.originals = originals
        self.lookup = lookup
        self.decoding = decoding
        self.processing = processing
        self.stored = stored
    }

    /// Returns an image as the server has it now: the same one if it has not changed.
    ///
    /// - Throws: ``LoadError``.
    func newerImage(
        than shown: LoadedImage, _ request: ImageRequest, _ urgency: PriorityHandle
    ) async throws(LoadError) -> LoadedImage {
        // It continues without its consumers, because others are shown the old image meanwhile.
        let (policy, key) = (resources.policy, key(shown, request))
        return try await loads.value(
            for: key,
            Loads.Consumer(
                urgency: urgency, storePermission: { policy.wish(request) },
                outlivesConsumers: true, failurePolicy: request.failurePolicy),
            work(shown, request, key)
        ).loaded
    }

    /// Requests a newer version of an image in the background; a later request finds it in memory.
    func begin(_ shown: LoadedImage, _ request: ImageRequest) {
        let key = key(shown, request)
        loads.begin(key, keeping: resources.policy.wish(request), work(shown, request, key))
    }

    private func key(_ shown: LoadedImage, _ request: ImageRequest) -> ImageLoadKey {
        let original = shown.key.original
        var data = OriginalLoadKey(request, of: original, salt: 0)
        data.acceptsStale = false
        return ImageLoadKey(ImageKey(request, of: original), data)
    }

    private func work(
        _ shown: LoadedImage, _ request: ImageRequest, _ key: ImageLoadKey
    ) -> ImageMaking.Loads.Work {
        { context throws(LoadError) in
            try await revalidate(
                shown, ImageLoad(request: request, key: key, context: context))
        }
    }

    private func revalidate(
        _ shown: LoadedImage, _ load: ImageLoad
    ) async throws(LoadError) -> MadeImage {
        let (request, context) = (load.request, load.context)
        let data = try await originals.data(
            for: request, load.key.data,
            OriginalLoading.Loads.Consumer(
                urgency: context.urgency, storePermission: context.storePermission,
                failurePolicy: request.failurePolicy, story: context.story))
        let made: MadeImage
        if data.original == shown.original {
            shown.confirm(until: data.storability.freshUntil)
            made = MadeImage(loaded: shown, isCurrent: true)
        } else {
            // Those of other sizes show the old version, too.
            resources.memory.removeAll(of: load.image.original, except: data.original)
            if let image = lookup.image(load.image, for: request) {
                made = image
            } else {
                made = try await newImage(data, load)
            }
        }
        if request.memoryUse.contains(.writes) {
            resources.memory.insert(made.loaded, charging: made.reservation)
        }
        if context.storePermission().contains(.value) { stored.keep(made.loaded, request) }
        return made
    }

    private func newImage(
        _ data: LoadedOriginal, _ load: ImageLoad
    ) async throws(LoadError) -> MadeImage {
        var key = load.image
        key.processors = []
        var made = try await decoding.decode(
            data,
            ImageLoad(
                request: load.request, key: ImageLoadKey(key, load.key.data),
                context: load.context))
        for processor in load.request.processors {
            key.processors.append(processor.identity)
            made = try await processing.apply(processor, to: made, key: key, load.context)
        }
        return made
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import EncodedImages
internal import Pixels

/// The image or the animation that a rendition is made from.
private enum RenditionBase: Sendable {
    case image(MadeImage)
    /// Without its first frame, so that no load waits for memory while it holds some.
    case animation(OriginalIdentity, OriginalVersion)

    var original: OriginalVersion {
        switch self {
        case .image(let made): made.loaded.original
        case .animation(_, let original): original
        }
    }
}

/// A load of a rendition in flight: the request that began it, the rendition, and its consumers.
struct RenditionLoad: Sendable {
    let request: RenditionRequest
    let key: RenditionKey
    let context: LoadContext<NoProgress>

    var urgency: PriorityHandle { context.urgency }
}

/// Makes renditions: from the store, or by encoding images and animations.
///
/// Equal requests share one load.
final class RenditionMaking: Sendable {
    private typealias Loads = SharedLoads<RenditionKey, Rendition, NoProgress>
    private typealias Lookups = SharedLoads<RenditionKey, Rendition?, NoProgress>

    private let resources: PipelineResources
    private let images: ImageMaking
    private let originals: OriginalLoading
    private let animated: AnimatedRenditionMaking
    private let stored: StoredRenditions
    private let loads = Loads()
    private let lookups = Lookups()

    /// - Parameters:
    ///   - resources: the pipeline's.
    ///   - images: makes the images that are encoded.
    ///   - originals: loads animations and gain maps.
    ///   - configuration: limits of animations.
    init(
        _ resources: PipelineResources, _ images: ImageMaking, _ originals: OriginalLoading,
        _ configuration: ImagePipeline.Configuration
    ) {
        self.resources = resources
        self.images = images
        self.originals = originals
        stored = StoredRenditions(resources: resources)
        animated = AnimatedRenditionMaking(resources, originals, stored, configuration)
    }

    /// The number of loads in flight.
    var loadCount: Int { loads.count }

    /// The number of animated renditions that wait for others to end.
    var waitingAnimationCount: Int { animated.waitingCount }

    /// Returns a rendition from the store, or else makes and stores it.
    ///
    /// - Throws: ``LoadError``.
    func rendition(
        for request: RenditionRequest, _ urgency: PriorityHandle, _ story: LoadMetrics?
    ) async throws(LoadError) -> Rendition {
        let (found, request) = try await stored.lookUp(request, urgency)
        if let found {
            story?.add(LoadStep(.store, "hit"))
            resources.metrics.countStoreHit()
            return found
        }
        guard let sharedKey = sharedKey(request) else {
            return try await made(request, urgency, story)
        }
        defer { resources.sharedStore?.endMaking(of: sharedKey) }
        if let found = try await shared(sharedKey, urgency, story) { return found }
        return try await made(request, urgency, story)
    }

    /// Makes a rendition and stores it; equal requests share the work.
    private func made(
        _ request: RenditionRequest, _ urgency: PriorityHandle, _ story: LoadMetrics?
    ) async throws(LoadError) -> Rendition {
        let base = try await base(of: request, urgency, story)
        let key = RenditionKey(base.original, request)
        return try await loads.value(
            for: key,
            Loads.Consumer(
                urgency: urgency,
                storePermission: { [policy = resources.policy] in policy.wish(request) },
                story: story)
        ) { [self] context throws(LoadError) in
            let load = RenditionLoad(request: request, key: key, context: context)
            switch base {
            case .image(let made): return try await encode(made, load)
            case .animation(let original, _):
                do throws(LoadError) {
                    return try await animated.rendition(of: original, load)
                } catch  where error.isMemoryShortage || error.isDamage {
                    // The first frame has fitted into memory, and has no damage.
                    var still = request
                    still.animationFormat = nil
                    return try await rendition(for: still, context.urgency, nil)
                }
            }
        }
    }

    /// Returns the key under which the shared store may have the rendition; `nil` if it is not used.
    private func sharedKey(_ request: RenditionRequest) -> RenditionKey? {
        guard resources.sharedStore != nil, let file = request.image.fileIdentity,
            resources.policy != .originals, request.image.storeUse.contains(.reads)
        else { return nil }
        return RenditionKey(OriginalVersion(file), request)
    }

    /// Returns a rendition from the shared store, if there is one; equal requests share a lookup.
    private func shared(
        _ key: RenditionKey, _ urgency: PriorityHandle, _ story: LoadMetrics?
    ) async throws(LoadError) -> Rendition? {
        let found = try await lookups.value(
            for: key,
            Lookups.Consumer(urgency: urgency, storePermission: { [] }, story: story)
        ) { [stored] context throws(LoadError) in
            try await stored.shared(key, context.urgency)
        }
        guard let found else { return nil }
        story?.add(LoadStep(.store, "hit in the shared store"))
        resources.metrics.countSharedHit()
        return found
    }

    /// Decodes the image, or the first frame, from which an animation is recognized.
    private func base(
        of request: RenditionRequest, _ urgency: PriorityHandle, _ story: LoadMetrics?
    ) async throws(LoadError) -> RenditionBase {
        let imageRequest = decodeRequest(of: request)
        let made = try await images.image(
            for: imageRequest,
            ImageMaking.Loads.Consumer(
                urgency: urgency, keepsValue: request.image.memoryUse.contains(.writes),
                storePermission: { [policy = resources.policy] in
                    policy.wish(request).intersection(.original)
                },
                failurePolicy: request.image.failurePolicy, story: story))
        if made.isOutOfDate { images.revalidateSoon(made.loaded, imageRequest) }
        return animated.staysAnimated(made.loaded, request)
            ? .animation(made.loaded.key.original, made.loaded.original) : .image(made)
    }

    /// Returns the request of the image to encode; in planes if the encoder takes them as they are.
    private func decodeRequest(of request: RenditionRequest) -> ImageRequest {
        var image = request.image
        // The file must not depend on what else was requested before.
        image.isReproducible = true
        guard image.processors.allSatisfy(\.acceptsYCbCr) else { return image }
        // An image with alpha never comes in planes.
        let destination = try? destination(of: request, hasAlpha: false)
        image.options.acceptsYCbCr = destination?.prefersYCbCr ?? false
        return image
    }

    /// Loads the original again if its gain map is written too; `nil` otherwise.
    ///
    /// - Throws: ``LoadError``, ``LoadError/fileChanged(path:)`` if it is no longer the original of the
    ///   image.
    private func originalWithGainMap(
        _ made: MadeImage, _ load: RenditionLoad
    ) async throws(LoadError) -> LoadedOriginal? {
        let request = load.request
        let hasAlpha = made.loaded.image.format.hasAlpha
        guard request.keepsGainMap, made.loaded.mayHaveGainMap, request.image.processors.isEmpty,
            (try? destination(of: request, hasAlpha: hasAlpha))?.writesGainMaps == true
        else { return nil }
        let identity = made.loaded.key.original
        let data = try await originals.data(
            for: request.image, originals.key(request.image, of: identity),
            OriginalLoading.Loads.Consumer(
                urgency: load.urgency,
                storePermission: { load.context.storePermission().intersection(.original) },
                failurePolicy: request.image.failurePolicy, story: load.context.story))
        guard data.original == made.loaded.original else {
            throw .fileChanged(path: request.image.source.name)
        }
        return data
    }

    /// Returns the destination of a rendition; without a format it is JPEG, or PNG for an image with
    /// alpha.
    private func destination(
        of request: RenditionRequest, hasAlpha: Bool
    ) throws(CodecError) -> ImageDestination {
        try ImageDestination(
            format: request.format ?? (hasAlpha ? "png" : "jpeg"), codecs: resources.codecs,
            options: request.encodeOptions)
    }

    /// Encodes an image and stores the rendition, unless another load has stored it meanwhile.
    private func encode(
        _ made: MadeImage, _ load: RenditionLoad
    ) async throws(LoadError) -> Rendition {
        let clock = resources.clock
        let submitted = clock.now
        let original = try await originalWithGainMap(made, load)
        return try await resources.queues.encodes.run(
            load.urgency, continuing: true
        ) { [self] cancellation throws(LoadError) in
            let start = clock.now
            if made.isCurrent, let found = stored.rendition(load) { return found }
            let rendition = try encode(made, original, as: load.request, cancellation)
            let duration = start.duration(to: clock.now)
            resources.metrics.recordEncode(duration)
            load.context.story.add(
                LoadStep(
                    .encode, "\(rendition.bytes.count) bytes of \(rendition.mediaType)",
                    duration: duration, wait: submitted.duration(to: start)))
            if made.isCurrent { stored.keep(rendition, load.key, made.loaded.storability, load) }
            return rendition
        }
    }

    private func encode(
        _ made: MadeImage, _ original: LoadedOriginal?, as request: RenditionRequest,
        _ cancellation: CancellationFlag
    ) throws(LoadError) -> Rendition {
        let codecs = resources.codecs
        do throws(CodecError) {
            var image = made.loaded.image
            var destination = try destination(of: request, hasAlpha: image.format.hasAlpha)
            if !request.image.options.convertsToSRGB {
                image =
                    destination.writesColorProfiles
                    ? try codecs.inPortableColors(image)
                    : try codecs.inSRGB(image)
            }
            if let original {
                let source = try ImageSource(
                    original.bytes, codecs: codecs, limits: resources.limits)
                var options = request.image.options
                options.convertsToSRGB = image.colorProfile.isSRGB
                destination = destination.adding(
                    try source.gainMap(
                        options, format: destination.format.name,
                        quality: destination.options.quality,
                        cancellation: cancellation))
            }
            var rendition = Rendition(
                bytes: try destination.encode(image, cancellation: cancellation),
                mediaType: destination.format.mediaType, pixelSize: image.size,
                original: made.loaded.original)
            rendition.problem = made.loaded.problem
            return rendition
        } catch .cancelled {
            throw .cancelled
        } catch {
            throw .encodingFailed(path: request.image.source.name, error)
        }
    }
}

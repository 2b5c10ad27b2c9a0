// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import HTTPCaching
internal import LoadScheduling
internal import Pixels

/// What a rendition is made from.
private enum RenditionBase: Sendable {
    case picture(MadeImage)
    /// Without its first frame, so that nobody waits for memory while holding some.
    case animation(OriginalIdentity, OriginalVersion)

    var original: OriginalVersion {
        switch self {
        case .picture(let made): made.loaded.original
        case .animation(_, let original): original
        }
    }
}

extension ImagePipeline {
    /// Store, else image, encode, keep.
    func loadRendition(
        _ request: RenditionRequest, _ urgency: LoadUrgency, _ story: LoadStory?
    ) async throws(LoadError) -> Rendition {
        if let kept = try await kept(request, urgency) {
            story?.add(LoadStep(.store, "hit"))
            metrics.countStoreHit()
            return kept
        }
        let base = try await renditionBase(request, urgency, story)
        let key = RenditionKey(base.original, request)
        return try await sharedRenditions.value(
            for: key,
            SharedRenditions.Consumer(
                urgency: urgency, storeWish: { [policy] in policy.wish(request) }, story: story)
        ) { [self] context throws(LoadError) in
            switch base {
            case .picture(let made):
                return try await encoded(made, request, key, context)
            case .animation(let original, _):
                do throws(LoadError) {
                    return try await encodedFrames(of: original, request, key, context)
                } catch  where error.isWantOfRoom || error.isDamage {
                    // There was room for the first frame, and it is whole.
                    var still = request
                    still.animationFormat = nil
                    return try await loadRendition(still, context.urgency, nil)
                }
            }
        }
    }

    /// Decodes the picture, or the first frame, by which an animation is known.
    private func renditionBase(
        _ request: RenditionRequest, _ urgency: LoadUrgency, _ story: LoadStory?
    ) async throws(LoadError) -> RenditionBase {
        let imageRequest = decodeRequest(of: request)
        let made = try await loadImage(
            imageRequest,
            SharedImages.Consumer(
                urgency: urgency, keepsValue: request.image.memoryUse.contains(.writes),
                storeWish: { [policy] in policy.wish(request).intersection(.original) },
                failurePolicy: request.image.failurePolicy, story: story))
        if made.isOutOfDate { revalidateSoon(made.loaded, imageRequest) }
        return staysAnimated(made.loaded, request)
            ? .animation(made.loaded.key.original, made.loaded.original) : .picture(made)
    }

    /// A picture in the format that was asked for; from the store if it has been made meanwhile.
    private func encoded(
        _ made: MadeImage, _ request: RenditionRequest, _ key: RenditionKey,
        _ context: LoadContext<NoUpdate>
    ) async throws(LoadError) -> Rendition {
        let submitted = clock.now
        return try await encodes.run(
            context.urgency, continuing: true
        ) { [self] cancellation throws(LoadError) in
            let start = clock.now
            if made.isCurrent, let kept = keptMeanwhile(key, request) { return kept }
            let rendition = try encode(made, as: request, cancellation)
            let duration = start.duration(to: clock.now)
            metrics.recordEncode(duration)
            context.story.add(
                LoadStep(
                    .encode, "\(rendition.bytes.count) bytes of \(rendition.mediaType)",
                    duration: duration, wait: submitted.duration(to: start)))
            if made.isCurrent { keep(rendition, key, made.loaded.storability, context) }
            return rendition
        }
    }

    /// A rendition that someone has made since the store was first asked.
    func keptMeanwhile(_ key: RenditionKey, _ request: RenditionRequest) -> Rendition? {
        guard policy != .originals, request.image.storeUse.contains(.reads) else { return nil }
        return store?.rendition(for: key)
    }

    /// Keeps a rendition of an original that is still the same, if that may be.
    func keep(
        _ rendition: Rendition, _ key: RenditionKey, _ storability: Storability,
        _ context: LoadContext<NoUpdate>
    ) {
        guard policy != .originals, storability.isAllowed, context.storeWish().contains(.value)
        else { return }
        store?.insert(rendition, for: key, freshUntil: storability.answersByNameUntil)
    }

    /// What is decoded for a rendition: in planes if the encoder takes them as they are.
    private func decodeRequest(of request: RenditionRequest) -> ImageRequest {
        var image = request.image
        // The file must not depend on what else was requested before.
        image.isReproducible = true
        guard image.processors.isEmpty else { return image }
        // Without a format it is JPEG, or PNG for what has alpha and never comes in planes.
        let destination = try? ImageDestination(
            format: request.format ?? "jpeg", codecs: codecs, options: request.encodeOptions)
        image.options.acceptsYCbCr = destination?.prefersYCbCr ?? false
        return image
    }

    /// One that was made before; of what the web has, as long as it may be used without asking.
    private func kept(
        _ request: RenditionRequest, _ urgency: LoadUrgency
    ) async throws(LoadError) -> Rendition? {
        guard let store, policy != .originals, request.image.storeUse.contains(.reads) else {
            return nil
        }
        switch request.image.source {
        case .file(let path):
            return try await lookups.run(urgency) { _ throws(LoadError) in
                let original = OriginalVersion(try FileIdentity(path: path))
                return store.rendition(for: RenditionKey(original, request))
            }
        case .url(let url):
            guard request.image.isAnswerableByName else { return nil }
            return try await lookups.run(urgency) { _ throws(LoadError) in
                store.freshRendition(of: url.description, RenditionKey.text(request))
            }
        case .bytes(_, let name), .loader(_, let name):
            return try await lookups.run(urgency) { _ throws(LoadError) in
                store.rendition(for: RenditionKey(OriginalVersion(name, version: "0"), request))
            }
        }
    }

    private func encode(
        _ made: MadeImage, as request: RenditionRequest, _ cancellation: CancellationFlag
    ) throws(LoadError) -> Rendition {
        do throws(CodecError) {
            var image = made.loaded.image
            let destination = try ImageDestination(
                format: request.format ?? (image.format.hasAlpha ? "png" : "jpeg"),
                codecs: codecs, options: request.encodeOptions)
            if !request.image.options.convertsToSRGB {
                image =
                    destination.writesColorProfiles
                    ? try codecs.inPortableColors(image)
                    : try codecs.inSRGB(image)
            }
            return Rendition(
                bytes: try destination.encode(image, cancellation: cancellation),
                mediaType: destination.format.mediaType, pixelSize: image.size,
                original: made.loaded.original)
        } catch .cancelled {
            throw .cancelled
        } catch {
            throw .encodingFailed(path: request.image.source.name, error)
        }
    }
}

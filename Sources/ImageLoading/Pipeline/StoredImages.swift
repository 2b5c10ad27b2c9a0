// SPDX-License-Identifier: Apache-2.0

internal import HTTPCaching
internal import LoadScheduling
internal import EncodedImages
internal import Logging
internal import Pixels
internal import Synchronization

/// Images of views in the store, in a lossless format, QOI by default.
///
/// In front of each file are its ``StoredFacts``.
final class StoredImages: Sendable {
    /// The size of all images that wait to be stored, in bytes, at which no further image is added.
    ///
    /// The thumbnails of a screen and of its surroundings wait together until no decode waits.
    private static let maximumWaitingByteCount = 32 << 20

    private let resources: PipelineResources
    private let decoding: ImageDecoding
    private let format: String
    private let waitingByteCount = Atomic<Int>(0)

    /// - Parameters:
    ///   - resources: the pipeline's.
    ///   - decoding: decodes what is found.
    ///   - format: the name of a lossless format.
    init(_ resources: PipelineResources, _ decoding: ImageDecoding, format: String) {
        self.resources = resources
        self.decoding = decoding
        self.format = format
    }

    /// Returns an image that was resized or processed before.
    ///
    /// - Returns: `nil` if none is stored, or it is damaged.
    func image(_ load: ImageLoad) async throws(LoadError) -> MadeImage? {
        let request = load.request
        guard let store = resources.store, resources.policy != .originals, !request.isWhole,
            !request.isReproducible, request.storeUse.contains(.reads)
        else { return nil }
        let original = load.image.original
        let name = RenditionKey.text(load.image, format: format)
        let found = try await resources.queues.lookups.run(load.urgency) {
            _ throws(LoadError) -> Rendition? in
            guard case .url(let url) = original else {
                return store.rendition(
                    for: RenditionKey(OriginalVersion(original), request: name))
            }
            return request.isAnswerableByName ? store.freshRendition(of: url, name) : nil
        }
        guard let found else { return nil }
        do throws(LoadError) {
            let made = try await decode(found, load)
            load.context.story.add(LoadStep(.store, "hit"))
            resources.metrics.countStoreHit()
            return made
        } catch .decodingFailed {
            resources.logger.debug(
                "dropped a damaged image", metadata: ["image.original": "\(found.original.name)"])
            store.remove(RenditionKey(found.original, request: name))
            return nil
        } catch .memoryBudgetExceeded {
            // The image may be decoded at a smaller size.
            return nil
        }
    }

    private func decode(
        _ found: Rendition, _ load: ImageLoad
    ) async throws(LoadError) -> MadeImage {
        guard let facts = StoredFacts(found.bytes) else {
            throw .decodingFailed(
                path: found.original.name, .truncated(byteCount: found.bytes.count))
        }
        let data = LoadedOriginal(
            bytes: EncodedBytes(Array(found.bytes[StoredFacts.byteCount...])),
            original: found.original, isOwn: true)
        var options = DecodeOptions()
        options.convertsToSRGB = false
        options.acceptsTruncated = false
        // The store has compared a checksum of all bytes.
        options.verifiesChecksums = false
        let (opened, _, reservation) = try await decoding.reserve(
            data, options, acceptsSmaller: false, load.urgency)
        return try await resources.queues.decodes.run(load.urgency) {
            [clock = resources.clock, options] cancellation throws(LoadError) in
            let start = clock.now
            do throws(CodecError) {
                let image = try opened.source.decodedImage(options, cancellation: cancellation)
                    .image
                return MadeImage(
                    loaded: LoadedImage(
                        image, key: load.image.withoutPlanes, original: found.original,
                        originalSize: facts.originalSize,
                        isOriginalScalable: facts.isOriginalScalable,
                        originalFrameCount: facts.originalFrameCount, isDerived: true,
                        cost: start.duration(to: clock.now),
                        storability: Storability(freshUntil: facts.freshUntil)),
                    isCurrent: true, reservation: reservation)
            } catch {
                throw LoadError(decoding: found.original.name, error)
            }
        }
    }

    /// Stores an image once no decode is waiting.
    func keep(_ image: LoadedImage, _ request: ImageRequest) {
        // Only pixel formats that can be written without loss.
        guard let store = resources.store, image.storability.isAllowed, image.problem == nil,
            request.options.pixelFormat == nil,
            [.gray8, .rgb8, .rgba8].contains(image.image.format)
        else { return }
        let key = RenditionKey(
            image.original, request: RenditionKey.text(image.key, format: format))
        let byteCount = image.image.byteCount
        let waiting = waitingByteCount.add(byteCount, ordering: .relaxed).oldValue
        guard waiting < Self.maximumWaitingByteCount else {
            waitingByteCount.subtract(byteCount, ordering: .relaxed)
            return
        }
        // On the threads that decode, so that it takes no processor from requested images. An image
        // for which there is no room in the queue is not stored.
        let ticket = try? resources.queues.decodes.submit(.background) { [self] in
            defer { waitingByteCount.subtract(byteCount, ordering: .relaxed) }
            do throws(CodecError) {
                let bytes = try encode(image.image)
                store.insert(
                    Rendition(
                        bytes: StoredFacts(image).bytes + bytes.0, mediaType: bytes.1,
                        pixelSize: image.image.size, original: image.original),
                    for: key, freshUntil: image.storability.answersByNameUntil)
            } catch {
                resources.logger.debug(
                    "could not store an image", metadata: ["error": "\(error)"])
            }
        }
        if ticket == nil { waitingByteCount.subtract(byteCount, ordering: .relaxed) }
    }

    /// - Returns: a file, and its media type.
    private func encode(_ image: PixelBuffer) throws(CodecError) -> ([UInt8], String) {
        var options = EncodeOptions()
        options.isLossless = true
        // QOI has no gray, and would return RGB.
        let format = format == "qoi" && image.format == .gray8 ? "png" : format
        let destination = try ImageDestination(
            format: format, codecs: resources.codecs, options: options)
        return (try destination.encode(image), destination.format.mediaType)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import HTTPCaching
internal import LoadScheduling
internal import Logging
internal import Pixels
internal import Synchronization

// Pictures that a view asked for are kept as files of a format that loses nothing, QOI unless told
// otherwise. In front of the file stands what it does not say itself: ``KeptFacts``.

extension ImagePipeline {
    /// Pictures that may wait to be kept; further ones are not, because each takes memory.
    private static let maximumWaitingCount = 16

    /// A picture that was resized or processed before, from the store.
    ///
    /// - Returns: `nil` if there is none, also if it turns out to be damaged.
    func keptImage(
        _ request: ImageRequest, _ key: ImageKey, _ context: LoadContext<ImageUpdate>
    ) async throws(LoadError) -> MadeImage? {
        guard let store, policy != .originals, !request.isWhole, !request.isReproducible,
            request.storeUse.contains(.reads)
        else { return nil }
        let name = RenditionKey.text(key, format: keptFormat)
        let isAnswerableByName = request.isAnswerableByName
        let kept = try await lookups.run(context.urgency) { _ throws(LoadError) -> Rendition? in
            switch key.original {
            case .file(let file):
                store.rendition(for: RenditionKey(OriginalVersion(file), request: name))
            case .url(let url):
                isAnswerableByName ? store.freshRendition(of: url, name) : nil
            case .named:
                store.rendition(
                    for: RenditionKey(OriginalVersion(key.original), request: name))
            }
        }
        guard let kept else { return nil }
        do throws(LoadError) {
            let made = try await decoded(kept, key, context)
            context.story.add(LoadStep(.store, "hit"))
            metrics.countStoreHit()
            return made
        } catch .decodingFailed {
            logger.debug(
                "dropped a damaged picture", metadata: ["image.original": "\(kept.original.name)"])
            store.remove(RenditionKey(kept.original, request: name))
            return nil
        } catch .memoryBudgetExceeded {
            // It may be made smaller.
            return nil
        }
    }

    private func decoded(
        _ kept: Rendition, _ key: ImageKey, _ context: LoadContext<ImageUpdate>
    ) async throws(LoadError) -> MadeImage {
        guard let facts = KeptFacts(kept.bytes) else {
            throw .decodingFailed(
                path: kept.original.name, .truncated(byteCount: kept.bytes.count))
        }
        let data = LoadedData(
            bytes: EncodedBytes(Array(kept.bytes[KeptFacts.byteCount...])),
            original: kept.original, isOwn: true)
        var options = DecodeOptions()
        options.convertsToSRGB = false
        // The store has compared a checksum of all bytes.
        options.verifiesChecksums = false
        let (source, _, reservation) = try await reserve(
            data, options, acceptsSmaller: false, context.urgency)
        return try await decodes.run(context.urgency) {
            [clock, options] cancellation throws(LoadError) in
            let start = clock.now
            do throws(CodecError) {
                let image = try source.decodedImage(options, cancellation: cancellation).image
                return MadeImage(
                    loaded: LoadedImage(
                        image, key: key.withoutPlanes, original: kept.original,
                        originalSize: facts.originalSize,
                        isOriginalScalable: facts.isOriginalScalable,
                        originalFrameCount: facts.originalFrameCount, isDerived: true,
                        cost: start.duration(to: clock.now),
                        storability: Storability(freshUntil: facts.freshUntil)),
                    isCurrent: true, reservation: reservation)
            } catch {
                throw LoadError(decoding: kept.original.name, error)
            }
        }
    }

    /// Keeps a picture once nothing waits to be decoded.
    func keep(_ image: LoadedImage, _ request: ImageRequest) {
        // Formats that can be written so that they come back as they are.
        guard let store, image.storability.isAllowed, request.options.pixelFormat == nil,
            [.gray8, .rgb8, .rgba8].contains(image.image.format)
        else { return }
        let key = RenditionKey(
            image.original, request: RenditionKey.text(image.key, format: keptFormat))
        guard keepingCount.add(1, ordering: .relaxed).newValue <= Self.maximumWaitingCount else {
            keepingCount.subtract(1, ordering: .relaxed)
            return
        }
        // On the threads that decode, so that it takes no processor from pictures that are wanted.
        // What has no room is made again another time.
        let ticket = try? decodes.submit(.background) { [self] in
            defer { keepingCount.subtract(1, ordering: .relaxed) }
            do throws(CodecError) {
                let bytes = try encodeToKeep(image.image)
                store.insert(
                    Rendition(
                        bytes: KeptFacts(image).bytes + bytes.0, mediaType: bytes.1,
                        pixelSize: image.image.size, original: image.original),
                    for: key, freshUntil: image.storability.answersByNameUntil)
            } catch {
                logger.debug("could not keep a picture", metadata: ["error": "\(error)"])
            }
        }
        if ticket == nil { keepingCount.subtract(1, ordering: .relaxed) }
    }

    /// - Returns: a file, and its media type.
    private func encodeToKeep(_ image: PixelBuffer) throws(CodecError) -> ([UInt8], String) {
        var options = EncodeOptions()
        options.isLossless = true
        // QOI has no grey, and would give it back as RGB.
        let format = keptFormat == "qoi" && image.format == .gray8 ? "png" : keptFormat
        let destination = try ImageDestination(format: format, codecs: codecs, options: options)
        return (try destination.encode(image), destination.format.mediaType)
    }
}

/// What a kept picture's file does not say: five numbers of eight bytes, the least significant
/// first.
struct KeptFacts: Equatable {
    static let byteCount = 40

    let originalSize: PixelSize
    let isOriginalScalable: Bool
    let freshUntil: Int
    let originalFrameCount: Int

    var bytes: [UInt8] {
        [
            originalSize.width, originalSize.height, isOriginalScalable ? 1 : 0, freshUntil,
            originalFrameCount,
        ].flatMap { number in
            (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
    }
}

extension KeptFacts {
    init(_ image: LoadedImage) {
        self.init(
            originalSize: image.originalSize, isOriginalScalable: image.isOriginalScalable,
            freshUntil: image.storability.freshUntil,
            originalFrameCount: image.originalFrameCount)
    }

    /// - Returns: `nil` if there is nothing behind them, or no picture has such a size.
    init?(_ bytes: [UInt8]) {
        guard bytes.count > Self.byteCount else { return nil }
        let numbers = (0..<5).map { number in
            (0..<8).reversed().reduce(0) { $0 << 8 | Int(bytes[number * 8 + $1]) }
        }
        let sides = 1...Int(Int32.max)
        guard sides ~= numbers[0], sides ~= numbers[1], numbers[4] > 0 else { return nil }
        self.init(
            originalSize: PixelSize(width: numbers[0], height: numbers[1]),
            isOriginalScalable: numbers[2] != 0, freshUntil: numbers[3],
            originalFrameCount: numbers[4])
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Logging
internal import Pixels

/// A picture, and whether the file was still the same original after it had been read.
struct DecodedOriginal: Sendable {
    let image: PixelBuffer
    let original: FileIdentity
    let isCurrent: Bool
}

extension ImagePipeline {
    /// Memory cache, else read, decode shrunk, keep.
    func loadImage(_ request: ImageRequest) async throws(LoadError) -> DecodedOriginal {
        let original = try await identity(of: request)
        do throws(LoadError) {
            let loaded = try await decoded(request, of: original)
            if loaded.isCurrent { return loaded }
        } catch .cancelled {
            throw .cancelled
        } catch {
            // Was it the file that is there now, or a part of two?
            guard try await identity(of: request) != original else { throw error }
        }
        // The file was exchanged while it was read. If that goes on, the second try is delivered as
        // it is, and nothing of it is kept.
        return try await decoded(request, of: try await identity(of: request))
    }

    /// Store, else image, encode, keep.
    func loadRendition(_ request: RenditionRequest) async throws(LoadError) -> Rendition {
        if let kept = try await kept(request) { return kept }
        let loaded = try await loadImage(decodeRequest(of: request))
        let key = RenditionKey(loaded.original, request)
        return try await sharedEncodes.value(for: key, request.image.priority) {
            [self] cancellation throws(LoadError) in
            // Someone may have made it since the store was asked.
            if loaded.isCurrent, let kept = store?.rendition(for: key) { return kept }
            guard !cancellation.isCancelled else { throw .cancelled }
            let rendition = try encode(loaded, as: request)
            if loaded.isCurrent { store?.insert(rendition, for: key) }
            return rendition
        }
    }

    /// What is decoded for a rendition: in planes if the encoder takes them as they are.
    private func decodeRequest(of request: RenditionRequest) -> ImageRequest {
        var image = request.image
        // Without a format it is JPEG, or PNG for what has alpha and never comes in planes.
        let destination = try? ImageDestination(
            format: request.format ?? "jpeg", codecs: codecs, options: request.encodeOptions)
        image.options.acceptsYCbCr = destination?.prefersYCbCr ?? false
        return image
    }

    private func identity(of request: ImageRequest) async throws(LoadError) -> FileIdentity {
        try await lookups.run(request.priority) { () throws(LoadError) in
            try FileIdentity(path: request.path)
        }
    }

    private func kept(_ request: RenditionRequest) async throws(LoadError) -> Rendition? {
        guard let store else { return nil }
        return try await lookups.run(request.image.priority) { () throws(LoadError) in
            let original = try FileIdentity(path: request.image.path)
            return store.rendition(for: RenditionKey(original, request))
        }
    }

    private func decoded(
        _ request: ImageRequest, of original: FileIdentity
    ) async throws(LoadError) -> DecodedOriginal {
        guard !Task.isCancelled else { throw .cancelled }
        let key = ImageKey(original: .file(original), options: request.options)
        if let image = remembered(key) {
            return DecodedOriginal(image: image, original: original, isCurrent: true)
        }
        return try await sharedDecodes.value(for: key, request.priority) {
            [self] cancellation throws(LoadError) in
            // Someone may have made it since the memory was asked.
            if let image = remembered(key) {
                return DecodedOriginal(image: image, original: original, isCurrent: true)
            }
            let image = try decode(original, key.options, cancellation)
            let isCurrent = try FileIdentity(path: original.path) == original
            if isCurrent { remember(image, for: key) }
            return DecodedOriginal(image: image, original: original, isCurrent: isCurrent)
        }
    }

    /// A picture that is in memory; RGB will do where planes are accepted.
    private func remembered(_ key: ImageKey) -> PixelBuffer? {
        memory.image(for: key) ?? memory.image(for: key.withoutPlanes)
    }

    /// Keeps a picture where every request that it can serve finds it.
    private func remember(_ image: PixelBuffer, for key: ImageKey) {
        memory.insert(image, for: image.format == .yCbCr420 ? key : key.withoutPlanes)
    }

    private func decode(
        _ original: FileIdentity, _ options: DecodeOptions, _ cancellation: CancellationFlag
    ) throws(LoadError) -> PixelBuffer {
        let path = original.path
        do throws(CodecError) {
            // Read, not mapped: a mapped file that is cut short would end the process.
            let bytes = try EncodedBytes(reading: path, limits: limits)
            let source = try ImageSource(bytes, codecs: codecs, limits: limits)
            let decoded = try source.decodedImage(options, cancellation: cancellation)
            let image = decoded.image
            logger.debug(
                "decoded image",
                metadata: [
                    "image.path": "\(path)", "image.format": "\(source.format.name)",
                    "image.pixels": "\(image.size)", "image.decoder": "\(decoded.report.decoder)",
                    "image.shrink": "\(decoded.report.shrinkFactors)",
                ])
            return image
        } catch {
            throw LoadError(decoding: path, error)
        }
    }

    private func encode(
        _ loaded: DecodedOriginal, as request: RenditionRequest
    ) throws(LoadError) -> Rendition {
        do throws(CodecError) {
            let destination = try ImageDestination(
                format: request.format ?? (loaded.image.format.hasAlpha ? "png" : "jpeg"),
                codecs: codecs, options: request.encodeOptions)
            return Rendition(
                bytes: try destination.encode(loaded.image),
                mediaType: destination.format.mediaType, pixelSize: loaded.image.size,
                original: loaded.original)
        } catch {
            throw .encodingFailed(path: request.image.path, error)
        }
    }
}

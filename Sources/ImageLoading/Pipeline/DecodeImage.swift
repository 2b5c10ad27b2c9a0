// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
internal import EncodedImages
internal import LoadScheduling
internal import Logging
internal import Pixels

extension ImagePipeline {
    /// The image of an original, decoded.
    func decoded(
        _ request: ImageRequest, _ key: ImageKey, _ salt: UInt64,
        _ context: LoadContext<ImageUpdate>
    ) async throws(LoadError) -> MadeImage {
        try await withData(request, key, salt, context) { [self] data throws(LoadError) in
            try await decoded(data, request, key, context)
        }
    }

    /// Calls `body` with the bytes of an original, and once more with new ones if what the store of
    /// responses had is damaged.
    func withData<Value>(
        _ request: ImageRequest, _ key: ImageKey, _ salt: UInt64,
        _ context: LoadContext<ImageUpdate>,
        _ body: (LoadedData) async throws(LoadError) -> Value
    ) async throws(LoadError) -> Value {
        var dataKey = DataKey(request, of: key.original, salt: salt)
        let data = try await loadData(request, dataKey, key, context)
        do throws(LoadError) {
            return try await body(data)
        } catch  where error.isDamage && data.isKept {
            dataKey.refusedBody = data.bytes.withBytes { contentHash($0) }
            return try await body(try await loadData(request, dataKey, key, context))
        }
    }

    /// The bytes of an original, and previews of it while they come.
    private func loadData(
        _ request: ImageRequest, _ dataKey: DataKey, _ key: ImageKey,
        _ context: LoadContext<ImageUpdate>
    ) async throws(LoadError) -> LoadedData {
        let previews = PreviewDecoder(key, self, context.urgency) { preview in
            context.report(ImageUpdate(preview: preview))
        }
        defer { previews.end() }
        return try await loadData(
            request, dataKey,
            SharedData.Consumer(
                urgency: context.urgency, storeWish: context.storeWish,
                failurePolicy: request.failurePolicy, story: context.story,
                receive: { update in
                    if let progress = update.progress {
                        context.report(ImageUpdate(progress: progress))
                    }
                    if !update.bytes.isEmpty || update.isRestart { previews.receive(update) }
                }))
    }

    /// The image of bytes that are there.
    func decoded(
        _ data: LoadedData, _ request: ImageRequest, _ key: ImageKey,
        _ context: LoadContext<ImageUpdate>
    ) async throws(LoadError) -> MadeImage {
        let (source, options, reservation) = try await reserve(
            data, key.options, acceptsSmaller: request.acceptsSmaller, context.urgency)
        let made = try await decoded(data, source, [options], request, key, reservation, context)
        guard let made = made[options] else { throw .cancelled }
        return made
    }

    /// The first of several sizes of an original, and those that the same decode gives.
    ///
    /// The reservation is for all of them.
    func decoded(
        _ data: LoadedData, _ source: ImageSource, _ options: [DecodeOptions],
        _ request: ImageRequest, _ key: ImageKey, _ reservation: MemoryReservation,
        _ context: LoadContext<ImageUpdate>
    ) async throws(LoadError) -> [DecodeOptions: MadeImage] {
        let submitted = clock.now
        return try await decodes.run(context.urgency) {
            [self] cancellation throws(LoadError) in
            let start = clock.now
            let images: [DecodedImage?]
            do throws(CodecError) {
                images = try source.decodedImages(options, cancellation: cancellation)
            } catch {
                throw LoadError(decoding: data.original.name, error)
            }
            let duration = start.duration(to: clock.now)
            metrics.recordDecode(duration)
            note(images, of: source, data, context.story, duration, submitted.duration(to: start))
            // What is out of date is shown and not kept, until the web says that it is still right.
            var isCurrent = !data.isOutOfDate
            if case .file(let file) = key.original {
                isCurrent = try FileIdentity(path: file.path) == file
            }
            var made: [DecodeOptions: MadeImage] = [:]
            for (options, decoded) in zip(options, images) {
                guard let decoded else { continue }
                var key = key
                key.options = options
                // Only a reproducible load depends on whether planes were accepted.
                let isExactKey = request.isReproducible || decoded.image.format == .yCbCr420
                made[options] = MadeImage(
                    loaded: LoadedImage(
                        decoded.image, key: isExactKey ? key : key.withoutPlanes,
                        original: data.original, originalSize: source.pixelSize,
                        isOriginalScalable: source.header.isScalable,
                        originalFrameCount: source.header.frameCount, cost: duration,
                        storability: data.storability),
                    isCurrent: isCurrent,
                    reservation: reservation.split(decoded.image.byteCount),
                    isOutOfDate: data.isOutOfDate,
                    facts: decoded.report.problem == nil ? ImageFacts(source) : nil)
            }
            reservation.release()
            return made
        }
    }

    /// Logs a decode, and adds it to the story of the load.
    private func note(
        _ images: [DecodedImage?], of source: ImageSource, _ data: LoadedData, _ story: LoadStory,
        _ duration: Duration, _ wait: Duration
    ) {
        let images = images.compactMap(\.self)
        guard let report = images.first?.report else { return }
        let sizes = images.map { "\($0.image.size)" }.joined(separator: ", ")
        logger.debug(
            "decoded image",
            metadata: [
                "image.original": "\(data.original.name)",
                "image.format": "\(source.format.name)",
                "image.pixels": "\(sizes)",
                "image.decoder": "\(report.decoder)",
                "image.shrink": "\(report.shrinkFactors)",
            ])
        let factors = report.shrinkFactors.map { "1/\($0)" }.joined(separator: ", ")
        story.add(
            LoadStep(
                .decode,
                "\(sizes) of \(source.pixelSize) by \(report.decoder), "
                    + "shrunk to \(factors.isEmpty ? "1/1" : factors)",
                duration: duration, wait: wait))
    }

    /// Opens an original, before lookups that have not begun if it is continuing.
    func open(
        _ data: LoadedData, _ urgency: LoadUrgency, continuing: Bool = true
    ) async throws(LoadError) -> ImageSource {
        try await lookups.run(urgency, continuing: continuing) {
            [codecs, limits] _ throws(LoadError) in
            do throws(CodecError) {
                return try ImageSource(
                    data.bytes, codecs: data.isOwn ? codecs.decodedHere : codecs,
                    limits: limits)
            } catch {
                throw LoadError(decoding: data.original.name, error)
            }
        }
    }

    /// Opens an original and waits until there is room for its pixels.
    ///
    /// - Returns: the original, the picture that there is room for, and the room.
    func reserve(
        _ data: LoadedData, _ options: DecodeOptions, acceptsSmaller: Bool, _ urgency: LoadUrgency
    ) async throws(LoadError) -> (ImageSource, DecodeOptions, MemoryReservation) {
        let source = try await open(data, urgency)
        var options = options
        while true {
            do throws(LoadError) {
                let byteCount = source.resultByteCount(options)
                return (source, options, try await budget.reserve(byteCount, urgency))
            } catch {
                guard case .memoryBudgetExceeded = error, acceptsSmaller,
                    let smaller = options.halved(source)
                else { throw error }
                options = smaller
            }
        }
    }
}

extension DecodeOptions {
    /// Asks for half of each side; `nil` if there is nothing to halve.
    func halved(_ source: ImageSource) -> DecodeOptions? {
        let size = source.resultSize(self)
        guard size.largestSide > 1 else { return nil }
        var smaller = self
        smaller.box = PixelSize(width: (size.width + 1) / 2, height: (size.height + 1) / 2)
        smaller.mode = .fit
        return smaller
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
internal import LoadScheduling
internal import EncodedImages
internal import Logging
internal import Pixels

/// An original whose header has been read.
struct OpenedOriginal: Sendable {
    let data: LoadedOriginal
    let source: ImageSource
}

/// Decodes originals at the size of the result, once there is memory for it.
struct ImageDecoding: Sendable {
    let resources: PipelineResources
    let originals: OriginalLoading

    /// Loads the original of a load and decodes it.
    func loadAndDecode(_ load: ImageLoad) async throws(LoadError) -> MadeImage {
        try await withData(load) { data throws(LoadError) in try await decode(data, load) }
    }

    /// Calls `body` with the bytes of an original, and once more with new bytes if those from the
    /// response store are damaged.
    func withData<Value>(
        _ load: ImageLoad, _ body: (LoadedOriginal) async throws(LoadError) -> Value
    ) async throws(LoadError) -> Value {
        var key = load.key.data
        let data = try await loadWithPreviews(key, load)
        do throws(LoadError) {
            return try await body(data)
        } catch  where error.isDamage && data.isKept {
            key.refusedBody = data.bytes.withBytes { contentHash($0) }
            return try await body(try await loadWithPreviews(key, load))
        }
    }

    /// Loads the bytes of an original, and reports previews of it while they arrive.
    private func loadWithPreviews(
        _ key: OriginalLoadKey, _ load: ImageLoad
    ) async throws(LoadError) -> LoadedOriginal {
        let context = load.context
        let previews = PreviewDecoder(load.image, resources, context.urgency) { preview in
            context.report(ImageUpdate(preview: preview))
        }
        defer { previews.end() }
        return try await originals.data(
            for: load.request, key,
            OriginalLoading.Loads.Consumer(
                urgency: context.urgency, storePermission: context.storePermission,
                failurePolicy: load.request.failurePolicy, story: context.story,
                receive: { update in
                    if let progress = update.progress {
                        context.report(ImageUpdate(progress: progress))
                    }
                    if !update.bytes.isEmpty || update.isRestart { previews.receive(update) }
                }))
    }

    /// Decodes bytes that have been loaded.
    func decode(_ data: LoadedOriginal, _ load: ImageLoad) async throws(LoadError) -> MadeImage {
        let (original, options, reservation) = try await reserve(
            data, load.image.options, acceptsSmaller: load.request.acceptsSmaller, load.urgency)
        let submitted = resources.clock.now
        return try await resources.queues.decodes.run(load.urgency) {
            cancellation throws(LoadError) in
            let made = try decodeSizes(
                [options], of: original, load, reservation, submitted: submitted, cancellation)
            guard let made = made[options] else { throw .cancelled }
            return made
        }
    }

    /// Decodes several sizes of an original on the calling thread.
    ///
    /// - Parameters:
    ///   - sizes: the options of each size; the first one is always made.
    ///   - original: the original.
    ///   - load: the load that began the decode.
    ///   - keepsPlanes: whether the planes are kept for further sizes.
    ///   - reservation: the memory for all sizes.
    ///   - submitted: when the work was queued.
    ///   - cancellation: ends the decode at the next row.
    /// - Returns: the images that the decode gives, by their options.
    /// - Throws: ``LoadError``.
    func decodeSizes(
        _ sizes: [DecodeOptions], of original: OpenedOriginal, _ load: ImageLoad,
        keepsPlanes: Bool = false, _ reservation: MemoryReservation,
        submitted: ContinuousClock.Instant, _ cancellation: CancellationFlag
    ) throws(LoadError) -> [DecodeOptions: MadeImage] {
        let (clock, data, source) = (resources.clock, original.data, original.source)
        let start = clock.now
        let images: [DecodedImage?]
        let isDecoded: Bool
        do throws(CodecError) {
            (images, isDecoded) = try decodedImages(
                sizes, of: source, load, keepsPlanes: keepsPlanes, cancellation)
        } catch {
            throw LoadError(decoding: data.original.name, error)
        }
        let duration = start.duration(to: clock.now)
        if isDecoded { resources.metrics.recordDecode(duration) }
        note(
            images, of: original, load.context.story, isDecoded ? .decode : .resample, duration,
            submitted.duration(to: start))
        // A stale image is shown but not stored until the server has confirmed it.
        var isCurrent = !data.isOutOfDate
        if case .file(let file) = load.key.data.original {
            isCurrent = try resources.files.isCurrent(file)
        }
        var made: [DecodeOptions: MadeImage] = [:]
        for (options, decoded) in zip(sizes, images) {
            guard let decoded else { continue }
            var key = load.image
            key.options = options
            // Only a reproducible load depends on whether planes were accepted.
            let isExactKey = load.request.isReproducible || decoded.image.format == .yCbCr420
            made[options] = MadeImage(
                loaded: LoadedImage(
                    decoded.image, key: isExactKey ? key : key.withoutPlanes,
                    original: data.original, originalSize: source.pixelSize,
                    isOriginalScalable: source.header.isScalable,
                    originalFrameCount: source.header.frameCount,
                    mayHaveGainMap: source.header.isHDR, problem: decoded.report.problem,
                    cost: duration,
                    storability: data.storability),
                isCurrent: isCurrent,
                reservation: reservation.split(decoded.image.byteCount),
                isOutOfDate: data.isOutOfDate,
                facts: decoded.report.problem == nil ? ImageFacts(source) : nil)
        }
        reservation.release()
        return made
    }

    /// Makes sizes of planes in memory, if a decode would give the same pixels, and the others in one
    /// pass over the file.
    ///
    /// - Returns: the images, `nil` for those that need another pass, and whether the file was
    ///   decoded.
    private func decodedImages(
        _ sizes: [DecodeOptions], of source: ImageSource, _ load: ImageLoad, keepsPlanes: Bool,
        _ cancellation: CancellationFlag
    ) throws(CodecError) -> (images: [DecodedImage?], isDecoded: Bool) {
        guard load.request.isReproducible, case .file(let file) = load.key.data.original else {
            return (try source.decodedImages(sizes, cancellation: cancellation), true)
        }
        var made: [DecodeOptions: DecodedImage] = [:]
        for reduced in resources.reduced.images(of: file) {
            for options in sizes where made[options] == nil {
                made[options] = try source.resampled(reduced, options)
            }
        }
        let rest = sizes.filter { made[$0] == nil }
        guard !rest.isEmpty else { return (sizes.map { made[$0] }, false) }
        let decoded = try source.decodedSizes(
            rest, planesByteCount: keepsPlanes ? resources.reduced.imageByteLimit : 0,
            cancellation: cancellation)
        if let reduced = decoded.reduced { resources.reduced.insert(reduced, of: file) }
        for (options, image) in zip(rest, decoded.images) { made[options] = image }
        return (sizes.map { made[$0] }, true)
    }

    /// Logs a decode, and adds it to the steps of the load.
    private func note(
        _ images: [DecodedImage?], of original: OpenedOriginal, _ story: LoadMetrics,
        _ stage: LoadStep.Stage, _ duration: Duration, _ wait: Duration
    ) {
        let images = images.compactMap(\.self)
        guard let report = images.first?.report else { return }
        let sizes = images.map { "\($0.image.size)" }.joined(separator: ", ")
        resources.logger.debug(
            "decoded image",
            metadata: [
                "image.original": "\(original.data.original.name)",
                "image.format": "\(original.source.format.name)",
                "image.pixels": "\(sizes)",
                "image.decoder": "\(report.decoder)",
                "image.shrink": "\(report.shrinkFactors)",
            ])
        let factors = report.shrinkFactors.map { "1/\($0)" }.joined(separator: ", ")
        story.add(
            LoadStep(
                stage,
                "\(sizes) of \(original.source.pixelSize) by \(report.decoder), "
                    + "shrunk to \(factors.isEmpty ? "1/1" : factors)",
                duration: duration, wait: wait))
    }

    /// Reads the header of an original on the calling thread.
    func open(_ data: LoadedOriginal) throws(LoadError) -> OpenedOriginal {
        do throws(CodecError) {
            let codecs = resources.codecs
            let source = try ImageSource(
                data.bytes, codecs: data.isOwn ? codecs.decodedInProcess : codecs,
                limits: resources.limits)
            return OpenedOriginal(data: data, source: source)
        } catch {
            throw LoadError(decoding: data.original.name, error)
        }
    }

    /// Reads the header of an original, and waits until there is memory for the result.
    ///
    /// - Parameters:
    ///   - data: the original.
    ///   - options: the image.
    ///   - acceptsSmaller: whether a smaller image is accepted if the memory budget is too small.
    ///   - urgency: the priority of the load.
    /// - Returns: the original, the options of the image that fits, and the reservation.
    /// - Throws: ``LoadError``.
    func reserve(
        _ data: LoadedOriginal, _ options: DecodeOptions, acceptsSmaller: Bool,
        _ urgency: PriorityHandle
    ) async throws(LoadError) -> (OpenedOriginal, DecodeOptions, MemoryReservation) {
        let original = try await resources.queues.lookups.run(urgency, continuing: true) {
            _ throws(LoadError) in try open(data)
        }
        var options = options
        while true {
            do throws(LoadError) {
                let byteCount = original.source.resultByteCount(options)
                return (original, options, try await resources.budget.reserve(byteCount, urgency))
            } catch {
                guard case .memoryBudgetExceeded = error, acceptsSmaller,
                    let smaller = options.halved(original.source)
                else { throw error }
                options = smaller
            }
        }
    }
}

extension DecodeOptions {
    /// Returns options for half of each side; `nil` if no side can be halved.
    func halved(_ source: ImageSource) -> DecodeOptions? {
        let size = source.resultSize(self)
        guard size.largestSide > 1 else { return nil }
        var smaller = self
        smaller.box = PixelSize(width: (size.width + 1) / 2, height: (size.height + 1) / 2)
        smaller.mode = .fit
        return smaller
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Pixels

extension ImageSource {
    /// Returns whether the decoder is known to make the same planes for two results.
    ///
    /// If it is not known, ``DecodedSizes/reduced`` shows it after a decode.
    public func sharesPlanes(_ options: DecodeOptions, _ other: DecodeOptions) -> Bool {
        let (plan, otherPlan) = (DecodePlan(header, options), DecodePlan(header, other))
        guard plan.isMadeOfSamePlanes(as: otherPlan) else { return false }
        return codecs.codec(named: format.name)?.decoder.sharesPlanes(plan, otherPlan) ?? false
    }

    /// Decodes the image at several sizes in one pass over the file.
    ///
    /// Each result has exactly the pixels of ``decodedImage(_:cancellation:)``. Sizes for which the
    /// decoder would shrink by another factor need another pass, unless they have
    /// ``DecodeOptions/sharesDecode`` and the first size is the largest.
    ///
    /// - Parameters:
    ///   - options: the sizes and the form of the results; at least one.
    ///   - cancellation: cancels the work from another thread.
    /// - Returns: a result for each of `options`, or `nil` if it needs another pass; the first is never
    ///   `nil`.
    /// - Throws: ``CodecError``.
    public func decodedImages(
        _ options: [DecodeOptions], cancellation: CancellationFlag? = nil
    ) throws(CodecError) -> [DecodedImage?] {
        try decodedSizes(options, planesByteCount: 0, cancellation: cancellation).images
    }

    /// Decodes the image at several sizes like ``decodedImages(_:cancellation:)``.
    ///
    /// - Parameters:
    ///   - options: the sizes and the form of the results; at least one.
    ///   - planesByteCount: the maximum size of the planes that are returned for further sizes; 0 for none.
    ///   - cancellation: cancels the work from another thread.
    /// - Returns: the results, and the planes unless the format has none or they are too large.
    /// - Throws: ``CodecError``.
    public func decodedSizes(
        _ options: [DecodeOptions], planesByteCount: Int, cancellation: CancellationFlag? = nil
    ) throws(CodecError) -> DecodedSizes {
        try decodedSizes(
            options, planesByteCount: planesByteCount, PlaneCollector(), cancellation: cancellation)
    }

    /// Decodes the image at several sizes like ``decodedSizes(_:planesByteCount:cancellation:)``, with a
    /// collector whose memory earlier decodes have used.
    ///
    /// - Throws: ``CodecError``.
    package func decodedSizes(
        _ options: [DecodeOptions], planesByteCount: Int, _ collector: PlaneCollector,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> DecodedSizes {
        guard options.count > 1 || planesByteCount > 0,
            options.allSatisfy({
                $0.embeddedThumbnail == .ignore && resultSize($0).largestSide <= limits.maximumSide
            })
        else {
            let first = try decodedImage(options[0], cancellation: cancellation)
            return DecodedSizes(images: [first] + options.dropFirst().map { _ in nil })
        }
        if case .remote(let remote, let page) = engine {
            let received = try bytes.whileUnchanged { () throws(CodecError) in
                try remote.images(
                    of: RemoteImage(bytes, page: page, limits: limits), options,
                    byteCounts: options.map(maximumByteCount), planesByteCount: planesByteCount,
                    cancellation: cancellation)
            }
            for (options, decoded) in zip(options, received.images) {
                if let decoded { try ResultForm(header, options).check(decoded.image) }
            }
            var sizes = DecodedSizes(images: received.images)
            if let planes = received.planes, let report = received.images[0]?.report {
                sizes.reduced = try ReducedImage(
                    received: planes, DecodePlan(header, options[0]), report)
            }
            return sizes
        }
        collector.prepare(maximumByteCount: planesByteCount)
        return try decodeLocally(options, collector, cancellation)
    }

    private func decodeLocally(
        _ options: [DecodeOptions], _ collector: PlaneCollector, _ cancellation: CancellationFlag?
    ) throws(CodecError) -> DecodedSizes {
        let plan = DecodePlan(header, options[0])
        let further = options.dropFirst().map { options -> FurtherOutput? in
            let other = DecodePlan(header, options)
            return other.isDecoded(like: plan) ? FurtherOutput(options, other) : nil
        }
        let first = try decode(
            options[0], plan, profile: nil, cancellation, further.compactMap(\.self), collector)
        var images: [DecodedImage?] = [first]
        for output in further {
            guard let output, let image = output.finish() else {
                images.append(nil)
                continue
            }
            images.append(
                DecodedImage(
                    image: try codecs.finished(image, output.options, limits),
                    report: first.report))
        }
        let planes = first.report.problem == nil ? collector.finish() : nil
        return DecodedSizes(
            images: images, reduced: planes.map { ReducedImage($0, plan, first.report) })
    }

    /// Makes a result of the planes of an earlier decode, without the file.
    ///
    /// - Parameters:
    ///   - reduced: planes of this image.
    ///   - options: the size and the form of the result.
    /// - Returns: the image of ``decodedImage(_:cancellation:)``, or `nil` if its decoder would make other
    ///   planes.
    /// - Throws: ``CodecError``.
    public func resampled(
        _ reduced: ReducedImage, _ options: DecodeOptions
    ) throws(CodecError) -> DecodedImage? {
        let plan = DecodePlan(header, options)
        guard options.embeddedThumbnail == .ignore, reduced.serves(plan),
            plan.resultSize.largestSide <= limits.maximumSide
        else { return nil }
        let image = reduced.resampled(plan, header.colorProfile)
        return DecodedImage(
            image: try codecs.finished(image, options, limits), report: reduced.report)
    }
}

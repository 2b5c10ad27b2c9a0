// SPDX-License-Identifier: Apache-2.0

internal import HTTPCaching
internal import EncodedImages
internal import HTTPTypes
internal import HummingbirdCore
internal import ImageLoading
internal import NIOCore
internal import Pixels

/// Makes renditions and the responses with them, for all path grammars.
struct RenditionResponder: Sendable {
    let originals: Originals
    let pipeline: ImagePipeline
    let limits: RenditionLimits
    let queues: WorkQueues
    /// The watermark that options may request.
    let watermark: Watermark?
    /// The names of display pixel formats, whose renditions do not contain their size.
    let displayFormatNames: Set<String>

    /// Responds with a rendition of an original in the served folder.
    ///
    /// - Parameters:
    ///   - identity: the original.
    ///   - options: the complete options.
    ///   - request: the request, for its conditions.
    ///   - varying: the names of the headers that determined the options.
    ///   - more: additional headers.
    ///   - keep: receives a complete response before it is returned.
    /// - Returns: 200 with the rendition, or 304.
    /// - Throws: ``ServerError`` or ``ImageLoading/LoadError``.
    func response(
        _ identity: FileIdentity, _ options: RenditionOptions, _ request: IncomingRequest,
        varying: [String] = [], headers more: HTTPFields = [:],
        keep: HotResponder.Keep = { _, _, _ in }
    ) async throws -> Response {
        try checkWatermark(options)
        let validators = Validators(original: identity, made: made(identity, options))
        var headers = request.imageHeaders(identity, validators)
        headers.append(contentsOf: more)
        if !varying.isEmpty { headers[.vary] = varying.joined(separator: ", ") }
        let isNotModified = validators.isNotModified(request.headers)
        if isNotModified {
            // It needs no rendition, but the header is read: only images get a response.
            _ = try await originals.facts(identity)
            return .notModified(headers)
        }
        let rendition = try await rendition(of: identity, options, client: request.client)
        headers.append(contentsOf: self.headers(rendition, options))
        headers.addWarning(rendition.problem?.description)
        let body = ByteBuffer(bytes: rendition.bytes)
        keep(validators, headers, body)
        return .ok(body, headers)
    }

    /// Makes a rendition of an original in the served folder.
    ///
    /// - Parameters:
    ///   - identity: the original.
    ///   - options: the complete options.
    ///   - client: the client that waits for it.
    /// - Returns: the rendition of this version of the original.
    /// - Throws: ``ServerError`` or ``ImageLoading/LoadError``.
    func rendition(
        of identity: FileIdentity, _ options: RenditionOptions, client: RequestClient
    ) async throws -> Rendition {
        let usualCost = RenditionCost(usual: options, maximumSide: limits.maximumSide)
        let known =
            options.needsOriginalSize || usualCost == nil
            ? try await originals.facts(identity).pixelSize : nil
        let cost =
            try usualCost
            ?? known.map { size throws(ServerError) in
                try RenditionCost(options, of: size, maximumSide: limits.maximumSide)
            }
        try cost?.check(limits)
        let original = options.needsOriginalSize ? known : nil
        let decodeOptions = try options.decodeOptions(
            original: original, maximumSide: limits.maximumSide)
        let rendition = try await originals.reading(identity) {
            try await self.rendition(
                of: ImageRequest(file: identity, options: decodeOptions), original, options,
                isSlow: cost?.isHigh == true, client: client)
        }
        // The entity tag names the version of the original.
        guard rendition.original == OriginalVersion(identity) else {
            throw ServerError.originalChanged
        }
        return rendition
    }

    /// Responds with a rendition of a remote original, which the loader revalidates.
    ///
    /// - Parameters:
    ///   - url: the URL of the original.
    ///   - options: the complete options.
    ///   - request: the request, for its conditions.
    ///   - varying: the names of the headers that determined the options.
    /// - Returns: 200 with the rendition, or 304.
    /// - Throws: ``ServerError`` or ``ImageLoading/LoadError``.
    func response(
        _ url: HTTPURL, _ options: RenditionOptions, _ request: IncomingRequest, varying: [String]
    ) async throws -> Response {
        try checkWatermark(options)
        var image = ImageRequest(.url(url))
        image.trace = TraceContext(request.headers)
        let original = options.needsOriginalSize ? try await size(of: image, request.client) : nil
        image.options = try options.decodeOptions(
            original: original, maximumSide: limits.maximumSide)
        let cost = RenditionCost(usual: options, maximumSide: limits.maximumSide)
        if let original {
            try RenditionCost(options, of: original, maximumSide: limits.maximumSide).check(limits)
        } else if options.allowsEnlarging || !options.frame.isEmpty, cost == nil {
            // The size of the original, which would raise the limit, is unknown before it is loaded.
            try RenditionCost(
                options, of: PixelSize(width: 1, height: 1), maximumSide: limits.maximumSide
            ).check(limits)
        }
        let rendition = try await rendition(
            of: image, original, options, isSlow: cost == nil, client: request.client)
        // A tag of the bytes: the version of the original is unknown here.
        var fingerprint = Fingerprint()
        fingerprint.add(rendition.bytes)
        let validators = Validators(made: fingerprint.text)
        var headers = validators.fields
        headers[.cacheControl] = "public, max-age=600, stale-while-revalidate=86400"
        if !varying.isEmpty { headers[.vary] = varying.joined(separator: ", ") }
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        headers.append(contentsOf: self.headers(rendition, options))
        headers.addWarning(rendition.problem?.description, cacheControl: "public, max-age=60")
        return .ok(rendition.bytes, headers)
    }

    /// Returns the text that identifies a rendition, for its entity tag.
    private func made(_ identity: FileIdentity, _ options: RenditionOptions) -> String {
        let mark = options.frame.watermark == nil ? nil : watermark?.identity
        return "\(identity.version)-\(options.text)" + (mark.map { ",mark\($0)" } ?? "")
    }

    /// Checks that the server has the watermark that options request.
    private func checkWatermark(_ options: RenditionOptions) throws(ServerError) {
        guard options.frame.watermark != nil, watermark == nil else { return }
        throw .malformedRequest(
            reason: "this server has no watermark; its operator sets one with --watermark")
    }

    /// Returns the size of a remote original, which the pipeline keeps with a small copy.
    private func size(of image: ImageRequest, _ client: RequestClient) async throws -> PixelSize {
        var image = image
        image.options.box = PixelSize(width: 16, height: 16)
        let small = image
        return try await queues.usual.run(client.name) {
            try await pipeline.image(for: small).originalSize
        }
    }

    private func rendition(
        of image: ImageRequest, _ original: PixelSize?, _ options: RenditionOptions, isSlow: Bool,
        client: RequestClient
    ) async throws -> Rendition {
        var image = image
        var parts: [SampleRegion] = []
        if options.dependsOnContent, options.trimming == nil, let original,
            case .file(let path) = image.source
        {
            // Damaged metadata does not prevent a rendition.
            parts =
                (try? await pipeline.metadataFields(of: path))?.partsToKeep(of: original)
                ?? []
        }
        image.processors = try options.processors(
            original: original, maximumSide: limits.maximumSide, watermark: watermark?.overlay,
            keeping: parts)
        var request = RenditionRequest(
            image: image, format: options.format, animationFormat: options.animationFormat,
            encodeOptions: options.encodeOptions)
        request.keepsGainMap = !options.isSDR && options.tone == .color
        return try await (isSlow ? queues.slow : queues.usual).run(client.name) { [request] in
            try await pipeline.rendition(for: request)
        }
    }

    /// The headers of a rendition, with its size where the bytes do not contain it.
    private func headers(_ rendition: Rendition, _ options: RenditionOptions) -> HTTPFields {
        var headers: HTTPFields = [.contentType: rendition.mediaType]
        if options.format.map(displayFormatNames.contains) ?? false {
            headers[named: "X-Result-Width"] = "\(rendition.pixelSize.width)"
            headers[named: "X-Result-Height"] = "\(rendition.pixelSize.height)"
        }
        return headers
    }
}

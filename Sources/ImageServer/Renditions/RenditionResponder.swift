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
        let validators = Validators(original: identity, made: "\(identity.version)-\(options.text)")
        var headers = request.imageHeaders(identity, validators)
        headers.append(contentsOf: more)
        if !varying.isEmpty { headers[.vary] = varying.joined(separator: ", ") }
        let isNotModified = validators.isNotModified(request.headers)
        let usualCost = RenditionCost(usual: options, maximumSide: limits.maximumSide)
        // A 304 needs no rendition, but the header is read: only images get a response.
        let original =
            isNotModified || options.needsOriginalSize || usualCost == nil
            ? try await originals.facts(identity).pixelSize : nil
        if isNotModified { return .notModified(headers) }
        let cost =
            try usualCost
            ?? original.map { size throws(ServerError) in
                try RenditionCost(options, of: size, maximumSide: limits.maximumSide)
            }
        try cost?.check(limits)
        let decodeOptions = try options.decodeOptions(
            original: options.needsOriginalSize ? original : nil, maximumSide: limits.maximumSide)
        let rendition = try await originals.reading(identity) {
            try await self.rendition(
                of: ImageRequest(file: identity, options: decodeOptions), options,
                isSlow: cost?.isHigh == true, client: request.client)
        }
        // The entity tag names the version of the original.
        guard rendition.original == OriginalVersion(identity) else {
            throw ServerError.originalChanged
        }
        headers.append(contentsOf: self.headers(rendition, options))
        if rendition.problem != nil { headers[.cacheControl] = "public, no-cache" }
        let body = ByteBuffer(bytes: rendition.bytes)
        keep(validators, headers, body)
        return .ok(body, headers)
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
        var image = ImageRequest(
            .url(url),
            options: try options.decodeOptions(original: nil, maximumSide: limits.maximumSide))
        image.trace = TraceContext(request.headers)
        let cost = RenditionCost(usual: options, maximumSide: limits.maximumSide)
        if options.allowsEnlarging, cost == nil {
            // The size of the original, which would raise the limit, is unknown before it is loaded.
            try RenditionCost(
                options, of: PixelSize(width: 1, height: 1), maximumSide: limits.maximumSide
            ).check(limits)
        }
        let rendition = try await rendition(
            of: image, options, isSlow: cost == nil, client: request.client)
        // A tag of the bytes: the version of the original is unknown here.
        var fingerprint = Fingerprint()
        fingerprint.add(rendition.bytes)
        let validators = Validators(made: fingerprint.text)
        var headers = validators.fields
        headers[.cacheControl] = "public, max-age=600, stale-while-revalidate=86400"
        if !varying.isEmpty { headers[.vary] = varying.joined(separator: ", ") }
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        headers.append(contentsOf: self.headers(rendition, options))
        if rendition.problem != nil { headers[.cacheControl] = "public, max-age=60" }
        return .ok(rendition.bytes, headers)
    }

    private func rendition(
        of image: ImageRequest, _ options: RenditionOptions, isSlow: Bool, client: RequestClient
    ) async throws -> Rendition {
        var image = image
        image.processors = options.processors
        let request = RenditionRequest(
            image: image, format: options.format, animationFormat: options.animationFormat,
            encodeOptions: options.encodeOptions)
        return try await (isSlow ? queues.slow : queues.usual).run(client.name) {
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
        if let problem = rendition.problem { headers[named: "X-Image-Warning"] = "\(problem)" }
        return headers
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Drawing
internal import EncodedImages
internal import HTTPTypes
internal import HummingbirdCore
internal import ImageLoading
internal import LoadScheduling
internal import Pixels

/// Draws cards and makes the responses with them.
///
/// The images of a card are decoded by the pipeline at the size at which they are drawn. The drawing is
/// done where images are decoded, in the sandbox, since texts come from clients.
struct CardResponder: Sendable {
    /// Parameters of all cards that are not placeholders.
    private static let ownParameters: Set = ["scale", "format", "v", "expires", "signature"]
    private static let scales = 0.25...4.0

    let templates: CardTemplates
    let originals: Originals
    let pipeline: ImagePipeline
    let queues: WorkQueues
    let grammar: OptionGrammar
    let limits: RenditionLimits

    /// Responds with a card.
    ///
    /// - Parameters:
    ///   - card: the template.
    ///   - values: values of placeholders, which those of the query override.
    ///   - further: parameters of the route that are not placeholders.
    ///   - request: the request.
    /// - Returns: 200 with the card, or 304.
    /// - Throws: ``ServerError`` or ``ImageLoading/LoadError``.
    func response(
        _ card: CardTemplates.Entry, values: [String: String] = [:],
        parameters further: Set<String> = [], _ request: IncomingRequest
    ) async throws -> Response {
        let values = try self.values(card.template, values, further, request)
        let scale = try scale(request, card.template.size)
        let format = try format(request)
        let requests: [Template.ImageRequest]
        do throws(DrawingError) {
            requests = try card.template.imageRequests(values, scale: scale)
        } catch {
            throw ServerError.malformedRequest(reason: "\(error)")
        }
        var images: [CardLoader.Image] = []
        for request in requests {
            images.append(CardLoader.Image(request, try await identity(request)))
        }
        let loader = CardLoader(
            pipeline: pipeline,
            document: CardDocument(
                template: card.text, values: values, scale: scale, images: []), images: images,
            halvesChroma: format == "jpeg" || format == nil && card.template.isOpaque)
        let identity = loader.identity
        let validators = Validators(made: "\(identity)-\(format ?? "any")")
        var headers = validators.fields
        headers[.cacheControl] = "public, no-cache"
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        let rendition = try await queues.usual.run(request.client.name) {
            try await pipeline.rendition(
                for: RenditionRequest(
                    image: ImageRequest(.loader(loader, name: "card \(identity)")),
                    format: format))
        }
        return .ok(rendition.bytes, headers.with(.contentType, rendition.mediaType))
    }

    /// Returns the values of placeholders; a parameter that is none is an error.
    private func values(
        _ template: Template, _ given: [String: String], _ further: Set<String>,
        _ request: IncomingRequest
    ) throws(ServerError) -> [String: String] {
        var values = given
        let names = template.placeholders.union(template.values.keys)
        for (name, value) in request.http.uri.queryParameters {
            let name = String(name)
            guard names.contains(name) else {
                guard Self.ownParameters.contains(name) || further.contains(name) else {
                    throw .malformedRequest(
                        reason: "unknown parameter \(name); expected "
                            + names.union(further).union(["scale", "format"]).sorted().joined(
                                separator: ", "))
                }
                continue
            }
            values[name] = String(value)
        }
        return values
    }

    private func scale(
        _ request: IncomingRequest, _ size: PixelSize
    ) throws(ServerError) -> Double {
        guard let text = request.query("scale") else { return 1 }
        try grammar.checkOwnOptions()
        guard let scale = Double(text), Self.scales.contains(scale),
            Double(max(size.width, size.height)) * scale <= Double(limits.maximumSide),
            Double(size.area) * scale * scale <= Double(limits.maximumEnlargedPixelCount)
        else {
            throw .malformedRequest(
                reason: "invalid scale; expected a number from \(Self.scales.lowerBound) to "
                    + "\(Self.scales.upperBound), and at most "
                    + "\(limits.maximumEnlargedPixelCount) pixels")
        }
        // The document has thousandths.
        return (scale * 1000).rounded() / 1000
    }

    private func format(_ request: IncomingRequest) throws(ServerError) -> String? {
        guard let name = request.query("format") else { return nil }
        try grammar.checkOwnOptions()
        return try grammar.format(String(name))
    }

    /// Finds a fixed image beside the template, and one that a client names in the served folder.
    private func identity(_ request: Template.ImageRequest) async throws -> FileIdentity {
        guard request.isFixed else {
            guard let names = RequestPath.names(request.source) else { throw ServerError.notFound }
            return try await originals.identity(names)
        }
        let path = "\(templates.directory)/\(request.source)"
        do {
            return try await onDisk { try FileIdentity(path: path) }
        } catch {
            throw LoadError(decoding: path, .file(reason: "\(error)"))
        }
    }
}

/// Decodes the images of a card, and encodes the document that is drawn.
struct CardLoader: OriginalLoader {
    /// An image that the template requests, and the file that contains it.
    struct Image: Sendable {
        let request: Template.ImageRequest
        let file: FileIdentity

        init(_ request: Template.ImageRequest, _ file: FileIdentity) {
            self.request = request
            self.file = file
        }
    }

    let pipeline: ImagePipeline
    /// Without images.
    let document: CardDocument
    let images: [Image]
    /// Whether the card is encoded as JPEG, with chroma at half resolution, so that its images need no more.
    let halvesChroma: Bool

    /// Differs for every change of the template, the values and the images.
    var identity: String {
        var fingerprint = Fingerprint()
        fingerprint.add(document.bytes)
        fingerprint.add(halvesChroma ? "half" : "full")
        for image in images {
            fingerprint.add(image.file.path)
            fingerprint.add(image.file.version)
        }
        return fingerprint.text
    }

    func load(
        receive: @escaping @Sendable (OriginalLoadEvent) -> Void
    ) async throws(LoadError) -> [UInt8] {
        var document = document
        for image in images {
            var options = DecodeOptions()
            options.box = image.request.box
            options.mode = image.request.mode
            options.anchor = image.request.anchor
            options.acceptsYCbCr = halvesChroma
            var request = ImageRequest(file: image.file, options: options)
            request.isReproducible = true
            let loaded = try await pipeline.image(for: request)
            guard loaded.original == OriginalVersion(image.file) else {
                throw .fileChanged(path: image.file.path)
            }
            document.images.append(loaded.image.convertedFromYCbCr())
        }
        return document.bytes
    }
}

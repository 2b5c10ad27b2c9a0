// SPDX-License-Identifier: Apache-2.0

public import AssetCatalogs
internal import EncodedImages
internal import HTTPTypes
internal import HummingbirdCore
internal import ImageLoading
internal import LoadScheduling

/// A compiled asset catalog whose images URLs may request.
public struct ServedCatalog: Sendable {
    let catalog: CompiledCatalog
    /// The hash of the file, so that servers with the same file have the same entity tags.
    let version: String

    /// Maps a compiled file, and reads it once.
    ///
    /// - Throws: `AssetCatalogError`.
    public init(mapping path: String) throws(AssetCatalogError) {
        let bytes: EncodedBytes
        do throws(CodecError) {
            bytes = try EncodedBytes(mapping: path)
        } catch {
            throw .unreadable(path: path, reason: "\(error)")
        }
        catalog = try CompiledCatalog(bytes, path: path)
        var fingerprint = Fingerprint()
        bytes.forEachPiece { fingerprint.add($0) }
        version = fingerprint.text
        try catalog.checkUnchanged()
    }
}

/// Selects images of an asset catalog for clients, and makes the responses with them.
struct AssetResponder: Sendable {
    /// The parameters of all URLs, which select no variant.
    private static let ownParameters: Set = ["format", "v", "expires", "signature"]
    private static let scales = 1...8

    let assets: ServedCatalog
    let pipeline: ImagePipeline
    let queues: WorkQueues
    let grammar: OptionGrammar
    let negotiation: ContentNegotiation

    /// Responds with the variant of an image that suits the client best.
    ///
    /// - Parameters:
    ///   - name: the name of an image set.
    ///   - request: the request.
    /// - Returns: 200 with the image, or 304.
    /// - Throws: ``ServerError``, `AssetCatalogError` or `LoadError`.
    func response(_ name: String, _ request: IncomingRequest) async throws -> Response {
        let catalog = assets.catalog
        var varying: [String] = []
        let traits = try traits(request, &varying)
        guard let slot = try catalog.slot(.image, name, for: try catalog.query(traits)) else {
            throw ServerError.notFound
        }
        var encoding = EncodeOptions()
        // Icons are not encoded with loss, whatever the format.
        encoding.isLossless = try catalog.storage(of: slot)?.isWithoutCodec ?? false
        let format = try format(request, &varying) ?? (encoding.isLossless ? "png" : nil)
        let identity = "\(assets.version)-\(slot.identity)"
        let validators = Validators(made: "\(identity)-\(format ?? "any")")
        var headers = validators.fields
        // A URL with the version never returns another image.
        headers[.cacheControl] =
            request.query("v").map { $0 == assets.version } ?? false
            ? "public, max-age=31536000, immutable" : "public, no-cache"
        if !varying.isEmpty { headers[.vary] = varying.joined(separator: ", ") }
        if negotiation.usesClientHints {
            headers[named: "Accept-CH"] = ClientHints.acceptCHOfAssets
        }
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        let loader = AssetLoader(catalog: catalog, slot: slot, codecs: pipeline.codecs)
        let image = ImageRequest(.loader(loader, name: "asset \(identity)"))
        let rendition = try await queues.usual.run(request.client.name) { [encoding] in
            try await pipeline.rendition(
                for: RenditionRequest(image: image, format: format, encodeOptions: encoding))
        }
        return .ok(rendition.bytes, headers.with(.contentType, rendition.mediaType))
    }

    /// The traits of the query, and of client hints where the query leaves them open.
    private func traits(
        _ request: IncomingRequest, _ varying: inout [String]
    ) throws(ServerError) -> AssetTraits {
        var traits = AssetTraits()
        for (name, value) in request.http.uri.queryParameters {
            let value = String(value)
            switch name {
            case "scale": traits.scale = try Self.scale(value)
            case "appearance":
                traits.luminosity = try Self.value(value, of: name, ["light", "dark"])
            case "contrast": traits.contrast = try Self.value(value, of: name, ["high"])
            case "gamut": traits.gamut = try Self.value(value, of: name, ["sRGB", "display-P3"])
            case "direction":
                traits.direction = try Self.value(
                    value, of: name, ["left-to-right", "right-to-left"])
            case "idiom": traits.idiom = value
            case "locale": traits.locale = value
            default:
                guard Self.ownParameters.contains(String(name)) else {
                    throw .malformedRequest(
                        reason: "unknown parameter \(name); expected appearance, contrast, "
                            + "direction, format, gamut, idiom, locale, scale")
                }
            }
        }
        guard negotiation.usesClientHints else { return traits }
        let hints = ClientHints(request.headers)
        if traits.scale == nil {
            varying.append("Sec-CH-DPR")
            traits.scale = hints.density.map { Int($0.rounded(.up)) }
        }
        if traits.luminosity == nil {
            varying.append(ClientHints.colorSchemeName)
            traits.luminosity = hints.prefersDark ? "dark" : nil
        }
        return traits
    }

    private static func scale(_ text: String) throws(ServerError) -> Int {
        guard let scale = Int(text), scales.contains(scale) else {
            throw .malformedRequest(
                reason: "invalid scale; expected an integer from \(scales.lowerBound) to "
                    + "\(scales.upperBound)")
        }
        return scale
    }

    private static func value(
        _ value: String, of name: Substring, _ values: [String]
    ) throws(ServerError) -> String {
        guard values.contains(value) else {
            throw .malformedRequest(
                reason: "invalid \(name); expected \(values.joined(separator: " or "))")
        }
        return value
    }

    /// The format of the query, else the best one that the client accepts; `nil` leaves it open.
    private func format(
        _ request: IncomingRequest, _ varying: inout [String]
    ) throws(ServerError) -> String? {
        guard let name = request.query("format") else {
            guard !negotiation.formats.isEmpty else { return nil }
            varying.append("Accept")
            return AcceptedFormats(request.headers[.accept]).best(of: negotiation.formats)?.name
        }
        try grammar.checkOwnOptions()
        return try grammar.format(String(name))
    }
}

/// Loads the image of a slot as a file.
struct AssetLoader: OriginalLoader {
    let catalog: CompiledCatalog
    let slot: CompiledSlot
    let codecs: CodecSet

    func load(
        receive: @escaping @Sendable (OriginalLoadEvent) -> Void
    ) async throws(LoadError) -> [UInt8] {
        do throws(AssetCatalogError) {
            if try catalog.storage(of: slot)?.isWithoutCodec == false,
                let file = try catalog.data(of: slot)
            {
                return file
            }
            let image = try catalog.image(of: slot, codecs: codecs)
            do throws(CodecError) {
                return try ImageDestination(format: "png", codecs: codecs.decodedInProcess)
                    .encode(image)
            } catch {
                throw .image(path: catalog.path, reason: error)
            }
        } catch {
            throw .unreadable(path: catalog.path, reason: error.reason)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import HTTPTypes
internal import HummingbirdCore
internal import ImageLoading
internal import Pixels
internal import Placeholders

/// `GET /info/house/1.jpg`: size, format and metadata of an image as JSON.
struct InformationRoute: Route {
    let originals: Originals
    let pipeline: ImagePipeline

    var prefix: String? { "info" }
    var isForSelections: Bool { true }

    func response(to request: IncomingRequest) async throws -> Response {
        let names = request.segments.dropFirst()
        let identity = try await originals.identity(Array(names), for: request)
        let facts = try await originals.facts(identity)
        let validators = Validators(
            original: identity,
            tag: "\(identity.version)-info-\(facts.placeholder?.base64 ?? "")")
        let headers = request.imageHeaders(identity, validators)
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        let metadata = try await pipeline.metadataFields(of: identity.path)
        try await originals.checkCurrent(identity)
        return .json(
            ImageInformation(names.last ?? "", identity, facts, metadata), headers: headers)
    }
}

/// `GET /placeholder/house/1.jpg`: the ThumbHash of an image, as bytes or as JSON with a data URI.
struct PlaceholderRoute: Route {
    let originals: Originals
    let pipeline: ImagePipeline

    var prefix: String? { "placeholder" }
    var isForSelections: Bool { true }

    func response(to request: IncomingRequest) async throws -> Response {
        let format = request.query("format")
        guard format == nil || format == "json" else {
            throw ServerError.malformedRequest(reason: "invalid format; expected json or none")
        }
        let identity = try await originals.identity(
            Array(request.segments.dropFirst()), for: request)
        let hash = try await thumbHash(identity)
        let isJSON = format == "json"
        let validators = Validators(
            original: identity,
            tag: "\(identity.version)-placeholder-\(hash.base64)\(isJSON ? "-json" : "")")
        var headers = request.imageHeaders(identity, validators)
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        guard isJSON else {
            headers[.contentType] = "application/octet-stream"
            return .ok(hash.bytes, headers)
        }
        let destination = try ImageDestination(format: "png", codecs: pipeline.codecs)
        return .json(
            ["thumbhash": hash.base64, "uri": try destination.dataURI(hash.image())],
            headers: headers)
    }

    /// Returns the stored hash, otherwise makes one from a small image.
    private func thumbHash(_ identity: FileIdentity) async throws -> ThumbHash {
        if let stored = try await originals.facts(identity).placeholder { return stored }
        let image = try await pipeline.image(
            for: ImageRequest(file: identity, options: DecodeOptions(maximumSide: 96)))
        try await originals.checkCurrent(identity)
        return ThumbHash(image.image)
    }
}

/// The JSON object of `/info/…`; properties that the file does not contain are missing.
///
/// The GPS position is omitted for privacy.
private struct ImageInformation: Encodable {
    let name: String
    let format: String
    let mediaType: String
    let width: Int
    let height: Int
    let byteCount: Int
    /// The modification time in seconds since 1970.
    let modified: Int
    let version: String
    /// The ThumbHash in Base64; missing until a rendition has been made.
    let placeholder: String?
    var title: String?
    var camera: String?
    var lens: String?
    /// The exposure time in seconds.
    var exposure: Double?
    /// The f-number.
    var aperture: Double?
    var iso: Int?
    /// The focal length in millimetres.
    var focalLength: Double?
    var taken: String?
    var copyright: String?

    init(
        _ name: String, _ identity: FileIdentity, _ facts: ImageFacts, _ metadata: MetadataFields
    ) {
        self.name = name
        format = facts.formatName
        mediaType = facts.mediaType
        width = facts.pixelSize.width
        height = facts.pixelSize.height
        byteCount = identity.byteCount
        modified = identity.modificationTime / 1_000_000_000
        version = identity.version
        placeholder = facts.placeholder?.base64
        let exif = metadata.exif?.fields ?? EXIFFields()
        let xmp = metadata.xmp?.fields ?? XMPFields()
        title = xmp.title ?? exif.imageDescription
        camera = exif.cameraName
        lens = exif.lensName
        exposure = exif.exposureTime?.value
        aperture = exif.fNumber?.value
        iso = exif.iso
        focalLength = exif.focalLength?.value
        taken = exif.taken?.description ?? xmp.dateCreated
        copyright = xmp.rights ?? exif.copyright
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import ImageLoading
internal import Pixels
internal import Placeholders

/// What `/info/…` says of a picture; what the file does not state is missing.
///
/// Where the picture was taken is nobody's business.
struct PictureInformation: Encodable {
    let name: String
    let format: String
    let mediaType: String
    let width: Int
    let height: Int
    let byteCount: Int
    /// Seconds since 1970.
    let modified: Int
    let version: String
    /// The same in every answer, or missing until a rendition has been made.
    let placeholder: String?
    var title: String?
    var camera: String?
    var lens: String?
    /// Seconds.
    var exposure: Double?
    /// The f-number.
    var aperture: Double?
    var iso: Int?
    /// Millimetres.
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

extension ImageResponder {
    /// `GET /info/house/1.jpg` answers what is known of a picture, as JSON.
    func information(_ names: [String], _ request: Request) async throws -> Response {
        let identity = try await disk { [photos] in try photos.original(names) }
        let facts = try await facts(of: identity)
        let validators = Validators(
            original: identity,
            tag: "\(identity.version)-info-\(facts.placeholder?.base64 ?? "")")
        let headers = pictureHeaders(identity, validators, request)
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        let metadata = try await pipeline.metadataFields(of: identity.path)
        try await checkCurrent(identity)
        return .json(
            PictureInformation(names.last ?? "", identity, facts, metadata), headers: headers)
    }

    /// `GET /placeholder/house/1.jpg` answers the picture's ThumbHash: its bytes, or as JSON the
    /// hash in Base64 and the address of a picture that it makes.
    func placeholder(_ names: [String], _ request: Request) async throws -> Response {
        let format = request.uri.queryParameters["format"]
        guard format == nil || format == "json" else {
            throw ServerError.malformedRequest(reason: "the format is json, or is left out")
        }
        let identity = try await disk { [photos] in try photos.original(names) }
        let hash = try await thumbHash(of: identity)
        let isJSON = format == "json"
        let validators = Validators(
            original: identity,
            tag: "\(identity.version)-placeholder-\(hash.base64)\(isJSON ? "-json" : "")")
        var headers = pictureHeaders(identity, validators, request)
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        guard isJSON else {
            headers[.contentType] = "application/octet-stream"
            return Response(
                status: .ok, headers: headers,
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: hash.bytes)))
        }
        let destination = try ImageDestination(format: "png", codecs: pipeline.codecs)
        return .json(
            ["thumbhash": hash.base64, "uri": try destination.dataURI(hash.image())],
            headers: headers)
    }

    /// The one that is kept, else one that is made from a small picture.
    private func thumbHash(of identity: FileIdentity) async throws -> ThumbHash {
        if let kept = try await facts(of: identity).placeholder { return kept }
        let image = try await pipeline.image(
            for: ImageRequest(
                path: identity.path, options: DecodeOptions(maximumSide: 96)))
        try await checkCurrent(identity)
        return ThumbHash(image.image)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import HTTPTypes
internal import HummingbirdCore
internal import ImageLoading
internal import Pixels

extension ImageResponder {
    /// `GET /iiif/3/house%2F1.jpg/full/512,/0/default.jpg` answers as the IIIF Image API says.
    ///
    /// `segments` are those of the path after `iiif`, as they were sent: the identifier is a path of
    /// its own, whose slashes are written `%2F`.
    func iiif(_ segments: ArraySlice<Substring.UTF8View>, _ request: Request) async throws
        -> Response
    {
        var rest = segments
        guard
            let version = rest.popFirst().flatMap({
                IIIFAddress.Version(rawValue: "\(Substring($0))")
            }),
            let identifier = rest.popFirst().flatMap(RequestPath.decoded),
            let names = RequestPath.names(identifier),
            case let parameters = rest.map(RequestPath.decoded),
            let address = IIIFAddress(parameters.compactMap { $0 }),
            !parameters.contains(nil)
        else { throw ServerError.notFound }
        try checkOwnOptions()
        let name = segments.dropFirst().first.map { String(Substring($0)) } ?? ""
        let path = "/iiif/\(version.rawValue)/\(name)"
        // Without the server's name, which would be the client's word in an answer for everybody.
        let base = "\(configuration.publicAddress ?? "")\(path)"
        switch address {
        case .base:
            _ = try await disk { [photos] in try photos.original(names) }
            return Response(
                status: .seeOther,
                headers: [
                    .location: "\(publicAddress(request))\(path)/info.json",
                    .cacheControl: addressSharing,
                ])
        case .information:
            return try await information(version, names, path, request)
        case .image(let wanted):
            let identity = try await disk { [photos] in try photos.original(names) }
            let meaning = try wanted.meaning(
                version, of: try await facts(of: identity).pixelSize,
                maximumSide: configuration.maximumSide, formats: formatNames)
            var headers: HTTPFields = [:]
            headers[named: "Link"] =
                "<\(base)/\(meaning.canonical)>;rel=\"canonical\", "
                + "<\(version.profileAddress)>;rel=\"profile\""
            if let tile = try await tile(meaning, of: identity, request, headers) { return tile }
            return try await answer(
                identity, withUsualQuality(meaning.options), request, headers: headers)
        }
    }

    private func information(
        _ version: IIIFAddress.Version, _ names: [String], _ path: String, _ request: Request
    ) async throws -> Response {
        let identity = try await disk { [photos] in try photos.original(names) }
        let size = try await facts(of: identity).pixelSize
        let isLinked = request.headers[.accept]?.contains("application/ld+json") == true
        let validators = Validators(
            original: identity, tag: "\(identity.version)-info\(version.rawValue)\(isLinked)")
        var headers = validators.fields
        headers[.cacheControl] = addressSharing
        headers[.vary] = "Accept"
        headers[named: "Link"] = "<\(version.profileAddress)>;rel=\"profile\""
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        let information = IIIFInformation(
            version, address: publicAddress(request) + path, size: size,
            maximumSide: configuration.maximumSide,
            tileSide: TileImages.tileSide)
        var response = Response.json(information, headers: headers)
        if isLinked {
            response.headers[.contentType] =
                "application/ld+json;profile=\"\(version.contextAddress)\""
        }
        return response
    }

    /// Where clients find this server.
    ///
    /// What a header such as `X-Forwarded-Host` says is not believed; `Host` names the server to
    /// whoever sent it, and to nobody else: an answer that says it is `private`.
    private func publicAddress(_ request: Request) -> String {
        configuration.publicAddress
            ?? "\(request.head.scheme ?? "http")://\(request.head.authority ?? "localhost")"
    }

    /// Who may keep an answer that says the public address.
    private var addressSharing: String {
        configuration.publicAddress == nil ? "private, no-cache" : "public, no-cache"
    }
}

extension IIIFAddress.Version {
    var contextAddress: String { "http://iiif.io/api/image/\(rawValue)/context.json" }
    var profileAddress: String { "http://iiif.io/api/image/\(rawValue)/level2.json" }
}

/// What `info.json` says of a picture.
struct IIIFInformation: Encodable {
    struct Size: Encodable {
        let width: Int
        let height: Int
    }

    struct Tiles: Encodable {
        let width: Int
        let scaleFactors: [Int]
    }

    private let version: IIIFAddress.Version
    private let address: String
    private let size: PixelSize
    private let maximumSide: Int
    private let sizes: [Size]
    private let tiles: Tiles

    init(
        _ version: IIIFAddress.Version, address: String, size: PixelSize, maximumSide: Int,
        tileSide: Int
    ) {
        self.version = version
        self.address = address
        self.size = size
        self.maximumSide = maximumSide
        let pyramid = TilePyramid(size, tileSide: tileSide)
        sizes = (0..<pyramid.levelCount).reversed().map(pyramid.size(ofLevel:))
            .filter { $0.largestSide <= maximumSide }
            .map { Size(width: $0.width, height: $0.height) }
        tiles = Tiles(width: tileSide, scaleFactors: pyramid.scaleFactors)
    }

    private enum Key: String, CodingKey {
        case context = "@context"
        case oldIdentifier = "@id"
        case identifier = "id"
        case type, `protocol`, profile, width, height, maxWidth, maxHeight, sizes, tiles
        case extraQualities, extraFormats, extraFeatures
        case formats, qualities, supports
    }

    private static let qualities = ["color", "gray", "bitonal"]
    private static let features = [
        "baseUriRedirect", "canonicalLinkHeader", "cors", "jsonldMediaType", "mirroring",
        "profileLinkHeader", "regionByPct", "regionByPx", "regionSquare", "rotationBy90s",
        "sizeByConfinedWh", "sizeByH", "sizeByPct", "sizeByW", "sizeByWh",
    ]

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(version.contextAddress, forKey: .context)
        try object.encode("http://iiif.io/api/image", forKey: .protocol)
        try object.encode(size.width, forKey: .width)
        try object.encode(size.height, forKey: .height)
        try object.encode(sizes, forKey: .sizes)
        try object.encode([tiles], forKey: .tiles)
        switch version {
        case .three:
            try object.encode(address, forKey: .identifier)
            try object.encode("ImageService3", forKey: .type)
            try object.encode("level2", forKey: .profile)
            if size.largestSide > maximumSide {
                try object.encode(maximumSide, forKey: .maxWidth)
                try object.encode(maximumSide, forKey: .maxHeight)
            }
            try object.encode(Self.qualities, forKey: .extraQualities)
            try object.encode(["webp", "tif", "gif"], forKey: .extraFormats)
            try object.encode(Self.features + ["sizeUpscaling"], forKey: .extraFeatures)
        case .two:
            try object.encode(address, forKey: .oldIdentifier)
            var profile = object.nestedUnkeyedContainer(forKey: .profile)
            try profile.encode(version.profileAddress)
            var more = profile.nestedContainer(keyedBy: Key.self)
            try more.encode(["webp", "tif", "gif"], forKey: .formats)
            try more.encode(Self.qualities, forKey: .qualities)
            try more.encode(Self.features + ["sizeAboveFull"], forKey: .supports)
            if size.largestSide > maximumSide {
                try more.encode(maximumSide, forKey: .maxWidth)
                try more.encode(maximumSide, forKey: .maxHeight)
            }
        }
    }
}

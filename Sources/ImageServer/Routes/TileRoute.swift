// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import ImageLoading
internal import Pixels

extension ImageResponder {
    /// `GET /tiles/house/1.jpg.dzi` and `/tiles/house/1.jpg_files/12/3_4.jpg` answer as Deep Zoom
    /// says; `/tiles/house/1.jpg.json` says the same as the former.
    func tiles(_ names: [String], _ request: Request) async throws -> Response {
        guard let name = names.last else { throw ServerError.notFound }
        for suffix in [".dzi", ".json"] where name.hasSuffix(suffix) && name != suffix {
            let names = names.dropLast() + [String(name.dropLast(suffix.count))]
            return try await pyramid(Array(names), isXML: suffix == ".dzi", request)
        }
        guard names.count >= 3, let folder = names.dropLast(2).last, folder.hasSuffix("_files"),
            let level = Int(names[names.count - 2]), let place = Self.place(name)
        else { throw ServerError.notFound }
        let picture = names.dropLast(3) + [String(folder.dropLast("_files".count))]
        let identity = try await disk { [photos] in try photos.original(Array(picture)) }
        let image = try await tiledImage(identity)
        guard let own = image.pyramid.level(ofDeepZoomLevel: level) else {
            throw ServerError.notFound
        }
        return try await tile(
            TileAddress(level: own, x: place.x, y: place.y), of: image, identity, request)
    }

    /// The column and the row in `3_4.jpg`.
    private static func place(_ name: String) -> (x: Int, y: Int)? {
        guard let dot = name.lastIndex(of: "."),
            ["jpg", "jpeg", "png"].contains(name[dot...].dropFirst())
        else { return nil }
        let numbers = name[..<dot].split(separator: "_", omittingEmptySubsequences: false)
        guard numbers.count == 2,
            numbers.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(\.isDigit) }),
            let x = Int(numbers[0]), let y = Int(numbers[1])
        else { return nil }
        return (x, y)
    }

    private func pyramid(
        _ names: [String], isXML: Bool, _ request: Request
    ) async throws -> Response {
        let identity = try await disk { [photos] in try photos.original(names) }
        let pyramid = TilePyramid(
            try await facts(of: identity).pixelSize, tileSide: TileImages.tileSide,
            endsInOnePixel: true)
        let validators = Validators(
            original: identity, tag: "\(identity.version)-pyramid\(isXML ? "x" : "j")")
        var headers = pictureHeaders(identity, validators, request)
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        guard isXML else { return .json(PyramidDescription(pyramid), headers: headers) }
        headers[.contentType] = "application/xml"
        let text = pyramid.deepZoomDescriptor(format: "jpg")
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    /// The tile that an address of the IIIF API means, if it means one.
    func tile(
        _ meaning: IIIFAddress.Request.Meaning, of identity: FileIdentity, _ request: Request,
        _ more: HTTPFields
    ) async throws -> Response? {
        var plain = PictureOptions()
        (plain.region, plain.width, plain.height) = (
            meaning.options.region, meaning.options.width, meaning.options.height
        )
        (plain.mode, plain.allowsEnlarging, plain.format) = (.stretch, true, "jpeg")
        guard meaning.options == plain, case .pixels(let region) = plain.region,
            let width = plain.width, let height = plain.height
        else { return nil }
        let image = try await tiledImage(identity)
        let size = PixelSize(width: width, height: height)
        guard let address = image.pyramid.tile(region: region, size: size) else { return nil }
        return try await tile(address, of: image, identity, request, more)
    }

    private func tile(
        _ address: TileAddress, of image: TiledImage, _ identity: FileIdentity,
        _ request: Request, _ more: HTTPFields = [:]
    ) async throws -> Response {
        guard image.pyramid.contains(address) else { throw ServerError.notFound }
        let validators = Validators(
            original: identity,
            made: "\(identity.version)-tile\(address.level),\(address.x),\(address.y)")
        var headers = pictureHeaders(identity, validators, request)
        headers.append(contentsOf: more)
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        let tile = try await image.encodedTile(address)
        headers[.contentType] = tile.mediaType
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: tile.bytes)))
    }

    private func tiledImage(_ identity: FileIdentity) async throws -> TiledImage {
        // A file that is no picture is told from its facts, which are known already.
        _ = try await facts(of: identity)
        return try await disk { [tileImages] in try tileImages.image(identity) }
    }
}

/// What `.dzi` says, for scripts.
private struct PyramidDescription: Encodable {
    let width: Int
    let height: Int
    let tileSize: Int
    let overlap = 0
    let levels: Int
    let format = "jpg"

    init(_ pyramid: TilePyramid) {
        width = pyramid.size.width
        height = pyramid.size.height
        tileSize = pyramid.tileSide
        levels = pyramid.levelCount
    }

    private enum CodingKeys: String, CodingKey {
        case width, height, tileSize, overlap, levels, format
    }
}

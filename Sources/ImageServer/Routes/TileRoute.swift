// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import ImageLoading
internal import Pixels

/// Deep Zoom: `GET /tiles/house/1.jpg.dzi` returns the descriptor, `…/1.jpg.json` the same as JSON, and
/// `/tiles/house/1.jpg_files/12/3_4.jpg` a tile.
struct TileRoute: Route {
    let originals: Originals
    let tiles: TileResponder
    let hot: HotResponder

    var prefix: String? { "tiles" }
    var isForSelections: Bool { true }

    func response(to request: IncomingRequest) async throws -> Response {
        let names = Array(request.segments.dropFirst())
        guard let name = names.last else { throw ServerError.notFound }
        for suffix in [".dzi", ".json"] where name.hasSuffix(suffix) && name != suffix {
            let names = names.dropLast() + [String(name.dropLast(suffix.count))]
            return try await descriptor(Array(names), isXML: suffix == ".dzi", request)
        }
        guard names.count >= 3, let folder = names.dropLast(2).last, folder.hasSuffix("_files"),
            let level = Int(names[names.count - 2]), let position = Self.position(name)
        else { throw ServerError.notFound }
        let original = names.dropLast(3) + [String(folder.dropLast("_files".count))]
        return try await hot.response(Array(original), request) { identity, keep in
            let image = try await tiles.image(identity)
            guard let own = image.pyramid.level(ofDeepZoomLevel: level) else {
                throw ServerError.notFound
            }
            return try await tiles.response(
                TileAddress(level: own, x: position.x, y: position.y), of: image, identity,
                request, keep: keep)
        }
    }

    /// Parses the column and the row of a file name such as `3_4.jpg`.
    private static func position(_ name: String) -> (x: Int, y: Int)? {
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

    private func descriptor(
        _ names: [String], isXML: Bool, _ request: IncomingRequest
    ) async throws -> Response {
        let identity = try await originals.identity(names, for: request)
        let pyramid = TilePyramid(
            try await originals.facts(identity).pixelSize, tileSide: TileImages.tileSide,
            endsInOnePixel: true)
        let validators = Validators(
            original: identity, tag: "\(identity.version)-pyramid\(isXML ? "x" : "j")")
        var headers = request.imageHeaders(identity, validators)
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        guard isXML else { return .json(PyramidDescription(pyramid), headers: headers) }
        headers[.contentType] = "application/xml"
        return .ok(pyramid.deepZoomDescriptor(format: "jpg"), headers)
    }
}

/// The JSON form of a Deep Zoom descriptor.
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

// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import ImageLoading
internal import NIOCore

/// Makes the responses with tiles, for Deep Zoom and IIIF.
struct TileResponder: Sendable {
    let originals: Originals
    let images: TileImages

    /// Returns the tiles of an original.
    ///
    /// - Throws: ``ServerError`` or ``ImageLoading/LoadError``.
    func image(_ identity: FileIdentity) async throws -> TiledImage {
        if let image = images.openImage(identity) { return image }
        // Rejects other files by their facts, which are usually stored.
        _ = try await originals.facts(identity)
        return try await onDisk { [images] in try images.image(identity) }
    }

    /// Responds with one tile.
    ///
    /// - Parameters:
    ///   - address: the level, column and row.
    ///   - image: the tiles of the original.
    ///   - identity: the original.
    ///   - request: the request, for its conditions.
    ///   - more: additional headers.
    ///   - keep: receives a complete response before it is returned.
    /// - Returns: 200 with the tile, or 304.
    /// - Throws: ``ServerError/notFound`` if there is no such tile, or ``ImageLoading/LoadError``.
    func response(
        _ address: TileAddress, of image: TiledImage, _ identity: FileIdentity,
        _ request: IncomingRequest, headers more: HTTPFields = [:], keep: HotResponder.Keep
    ) async throws -> Response {
        guard image.pyramid.contains(address) else { throw ServerError.notFound }
        let validators = Validators(
            original: identity,
            made: "\(identity.version)-tile\(address.level),\(address.x),\(address.y)")
        var headers = request.imageHeaders(identity, validators)
        headers.append(contentsOf: more)
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        let tile = try await image.encodedTile(address)
        headers[.contentType] = tile.mediaType
        headers.addWarning(tile.problem)
        let body = ByteBuffer(bytes: tile.bytes)
        keep(validators, headers, body)
        return .ok(body, headers)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import EncodedImages
internal import HTTPTypes
internal import HummingbirdCore
internal import ImageLoading

/// `GET /house/1.jpg`: an original, or a range of its bytes.
struct OriginalRoute: Route {
    /// SVG files may contain scripts, which must not run in the origin of this server.
    private static let contentSecurityPolicy =
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; sandbox"

    let originals: Originals
    let outgoing: OutgoingBytes

    var isForSelections: Bool { true }

    func matches(_ request: IncomingRequest) -> Bool {
        guard let path = request.path, let first = path.segments.first else { return false }
        return first != "-" && !path.endsWithSlash
    }

    func response(to request: IncomingRequest) async throws -> Response {
        let identity = try await originals.identity(request.segments, for: request)
        let facts: ImageFacts
        do {
            facts = try await originals.facts(identity)
        } catch LoadError.decodingFailed(_, .unknownFormat), LoadError.decodingFailed(_, .empty),
            LoadError.decodingFailed(_, .notBuiltIn)
        {
            // Other files look like missing ones.
            throw ServerError.notFound
        }
        let validators = Validators(original: identity, tag: identity.version)
        var headers = request.imageHeaders(identity, validators)
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        headers[.contentType] = facts.mediaType
        headers[.acceptRanges] = "bytes"
        headers[.contentSecurityPolicy] = Self.contentSecurityPolicy

        let range = validators.allowsRange(request.headers) ? request.headers[.range] : nil
        switch ByteRange(range, byteCount: identity.byteCount) {
        case .whole:
            return Response(
                status: .ok, headers: headers,
                body: try await body(identity, 0..<identity.byteCount, request))
        case .part(let range):
            headers[.contentRange] =
                "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(identity.byteCount)"
            return Response(
                status: .partialContent, headers: headers,
                body: try await body(identity, range, request))
        case .unsatisfiable:
            throw ServerError.rangeNotSatisfiable(byteCount: identity.byteCount)
        }
    }

    /// A body with a range of the file; for `HEAD` only its length.
    private func body(
        _ identity: FileIdentity, _ range: Range<Int>, _ request: IncomingRequest
    ) async throws -> ResponseBody {
        guard request.method != .head else {
            return ResponseBody(contentLength: range.count) { _ in }
        }
        guard let stream = outgoing.stream() else { throw LoadError.queueFull }
        let file = try await onDisk { try OriginalFile(identity) }
        return file.body(range, stream, over: request.client.channel)
    }
}

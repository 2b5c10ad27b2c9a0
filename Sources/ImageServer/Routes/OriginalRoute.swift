// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import HTTPCaching
internal import HTTPTypes
internal import HummingbirdCore
internal import ImageLoading
internal import LoadScheduling
internal import NIOPosix

extension ImageResponder {
    /// A drawing may hold scripts, and would run them as a page of this server's.
    private static let originalPolicy =
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; sandbox"

    /// `GET /house/1.jpg` answers the original, or one part of it, as it lies on the disk.
    func original(_ segments: [String], _ request: Request) async throws -> Response {
        let identity = try await disk { [photos] in try photos.original(segments) }
        let facts: ImageFacts
        do {
            facts = try await self.facts(of: identity)
        } catch LoadError.decodingFailed(_, .unknownFormat) {
            // Only pictures are served; whether something else is there is nobody's business.
            throw ServerError.notFound
        }
        let validators = Validators(original: identity, tag: identity.version)
        var headers = pictureHeaders(identity, validators, request)
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        headers[.contentType] = facts.mediaType
        headers[.acceptRanges] = "bytes"
        headers[.contentSecurityPolicy] = Self.originalPolicy

        let wanted = validators.allowsRange(request.headers) ? request.headers[.range] : nil
        switch ByteRange(wanted, byteCount: identity.byteCount) {
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

    /// The bytes of a part of an original, for `HEAD` only their number.
    private func body(
        _ identity: FileIdentity, _ range: Range<Int>, _ request: Request
    ) async throws -> ResponseBody {
        guard request.method != .head else {
            return ResponseBody(contentLength: range.count) { _ in }
        }
        guard let stream = outgoing.stream() else { throw LoadError.queueFull }
        let file = try await disk { try OriginalFile(identity) }
        return file.body(range, stream, over: RequestClient.current.channel)
    }

    /// What the picture's header says; an error if it is none.
    func facts(of identity: FileIdentity) async throws -> ImageFacts {
        try await reading(identity) {
            guard let facts = await pipeline.facts(for: [identity]).first else {
                throw LoadError.cancelled
            }
            return try facts.get()
        }
    }

    /// What the original and its renditions have in common.
    func pictureHeaders(
        _ identity: FileIdentity, _ validators: Validators, _ request: Request
    ) -> HTTPFields {
        var headers = validators.fields
        // An address that names the version never shows another picture.
        let isImmutable =
            request.uri.queryParameters["v"].map { $0 == identity.version } ?? false
        headers[.cacheControl] =
            isImmutable ? "public, max-age=31536000, immutable" : "public, no-cache"
        return headers
    }
}

extension Validators {
    init(original identity: FileIdentity, tag: String) {
        self.init(
            tag: tag, modified: HTTPDate(seconds: identity.modificationTime / 1_000_000_000))
    }

    init(original identity: FileIdentity, made tag: String) {
        self.init(
            made: tag, modified: HTTPDate(seconds: identity.modificationTime / 1_000_000_000))
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import HTTPTypes
internal import HummingbirdCore
internal import ImageLoading
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
            let file = try await disk { try OriginalFile(identity) }
            return Response(
                status: .ok, headers: headers, body: file.body(0..<identity.byteCount))
        case .part(let range):
            headers[.contentRange] =
                "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(identity.byteCount)"
            let file = try await disk { try OriginalFile(identity) }
            return Response(status: .partialContent, headers: headers, body: file.body(range))
        case .unsatisfiable:
            throw ServerError.rangeNotSatisfiable(byteCount: identity.byteCount)
        }
    }

    /// What the picture's header says; an error if it is none.
    func facts(of identity: FileIdentity) async throws -> ImageFacts {
        guard let facts = await pipeline.facts(for: [identity]).first else {
            throw LoadError.cancelled
        }
        return try facts.get()
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
}

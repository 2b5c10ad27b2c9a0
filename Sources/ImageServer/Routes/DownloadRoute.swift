// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import HTTPTypes
internal import HummingbirdCore
internal import ImageLoading
internal import LoadScheduling
internal import PhotoLibrary

/// `POST /-/download` with `{"images": ["house/1.jpg"], "size": null}`: the URL of a ZIP archive, which
/// `GET /-/download/TOKEN.zip` returns while it is sent.
///
/// An archive of originals may be requested in parts; others have an unknown length. With `"sidecars": true`,
/// it contains the XMP sidecars of those images that the user has marked.
struct DownloadRoute: Route {
    private struct Order: Decodable {
        let images: [String]
        let size: String?
        let sidecars: Bool?
    }

    private struct Place: Encodable {
        let url: String
    }

    private static let suffix = ".zip"

    let downloads: Downloads
    let originals: Originals
    let renditions: RenditionResponder
    let negotiation: ContentNegotiation
    let grammar: OptionGrammar
    let outgoing: OutgoingBytes
    let limiter: ClientRateLimit?
    /// `nil` if the server has no index, which has the marks.
    let library: PhotoLibrary?

    let methods: [HTTPRequest.Method] = [.get, .head, .post]
    var isForSelections: Bool { true }

    func matches(_ request: IncomingRequest) -> Bool {
        let names = request.segments
        return (2...3).contains(names.count) && names.starts(with: ["-", "download"])
    }

    func methods(for request: IncomingRequest) -> [HTTPRequest.Method] {
        request.segments.count == 2 ? [.post] : [.get, .head]
    }

    func response(to request: IncomingRequest) async throws -> Response {
        if request.method == .post { return try await order(request) }
        let name = request.segments[2]
        guard name.hasSuffix(Self.suffix),
            let selection = downloads[String(name.dropLast(Self.suffix.count))]
        else { throw ServerError.notFound }
        guard let stream = outgoing.stream() else { throw LoadError.queueFull }
        let headers: HTTPFields = [
            .contentType: "application/zip", .cacheControl: "private, no-store",
            .contentDisposition: "attachment; filename=\"images.zip\"",
        ]
        switch selection.contents {
        case .originals: return try archive(ofOriginals: selection, stream, headers, request)
        case .renditions(let options):
            let pieces = MadePieces(selection, stream) { [renditions] file in
                try await Self.rendition(file.identity, options, renditions, request.client)
            }
            return archive(pieces, headers, request)
        case .sidecars:
            let pieces = MadePieces(selection, stream) { [originals] file in
                try await originals.sidecar(of: file).map { ($0, "xmp") }
            }
            return archive(pieces, headers, request)
        }
    }

    private func archive(
        _ pieces: MadePieces, _ headers: HTTPFields, _ request: IncomingRequest
    ) -> Response {
        Response(
            status: .ok, headers: headers,
            body: request.method == .head
                ? ResponseBody { _ in }
                : pieceByPiece(pieces, byteCount: nil, over: request.client.channel))
    }

    private func order(_ request: IncomingRequest) async throws -> Response {
        try request.checkIsOwn()
        let order: Order = try await request.body(
            "images, an array of at least one path, and size, such as 2048x2048 or null")
        guard (1...Downloads.maximumFileCount).contains(order.images.count) else {
            throw ServerError.malformedRequest(
                reason: "an archive has 1 to \(Downloads.maximumFileCount) images")
        }
        limiter?.charge(
            request.client.name, Double(order.images.count) / ListingRoute.imageCountPerToken)
        let selection =
            order.sidecars == true
            ? try await sidecars(order.images, request) : try await images(order, request)
        let token = downloads.add(selection)
        return .json(
            Place(url: "/-/download/\(token)\(Self.suffix)"),
            headers: [.cacheControl: "no-store"])
    }

    private func images(
        _ order: Order, _ request: IncomingRequest
    ) async throws -> Downloads.Selection {
        var contents = Downloads.Selection.Contents.originals
        if let size = order.size {
            guard let requested = try grammar.options(size), !requested.leavesWidthOpen else {
                throw ServerError.malformedRequest(reason: "invalid size: \(size)")
            }
            contents = .renditions(negotiation.withDefaultQuality(requested))
        }
        var files: [Downloads.Selection.File] = []
        for path in order.images {
            guard let names = RequestPath.names(path) else { throw ServerError.notFound }
            let identity = try await originals.identity(names, for: request)
            files.append(.init(name: path, identity: identity))
        }
        for result in await renditions.pipeline.facts(for: files.map(\.identity)) {
            // Other files look like missing ones.
            switch result {
            case .failure(.decodingFailed(_, .unknownFormat)), .failure(.decodingFailed(_, .empty)):
                throw ServerError.notFound
            default: break
            }
        }
        return Downloads.Selection(files, contents)
    }

    private func sidecars(
        _ paths: [String], _ request: IncomingRequest
    ) async throws -> Downloads.Selection {
        // Guests may not read the files beside the images.
        guard request.permission == .everything, let library,
            let marks = try await library.marks(of: paths)
        else { throw ServerError.notFound }
        let files = zip(paths, marks).compactMap { path, known in
            known.mark.isEmpty
                ? nil
                : Downloads.Selection.File(
                    name: XMPSidecar.path(of: path), identity: known.identity, mark: known.mark)
        }
        guard !files.isEmpty else {
            throw ServerError.malformedRequest(
                reason: "no sidecars; none of the images was rated or marked as a favourite")
        }
        return Downloads.Selection(files, .sidecars)
    }

    private func archive(
        ofOriginals selection: Downloads.Selection, _ stream: OutgoingBytes.Stream,
        _ headers: HTTPFields, _ request: IncomingRequest
    ) throws -> Response {
        let layout = ArchiveLayout(selection.files)
        var fingerprint = Fingerprint()
        for file in selection.files {
            fingerprint.add(file.name)
            fingerprint.add(file.identity.version)
        }
        let validators = Validators(tag: fingerprint.text)
        var headers = headers
        headers.append(contentsOf: validators.fields)
        headers[.acceptRanges] = "bytes"
        let body = { (range: Range<Int>) in
            request.method == .head
                ? ResponseBody(contentLength: range.count) { _ in }
                : pieceByPiece(
                    OriginalPieces(selection, layout, range, stream), byteCount: range.count,
                    over: request.client.channel)
        }
        let range = validators.allowsRange(request.headers) ? request.headers[.range] : nil
        switch ByteRange(range, byteCount: layout.byteCount) {
        case .whole:
            return Response(status: .ok, headers: headers, body: body(0..<layout.byteCount))
        case .part(let part):
            headers[.contentRange] =
                "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(layout.byteCount)"
            return Response(status: .partialContent, headers: headers, body: body(part))
        case .unsatisfiable:
            throw ServerError.rangeNotSatisfiable(byteCount: layout.byteCount)
        }
    }

    /// Makes a rendition for an archive; `nil` for an image that cannot be read.
    private static func rendition(
        _ identity: FileIdentity, _ options: RenditionOptions, _ renditions: RenditionResponder,
        _ client: RequestClient
    ) async throws -> (bytes: [UInt8], fileExtension: String)? {
        do {
            let made = try await renditions.rendition(of: identity, options, client: client)
            let format = renditions.pipeline.codecs.codecs.map(\.format).first {
                $0.mediaType == made.mediaType
            }
            return (made.bytes, format?.extensions.first ?? "jpg")
        } catch {
            let failure = ErrorResponse(error)
            if failure.isTransient { throw error }
            return nil
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird
internal import ImageLoading
internal import Logging
internal import NIOCore
internal import NIOPosix

/// Where a request came from.
struct RequestOrigin: InitializableFromSource {
    /// `nil` for a request that came over no network.
    var channel: (any Channel)?

    init() {}
    init(source: ApplicationRequestContextSource) { channel = source.channel }
}

/// From a request to an answer.
///
/// Not Hummingbird's router: an address here is a path of the disk, decoded once and by our own
/// rules, with a size in the place before the last.
struct ImageResponder: HTTPResponder {
    static let maximumAddressByteCount = 8_192

    let photos: PhotoDirectory
    let folders: FolderReader
    let pipeline: ImagePipeline
    let tileImages: TileImages
    let configuration: ImageServer.Configuration
    /// The names of formats that can be written, by what addresses call them.
    let formatNames: [String: String]
    let logger: Logger

    func respond(to request: Request, context: RequestOrigin) async -> Response {
        guard let channel = context.channel else { return await answer(request) }
        return await withCancellationOnHangUp(of: channel) { await answer(request) }
    }

    private func answer(_ request: Request) async -> Response {
        var response: Response
        do {
            response = try await route(request)
        } catch {
            let answer = ErrorResponse(error)
            response = answer.response
            if case ServerError.rangeNotSatisfiable(let byteCount) = error {
                response.headers[.contentRange] = "bytes */\(byteCount)"
            }
            logger.debug(
                "refused request",
                metadata: ["http.path": "\(request.uri.path)", "error": "\(error)"])
        }
        response.headers[.xContentTypeOptions] = "nosniff"
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func route(_ request: Request) async throws -> Response {
        guard request.uri.string.utf8.count <= Self.maximumAddressByteCount else {
            throw ServerError.addressTooLong
        }
        let parts = request.uri.path.utf8.dropFirst()
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map(Substring.init)
        if parts.first == "iiif" {
            return try await withCORS(request) {
                try await iiif(parts.dropFirst().map(\.utf8)[...], request)
            }
        }
        guard let path = RequestPath(request.uri.path) else { throw ServerError.notFound }

        var names = path.segments[...]
        let first = names.popFirst()
        guard
            request.method == .get || request.method == .head
                || (request.method == .post && first == "sprite")
        else { throw ServerError.methodNotAllowed }
        switch first {
        case nil: return try gallery("index.html", request)
        case "healthz" where names.isEmpty:
            return .json(["status": "ok"], headers: [.cacheControl: "no-store"])
        case "-":
            switch names.popFirst() {
            case "listing": return try await listing(Array(names), request)
            case "gallery" where names.count == 1: return try gallery(names.joined(), request)
            default: throw ServerError.notFound
            }
        case "tiles" where !names.isEmpty: return try await tiles(Array(names), request)
        case "info" where !names.isEmpty: return try await information(Array(names), request)
        case "placeholder" where !names.isEmpty:
            return try await placeholder(Array(names), request)
        case "sprite" where !names.isEmpty: return try await sprite(Array(names), request)
        default:
            guard !path.endsWithSlash else { throw ServerError.notFound }
            return try await picture(path.segments, request)
        }
    }

    /// Lets pages of other servers read the answer, as the viewers of IIIF are.
    private func withCORS(
        _ request: Request, _ answer: () async throws -> Response
    ) async throws -> Response {
        var response: Response
        switch request.method {
        case .get, .head: response = try await answer()
        case .options:
            response = Response(status: .noContent)
            response.headers[.accessControlAllowMethods] = "GET, HEAD, OPTIONS"
            response.headers[.accessControlAllowHeaders] = "Accept, If-None-Match"
            response.headers[.accessControlMaxAge] = "86400"
        default: throw ServerError.methodNotAllowed
        }
        response.headers[.accessControlAllowOrigin] = "*"
        response.headers[.accessControlExposeHeaders] = "ETag, Link"
        return response
    }

    /// An original, or its rendition if the name before the last one is a size.
    private func picture(_ names: [String], _ request: Request) async throws -> Response {
        if names.count > 1,
            let size = try SizeSegment(
                names[names.count - 2], maximumSide: configuration.maximumSide,
                formats: formatNames)
        {
            let original = Array(names.dropLast(2) + names.suffix(1))
            return try await rendition(original, size.options, request)
        }
        return try await original(names, request)
    }

    /// Does what waits for the disk on a thread that may wait.
    func disk<Result: Sendable>(
        _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await NIOThreadPool.singleton.runIfActive(work)
    }
}

extension HTTPFields {
    /// The value of a field that the library has no name for.
    subscript(named name: String) -> String? {
        get { HTTPField.Name(name).flatMap { self[$0] } }
        set {
            if let name = HTTPField.Name(name) { self[name] = newValue }
        }
    }

    func with(_ name: HTTPField.Name, _ value: String) -> HTTPFields {
        var fields = self
        fields[name] = value
        return fields
    }
}
